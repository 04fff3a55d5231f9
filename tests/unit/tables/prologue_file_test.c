/* SPDX-License-Identifier: Apache-2.0 */
#include "scan_fixture.h"

#include "machines.h"
#include "module_fixture.h"

#include "tables/elf_image.h"
#include "tables/table_make.h"
#include "unwind/unwind_table.h"

#include <stdarg.h>
#include <stddef.h>

#include <setjmp.h>

#include <cmocka.h>
#include <elf.h>
#include <stdlib.h>

struct golden {
  const char *name;
  bool has_index;
  size_t others;        /* instructions with other results: tests/golden/scans/README.md */
  bool has_no_restores; /* the compiler does not record restored registers */
};

static const struct golden goldens[] = {
    {"arm", false, 1, false},          {"arm_index", true, 1, false},
    {"thumb", false, 1, false},        {"thumb_frames", false, 1, false},
    {"thumb_index", true, 1, false},   {"mipsel", false, 0, false},
    {"riscv64", false, 0, false},      {"aarch64", false, 0, false},
    {"x86_64", false, 22, true},       {"thumb_be8", false, 1, false},
    {"arm_index_be8", true, 1, false}, {"mips", false, 0, false},
    {"aarch64_be", false, 0, false},
};

enum { GOLDENS = sizeof goldens / sizeof goldens[0], INSTRUCTIONS = 350 };

static struct span read_golden(const char *name) {
  char path[256];
  snprintf(path, sizeof path, "%s/golden/scans/%s.elf", TEST_DATA, name);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  uint8_t *bytes = malloc(1 << 16);
  assert_non_null(bytes);
  size_t len = fread(bytes, 1, 1 << 16, file);
  fclose(file);
  return span_of(bytes, len);
}

/* The sections called NAME in FILE, a copy, are called otherwise from now on. */
static void hide(struct span file, const char *name) {
  size_t len = strlen(name) + 1;
  for (size_t at = 0; at + len <= file.len; at++)
    if (memcmp(file.data + at, name, len) == 0) ((uint8_t *)(uintptr_t)file.data)[at + 1] = 'x';
}

static void hide_symbols(struct span file) {
  hide(file, ".symtab");
  hide(file, ".dynsym");
}

static struct scan_counts judge(const struct golden *golden, struct span truth, struct span file) {
  struct scan_question question = {.truth = truth, .file = file, .has_index = golden->has_index};
  struct scan_counts counts;
  assert_int_equal(scan_judge_file(&question, &counts), 0);
  assert_true(counts.instructions >= INSTRUCTIONS);
  assert_null(counts.refused);
  return counts;
}

static void every_instruction_is_told_as_the_compiler_tells(void **state) {
  (void)state;
  for (size_t i = 0; i < GOLDENS; i++) {
    struct span file = read_golden(goldens[i].name);
    struct scan_counts counts = judge(&goldens[i], file, file);
    assert_int_equal(counts.instructions - counts.right, goldens[i].others);
    if (!goldens[i].has_no_restores) assert_int_equal(counts.all_right, counts.right);
    assert_int_equal(counts.untold, 0);
    free((void *)(uintptr_t)file.data);
  }
}

static void without_symbols_functions_are_found_by_their_looks(void **state) {
  (void)state;
  for (size_t i = 0; i < GOLDENS; i++) {
    struct span truth = read_golden(goldens[i].name), file = read_golden(goldens[i].name);
    hide_symbols(file);
    struct scan_counts counts = judge(&goldens[i], truth, file);
    assert_true(counts.right * 100 >= counts.instructions * 95);
    free((void *)(uintptr_t)truth.data);
    free((void *)(uintptr_t)file.data);
  }
}

static void a_file_without_sections_is_read_by_its_segments(void **state) {
  (void)state;
  struct span truth = read_golden("riscv64"), file = read_golden("riscv64");
  memset((uint8_t *)(uintptr_t)file.data + offsetof(Elf64_Ehdr, e_shnum), 0, 2);
  struct scan_counts counts = judge(&goldens[6], truth, file);
  assert_true(counts.right * 100 >= counts.instructions * 97);
  free((void *)(uintptr_t)truth.data);
  free((void *)(uintptr_t)file.data);
}

static void an_index_is_for_functions_that_were_compiled_for_exceptions(void **state) {
  (void)state;
  struct span with = read_golden("thumb_index"), without = read_golden("thumb");
  assert_int_equal(judge(&goldens[4], with, with).index_functions, 15);
  assert_int_equal(judge(&goldens[4], without, without).index_functions, 0);
  free((void *)(uintptr_t)with.data);
  free((void *)(uintptr_t)without.data);
}

static uint32_t sources_of(struct span file, const struct unwind_arch *arch) {
  struct table_input input = {.file = file, .arch = arch};
  struct table_report report;
  struct buf table = {0};
  struct unwind_table head;
  assert_int_equal(table_make(&input, &table, &report), 0);
  memcpy(&head, table.data, sizeof head);
  buf_fini(&table);
  return head.sources;
}

