/* SPDX-License-Identifier: Apache-2.0 */
#include "tables/signal_return.h"

#include "unwind/unwind_table.h"

#include <stdarg.h>
#include <stddef.h>

#include <setjmp.h>

#include <cmocka.h>
#include <elf.h>

enum { CODE_AT = 16, CODE_BYTES = 64, START = 0x1000 };

/* A file without sections, whose single segment is CODE. */
struct narrow_file {
  Elf32_Ehdr head;
  Elf32_Phdr load;
  uint8_t code[CODE_BYTES];
};

struct wide_file {
  Elf64_Ehdr head;
  Elf64_Phdr load;
  uint8_t code[CODE_BYTES];
};

static void name_it(unsigned char *ident, unsigned char class) {
  memcpy(ident, ELFMAG, SELFMAG);
  ident[EI_CLASS] = class;
  ident[EI_DATA] = ELFDATA2LSB;
}

static struct span narrow(struct narrow_file *file, uint16_t machine, struct span code) {
  *file = (struct narrow_file){.head = {.e_type = ET_DYN,
                                        .e_machine = machine,
                                        .e_phoff = offsetof(struct narrow_file, load),
                                        .e_phentsize = sizeof(Elf32_Phdr),
                                        .e_phnum = 1},
                               .load = {.p_type = PT_LOAD,
                                        .p_flags = PF_X,
                                        .p_vaddr = START,
                                        .p_offset = offsetof(struct narrow_file, code),
                                        .p_filesz = CODE_BYTES}};
  name_it(file->head.e_ident, ELFCLASS32);
  memcpy(file->code + CODE_AT, code.data, code.len);
  return span_of(file, sizeof *file);
}

static struct span wide(struct wide_file *file, uint16_t machine, struct span code) {
  *file = (struct wide_file){.head = {.e_type = ET_DYN,
                                      .e_machine = machine,
                                      .e_phoff = offsetof(struct wide_file, load),
                                      .e_phentsize = sizeof(Elf64_Phdr),
                                      .e_phnum = 1},
                             .load = {.p_type = PT_LOAD,
                                      .p_flags = PF_X,
                                      .p_vaddr = START,
                                      .p_offset = offsetof(struct wide_file, code),
                                      .p_filesz = CODE_BYTES}};
  name_it(file->head.e_ident, ELFCLASS64);
  memcpy(file->code + CODE_AT, code.data, code.len);
  return span_of(file, sizeof *file);
}

/* Checks the rule for the byte before the code, and for its last byte. */
static void assert_found(struct span file, size_t len, int32_t offset) {
  struct elf_image image;
  struct table_rows *rows = NULL;
  struct buf bytes = {0};
  assert_int_equal(elf_image_open(file, &image), 0);
  assert_int_equal(table_rows_new(&(struct code_ranges){1, {{START, START + CODE_BYTES}}}, &rows),
                   0);
  assert_int_equal(signal_return_read(&image, rows), 0);
  assert_int_equal(table_rows_encode(rows, image.machine, &bytes), 0);
  const struct unwind_table *table = (const void *)bytes.data;
  const struct unwind_rule *first = unwind_table_find(table, START + CODE_AT - 1);
  assert_non_null(first);
  assert_int_equal(first->cfa, UNWIND_CFA_SIGNAL);
  assert_int_equal(first->offset, offset);
  assert_ptr_equal(unwind_table_find(table, START + CODE_AT + len - 1), first);
  const struct unwind_rule *before = unwind_table_find(table, START + CODE_AT - 2);
  assert_true(before == NULL || before->cfa == UNWIND_CFA_NONE);
  buf_fini(&bytes);
  table_rows_free(rows);
}

#define CHECK_NARROW(machine, offset, ...)                                                 \
  do {                                                                                     \
    const uint8_t code[] = {__VA_ARGS__};                                                  \
    struct narrow_file file;                                                               \
    assert_found(narrow(&file, machine, span_of(code, sizeof code)), sizeof code, offset); \
  } while (0)

#define CHECK_WIDE(machine, ...)                                                    \
  do {                                                                              \
    const uint8_t code[] = {__VA_ARGS__};                                           \
    struct wide_file file;                                                          \
    assert_found(wide(&file, machine, span_of(code, sizeof code)), sizeof code, 0); \
  } while (0)

static void a_handlers_return_is_known_by_its_two_instructions(void **state) {
  (void)state;
  CHECK_NARROW(EM_ARM, 0, 0x4f, 0xf0, 0xad, 0x07, 0, 0xdf);
  CHECK_NARROW(EM_ARM, 0, 0xad, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef);
  CHECK_NARROW(EM_MIPS, 0, 0x61, 0x10, 0x02, 0x24, 0x0c, 0, 0, 0);
  CHECK_WIDE(EM_RISCV, 0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0);
  CHECK_WIDE(EM_AARCH64, 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4);
  CHECK_WIDE(EM_X86_64, 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05);
}

static void arms_frame_without_a_siginfo_begins_with_the_registers(void **state) {
  (void)state;
  CHECK_NARROW(EM_ARM, -128, 0x4f, 0xf0, 0x77, 0x07, 0, 0xdf);
  CHECK_NARROW(EM_ARM, -128, 0x77, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef);
}

static void another_cpus_instructions_say_nothing(void **state) {
  const uint8_t code[] = {0x4f, 0xf0, 0xad, 0x07, 0, 0xdf};
  struct narrow_file file;
  struct elf_image image;
  struct table_rows *rows = NULL;
  struct buf bytes = {0};
  (void)state;
  assert_int_equal(elf_image_open(narrow(&file, EM_MIPS, span_of(code, sizeof code)), &image), 0);
  assert_int_equal(table_rows_new(&(struct code_ranges){1, {{START, START + CODE_BYTES}}}, &rows),
                   0);
  assert_int_equal(signal_return_read(&image, rows), 0);
  assert_true(table_rows_encode(rows, EM_MIPS, &bytes) < 0);
  buf_fini(&bytes);
  table_rows_free(rows);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_handlers_return_is_known_by_its_two_instructions),
      cmocka_unit_test(arms_frame_without_a_siginfo_begins_with_the_registers),
      cmocka_unit_test(another_cpus_instructions_say_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
