/* SPDX-License-Identifier: Apache-2.0 */
/* A register counts as kept if every callee can be read to its end and never writes it. The code
   was assembled from the text beside it. */
#include "tables/kept_register.h"

#include "module_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { CALLER = 0x2000, HELPER = 0x2100, OTHER = 0x2200, RAX = 0, RCX = 2, RDI = 5, R9 = 9 };

#define CALL_HELPER 0xe8, 0xfb, 0, 0, 0 /* call HELPER, at CALLER */

static struct buf file;
static struct elf_image image;

static void put_at(uint64_t address, const uint8_t *code, size_t len) {
  struct span there = elf_image_at(&image, address);
  assert_true(there.len > len);
  memcpy(file.data + (there.data - file.data), code, len);
}

#define PUT(address, ...) \
  put_at(address, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static int set_up(void **state) {
  struct module module = {.machine = EM_X86_64};
  (void)state;
  file = (struct buf){0};
  module_write(&module, &file);
  return elf_image_open(buf_span(&file), &image);
}

static int tear_down(void **state) {
  (void)state;
  buf_fini(&file);
  return 0;
}

static struct kept_code of_file = {.image = &image};

static bool is_kept(uint64_t number) {
  return kept_register(&of_file, CALLER, CALLER + 16, number);
}

static void what_no_helper_writes_is_kept(void **state) {
  (void)state;
  PUT(CALLER, CALL_HELPER, 0x4c, 0x89, 0xcc, 0xc3);                     /* mov %r9, %rsp; ret */
  PUT(HELPER, 0x48, 0x6b, 0xc9, 3, 0x48, 0xff, 0xcf, 0x75, 0xf7, 0xc3); /* a loop; ret */
  assert_true(is_kept(RAX) && is_kept(R9));
  assert_false(is_kept(RCX));
  assert_false(is_kept(RDI));
}

static void what_a_helper_writes_behind_its_first_return_is_written(void **state) {
  (void)state;
  PUT(CALLER, CALL_HELPER);
  PUT(HELPER, 0x74, 1, 0xc3, 0x31, 0xc0, 0xc3); /* jz 1f; ret; 1: xor %eax, %eax; ret */
  assert_false(is_kept(RAX));
  assert_true(is_kept(R9));
}

static void a_helper_may_call_another_one(void **state) {
  (void)state;
  PUT(CALLER, CALL_HELPER);
  PUT(HELPER, 0xe8, 0xfb, 0, 0, 0, 0xc3); /* call OTHER; ret */
  PUT(OTHER, 0x31, 0xc0, 0xc3);           /* xor %eax, %eax; ret */
  assert_false(is_kept(RAX));
  assert_true(is_kept(R9));
  PUT(OTHER, 0xe8, 0xfb, 0xff, 0xff, 0xff, 0xc3); /* calls itself */
  assert_false(is_kept(R9));
}

static void what_cannot_be_read_may_write_everything(void **state) {
  (void)state;
  PUT(CALLER, CALL_HELPER);
  PUT(HELPER, 0xff, 0xe1); /* jmp *%rcx */
  assert_false(is_kept(R9));
  PUT(HELPER, 0xff, 0xd1, 0xc3); /* call *%rcx; ret */
  assert_false(is_kept(R9));
  PUT(HELPER, 0xeb, 0x80); /* jmp to code before it */
  assert_false(is_kept(R9));
  PUT(HELPER, 0xe8, 0, 0, 0, 0x70, 0xc3); /* call to an address without code */
  assert_false(is_kept(R9));
  PUT(HELPER, 0x0f, 0x0b); /* ud2 */
  assert_false(is_kept(R9));
  PUT(HELPER, 0xc3);
  assert_true(is_kept(R9));
  PUT(CALLER, 0xff, 0xd0, CALL_HELPER); /* call *%rax */
  assert_false(is_kept(R9));
}

static void strings_and_the_carry_of_products_are_written_too(void **state) {
  (void)state;
  PUT(CALLER, CALL_HELPER);
  PUT(HELPER, 0xf3, 0x48, 0xa5, 0xc3); /* rep movsq; ret */
  assert_false(is_kept(RDI));
  assert_false(is_kept(RCX));
  assert_true(is_kept(R9));
  PUT(HELPER, 0xc4, 0xe2, 0xb3, 0xf6, 0xc1, 0xc3); /* mulx %rcx, %r9, %rax; ret */
  assert_false(is_kept(R9));
  assert_false(is_kept(RAX));
}

static void without_a_call_nothing_is_said(void **state) {
  (void)state;
  PUT(CALLER, 0xc3);
  assert_false(is_kept(R9));
}

static void a_file_has_one_budget_for_all_questions(void **state) {
  (void)state;
  PUT(CALLER, CALL_HELPER, 0xc3);
  PUT(HELPER, 0xc3);
  of_file.decoded = KEPT_INSTRUCTIONS_MAX - 100;
  unsigned answers = 0;
  while (answers < 100 && is_kept(R9)) answers++;
  assert_in_range(answers, 1, 50); /* each decodes two instructions or more */
  assert_int_equal(of_file.decoded, KEPT_INSTRUCTIONS_MAX);
  of_file.decoded = 0;
  assert_true(is_kept(R9));
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(what_no_helper_writes_is_kept),
      CLAIM(what_a_helper_writes_behind_its_first_return_is_written),
      CLAIM(a_helper_may_call_another_one),
      CLAIM(what_cannot_be_read_may_write_everything),
      CLAIM(strings_and_the_carry_of_products_are_written_too),
      CLAIM(a_file_has_one_budget_for_all_questions),
      CLAIM(without_a_call_nothing_is_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