static void a_table_is_made_of_the_best_source_there_is(void **state) {
  (void)state;
  struct span file = read_golden("thumb_index");
  const struct unwind_arch *arm = machine_of(EM_ARM);
  assert_true(sources_of(file, arm) & UNWIND_DEBUG_FRAME);
  hide(file, ".debug_frame");
  assert_false(sources_of(file, arm) & UNWIND_DEBUG_FRAME);
  assert_true(sources_of(file, arm) & UNWIND_ARM_EXIDX);
  free((void *)(uintptr_t)file.data);
  file = read_golden("thumb");
  hide(file, ".debug_frame");
  assert_int_equal(sources_of(file, arm), UNWIND_PROLOGUES);
  free((void *)(uintptr_t)file.data);
}

static void put_halves(struct buf *file, uint32_t at, const uint16_t *halves, size_t count) {
  memcpy(file->data + at, halves, count * sizeof *halves);
}

static void put_words(struct buf *file, uint32_t at, const uint32_t *words, size_t count) {
  memcpy(file->data + at, words, count * sizeof *words);
}

/* Thumb, ARM, Thumb and ARM code without a symbol; of the functions only those named "called" are.
 */
static void write_mixed(struct buf *ret) {
  static const uint16_t calls[] = {0xb510, 0xf000, 0xf80d, 0xf000, 0xe81c, 0xbd10};
  static const uint16_t called_in_thumb[] = {0xb530, 0x4604, 0x460d, 0xbd30};
  static const uint32_t called_in_arm[] = {
      0xe92d4010, 0xeb00002d, 0xe1a04000, 0xe1a05001, 0xe1a04000, 0xe1a05001, 0xe1a04000,
      0xe1a05001, 0xe1a04000, 0xe1a05001, 0xe1a04000, 0xe1a05001, 0xe8bd8010};
  static const uint32_t in_arm[] = {0xe92d41f0, 0xe1a04000, 0xe1a05001, 0xe1a00004, 0xe8bd81f0};
  static const uint16_t in_thumb[] = {0xb5f0, 0x4604, 0x460d, 0x4620, 0x4629, 0xbdf0};
  static const uint32_t called_by_arm[] = {0xe92d4070, 0xe1a04000, 0xe8bd8070};
  const struct module module = {.machine = EM_ARM,
                                .is_narrow = true,
                                .entry = 0x3001,
                                .has_no_header = true,
                                .has_no_sections = true};
  module_write(&module, ret);
  put_halves(ret, 0x1000, calls, 6);
  put_halves(ret, 0x1020, called_in_thumb, 4);
  put_words(ret, 0x1040, called_in_arm, 13);
  put_words(ret, 0x1074, in_arm, 5);
  put_halves(ret, 0x1088, in_thumb, 6);
  put_words(ret, 0x1100, called_by_arm, 3);
}

static void thumb_and_arm_code_may_be_in_one_file_without_symbols(void **state) {
  (void)state;
  static const struct {
    uint64_t address;
    int16_t frame_bytes;
  } bodies[] = {{0x1002, 8}, {0x1022, 12}, {0x1044, 8}, {0x1078, 24}, {0x108a, 20}, {0x1104, 16}};
  struct buf file = {0}, table = {0};
  struct table_report report;
  write_mixed(&file);
  struct table_input input = {.file = buf_span(&file), .arch = machine_of(EM_ARM)};
  assert_int_equal(table_make(&input, &table, &report), 0);
  for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
    const struct unwind_rule *rule = unwind_table_find((const void *)table.data, bodies[i].address);
    assert_non_null(rule);
    assert_int_equal(rule->cfa, UNWIND_CFA_SP);
    assert_int_equal(rule->offset, bodies[i].frame_bytes);
    assert_int_equal(rule->return_address, -4);
  }
  buf_fini(&table);
  buf_fini(&file);
}

static void nothing_is_on_the_stack_in_a_linkage_table(void **state) {
  (void)state;
  static const char *const names[] = {"arm", "thumb", "aarch64"};
  static const uint64_t firsts[] = {20, 20, 32};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    struct span file = read_golden(names[i]);
    struct elf_image image;
    struct buf table = {0};
    struct table_report report;
    struct elf_part linkage;
    assert_int_equal(elf_image_open(file, &image), 0);
    assert_true(elf_image_section(&image, ".plt", &linkage));
    struct table_input input = {.file = file, .arch = machine_of(image.machine)};
    assert_int_equal(table_make(&input, &table, &report), 0);
    const struct unwind_rule *first =
        unwind_table_find((const void *)table.data, linkage.address + 8);
    const struct unwind_rule *other =
        unwind_table_find((const void *)table.data, linkage.address + firsts[i]);
    assert_true(first->cfa == UNWIND_CFA_SP && first->offset > 0);
    assert_true(other->cfa == UNWIND_CFA_SP && other->offset == 0);
    assert_int_equal(other->return_address, UNWIND_SAME);
    buf_fini(&table);
    free((void *)(uintptr_t)file.data);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_instruction_is_told_as_the_compiler_tells),
      cmocka_unit_test(without_symbols_functions_are_found_by_their_looks),
      cmocka_unit_test(a_file_without_sections_is_read_by_its_segments),
      cmocka_unit_test(an_index_is_for_functions_that_were_compiled_for_exceptions),
      cmocka_unit_test(a_table_is_made_of_the_best_source_there_is),
      cmocka_unit_test(nothing_is_on_the_stack_in_a_linkage_table),
      cmocka_unit_test(thumb_and_arm_code_may_be_in_one_file_without_symbols),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
