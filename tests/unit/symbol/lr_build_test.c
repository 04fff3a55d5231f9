/* SPDX-License-Identifier: Apache-2.0 */
/* The table of return addresses is read back as written, and agrees with a compiler's output. */
#include "symbol/index_builder.h"
#include "symbol/lr_build.h"
#include "symbol/lr_pages.h"
#include "symbol/lr_tables.h"
#include "symbol/symbol_index.h"

#include "elf_fixture.h"

#include "common/buf.h"

#include <elf.h>
#include <stddef.h>

/* An index with these two tables and nothing else. */
static struct lr_tables tables_of(struct buf *index, const struct buf *places,
                                  const struct buf *calls) {
  struct index_section sections[2] = {
      {INDEX_LR_PLACES, 1, 80, places->len},
      {INDEX_LR_CALLS, 1, (80 + places->len + 7) / 8 * 8, calls->len}};
  struct index_header header = {.section_count = 2};
  struct lr_tables tables;
  _Static_assert(sizeof header + sizeof sections == 80, "offsets");
  buf_append(index, &header, sizeof header);
  buf_append(index, sections, sizeof sections);
  buf_append(index, places->data, places->len);
  while (index->len < sections[1].offset) buf_append_byte(index, 0);
  buf_append(index, calls->data, calls->len);
  lr_tables_parse(buf_span(index), &tables);
  return tables;
}

static void places_reach_over_pages_and_calls_are_found_exactly(void **state) {
  struct lr_pages pages;
  struct buf places = {0}, calls = {0}, index = {0};
  (void)state;
  assert_int_equal(lr_pages_begin(&pages, 0x1100, 0x6000, 183), 0);
  lr_pages_add_place(&pages, 0x1100, LR_HELD_BY_ROW);
  lr_pages_add_place(&pages, 0x1180, LR_LOST);
  lr_pages_add_place(&pages, 0x4000, LR_HELD_BY_SCAN);
  lr_pages_add_place(&pages, 0x4010, LR_UNKNOWN);
  lr_pages_add_place(&pages, 0x9000, LR_LOST); /* outside */
  assert_int_equal(lr_pages_finish(&pages, &places), 0);
  lr_pages_fini(&pages);
  assert_int_equal(lr_pages_begin(&pages, 0x1100, 0x6000, 183), 0);
  lr_pages_add_call(&pages, 0x1123, 0);
  lr_pages_add_call(&pages, 0x5fff, lr_target(0x1100));
  assert_int_equal(lr_pages_finish(&pages, &calls), 0);
  lr_pages_fini(&pages);
  struct lr_tables tables = tables_of(&index, &places, &calls);
  assert_int_equal(lr_tables_machine(&tables), 183);
  assert_int_equal(lr_tables_place(&tables, 0x10ff), LR_UNKNOWN);
  assert_int_equal(lr_tables_place(&tables, 0x117f), LR_HELD_BY_ROW);
  assert_int_equal(lr_tables_place(&tables, 0x1180), LR_LOST);
  assert_int_equal(lr_tables_place(&tables, 0x2fff), LR_LOST);
  assert_int_equal(lr_tables_place(&tables, 0x3fff), LR_LOST);
  assert_int_equal(lr_tables_place(&tables, 0x4000), LR_HELD_BY_SCAN);
  assert_int_equal(lr_tables_place(&tables, 0x4010), LR_UNKNOWN);
  assert_int_equal(lr_tables_place(&tables, 0x5000), LR_UNKNOWN);
  assert_int_equal(lr_tables_place(&tables, UINT64_MAX), LR_UNKNOWN);
  assert_int_equal(lr_tables_call(&tables, 0x1123, 0x1100), LR_CALL_ANYWHERE);
  assert_int_equal(lr_tables_call(&tables, 0x1122, 0x1100), LR_CALL_NONE);
  assert_int_equal(lr_tables_call(&tables, 0x5fff, 0x1100), LR_CALL_HERE);
  assert_int_equal(lr_tables_call(&tables, 0x5fff, 0x1140), LR_CALL_ELSEWHERE);
  assert_int_equal(lr_tables_call(&tables, 0x7fff, 0x1100), LR_CALL_NONE);
  buf_fini(&places);
  buf_fini(&calls);
  buf_fini(&index);
}

static const char source[] =
    "__attribute__((noipa)) int leaf(int x) { return x * 3 + 1; }\n"
    "__attribute__((noipa)) int inner(int x) { volatile int y = leaf(x); return y + leaf(y); }\n"
    "int main(int c, char **v) { (void)v; return inner(c); }\n";

static uint64_t address_of(const char *file, const char *symbol) {
  char line[64];
  fixture_run("nm %s | awk '$3 == \"%s\" { print $1 }' > address", file, symbol);
  struct span text = fixture_read("address");
  assert_in_range(text.len, 1, sizeof line - 1);
  memcpy(line, text.data, text.len);
  line[text.len] = '\0';
  fixture_free(text);
  return strtoull(line, NULL, 16);
}

static void build_tables(struct span file, struct buf *index, struct lr_tables *ret) {
  struct buf places = {0}, calls = {0};
  assert_int_equal(lr_build(file, &places, &calls), 0);
  *ret = tables_of(index, &places, &calls);
  buf_fini(&places);
  buf_fini(&calls);
}

static void read_tables(const char *file, struct buf *index, struct lr_tables *ret) {
  struct span bytes = fixture_read(file);
  build_tables(bytes, index, ret);
  fixture_free(bytes);
}

static void code_far_apart_is_told_of_in_several_tables(void **state) {
  static const char far[] = "__attribute__((noipa)) int leaf(int x) { return x * 3 + 1; }\n"
                            "__attribute__((noipa, section(\".far\"))) int inner(int x) { return "
                            "leaf(x) + leaf(x + 1); }\n"
                            "__attribute__((noipa, section(\".farther\"))) int last(int x) { "
                            "return inner(x) + leaf(x); }\n"
                            "int main(int c, char **v) { (void)v; return last(c); }\n";
  (void)state;
  fixture_write("far.c", far, sizeof far - 1);
  fixture_run("gcc -g -O2 -no-pie -Wl,--section-start=.far=0x9000000 "
              "-Wl,--section-start=.farther=0x60000400 -o far far.c");
  struct lr_tables tables;
  struct buf index = {0};
  read_tables("far", &index, &tables);
  static const char *const functions[] = {"leaf", "inner", "last"};
  for (int i = 0; i < 3; i++)
    assert_in_range(lr_tables_place(&tables, address_of("far", functions[i])), LR_HELD_BY_ROW,
                    LR_HELD_BY_SCAN);
  for (int i = 0; i < 2; i++) {
    uint64_t callee = address_of("far", functions[i]), caller = address_of("far", functions[i + 1]);
    unsigned calls = 0;
    for (uint64_t at = caller; at < caller + 64; at++)
      calls += lr_tables_call(&tables, at, callee) == LR_CALL_HERE;
    assert_in_range(calls, 1, 2);
  }
  assert_int_equal(lr_tables_place(&tables, 0x8000000), LR_UNKNOWN);
  assert_int_equal(lr_tables_call(&tables, 0x8000000, 0), LR_CALL_NONE);
  buf_fini(&index);
}

static void a_compilers_program_is_told_with_and_without_symbols(void **state) {
  static const char *const files[] = {"whole", "stripped"};
  (void)state;
  fixture_write("source.c", source, sizeof source - 1);
  fixture_run("gcc -g -O2 -o whole source.c && strip -o stripped whole");
  uint64_t leaf = address_of("whole", "leaf"), inner = address_of("whole", "inner");
  for (int i = 0; i < 2; i++) {
    struct lr_tables tables;
    struct buf index = {0};
    unsigned here = 0;
    read_tables(files[i], &index, &tables);
    assert_int_equal(lr_tables_place(&tables, leaf), LR_HELD_BY_ROW);
    assert_int_equal(lr_tables_place(&tables, leaf + 1), LR_HELD_BY_ROW);
    assert_int_equal(lr_tables_place(&tables, inner), LR_HELD_BY_ROW);
    for (uint64_t at = inner; at < inner + 64; at++)
      here += lr_tables_call(&tables, at, leaf) == LR_CALL_HERE;
    assert_int_equal(here, 2);
    buf_fini(&index);
  }
}

/* LAYOUT: of the linker. */
static void look_at_a_debug_file(const char *layout) {
  struct lr_tables tables;
  struct buf index = {0};
  fixture_write("source.c", source, sizeof source - 1);
  fixture_run("gcc -g -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables -Wl,-z,%s -o framed "
              "source.c && objcopy --only-keep-debug framed framed.debug",
              layout);
  read_tables("framed.debug", &index, &tables);
  assert_int_equal(lr_tables_place(&tables, address_of("framed", "leaf")), LR_HELD_BY_ROW);
  assert_int_equal(lr_tables_call(&tables, address_of("framed", "inner"), 0), LR_CALL_UNKNOWN);
  buf_fini(&index);
}

static void a_debug_file_has_rows_if_any_and_no_calls(void **state) {
  (void)state;
  look_at_a_debug_file("separate-code");
  look_at_a_debug_file("noseparate-code");
}

/* Two files of one source and one layout up to END, one of each byte order (golden/scans). */
struct both_orders {
  const char *little, *big;
  uint64_t end;
  unsigned places_min, calls_min; /* listed for the file */
};

static struct span read_golden(const char *name) {
  char path[256];
  snprintf(path, sizeof path, "%s/golden/scans/%s.elf", TEST_DATA, name);
  return fixture_read(path);
}

static void hide(struct span file, const char *section) {
  uint8_t *name = memmem(file.data, file.len, section, strlen(section) + 1);
  if (name != NULL) name[1] = 'x';
}

static void hide_symbols(struct span file) {
  hide(file, ".symtab");
  hide(file, ".dynsym");
}

static void read_golden_tables(const char *name, bool is_stripped, struct buf *index,
                               struct lr_tables *ret) {
  struct span file = read_golden(name);
  if (is_stripped) hide_symbols(file);
  build_tables(file, index, ret);
  fixture_free(file);
}

static void are_told_alike(const struct both_orders *files, bool are_stripped) {
  struct lr_tables little, big;
  struct buf indexes[2] = {{0}};
  unsigned places = 0, calls = 0;
  read_golden_tables(files->little, are_stripped, &indexes[0], &little);
  read_golden_tables(files->big, are_stripped, &indexes[1], &big);
  for (uint64_t at = 0; at < files->end; at++) {
    enum lr_place place = lr_tables_place(&little, at);
    enum lr_call call = lr_tables_call(&little, at, 0);
    assert_int_equal(lr_tables_place(&big, at), place);
    assert_int_equal(lr_tables_call(&big, at, 0), call);
    places += place == LR_HELD_BY_ROW || place == LR_HELD_BY_SCAN;
    calls += call == LR_CALL_ANYWHERE || call == LR_CALL_ELSEWHERE;
  }
  assert_in_range(places, files->places_min, files->end);
  assert_in_range(calls, files->calls_min, files->end);
  buf_fini(&indexes[0]);
  buf_fini(&indexes[1]);
}

static void files_of_either_byte_order_are_told_alike(void **state) {
  static const struct both_orders files[] = {{"mipsel", "mips", 0xda8, 100, 20},
                                             {"thumb", "thumb_be8", 0x2000, 100, 20},
                                             {"arm_index", "arm_index_be8", 0x2000, 100, 20},
                                             {"aarch64", "aarch64_be", 0x2000, 100, 20}};
  (void)state;
  for (size_t i = 0; i < 2 * sizeof files / sizeof *files; i++)
    are_told_alike(&files[i / 2], i % 2 > 0);
}

/* "caller" of aarch64.elf, whose addresses are offsets: it has saved the register at SAVED, and its
   last call is before CALLED. */
enum { CALLER = 0x5d0, SAVED = 0x5e0, CALLED = 0x604 };

static void what_cannot_be_followed_is_said_to_be_so(void **state) {
  static const uint8_t jump_by_x3[] = {0x60, 0x00, 0x1f, 0xd6};
  struct span file = read_golden("aarch64");
  struct lr_tables tables;
  struct buf index = {0}, tangled = {0};
  (void)state;
  build_tables(file, &index, &tables);
  assert_int_equal(lr_tables_place(&tables, SAVED), LR_HELD_BY_SCAN);
  assert_int_equal(lr_tables_place(&tables, CALLED), LR_LOST);
  memcpy((uint8_t *)(uintptr_t)file.data + CALLED, jump_by_x3, sizeof jump_by_x3);
  build_tables(file, &tangled, &tables);
  assert_int_equal(lr_tables_place(&tables, CALLER), LR_HELD_BY_ROW);
  assert_int_equal(lr_tables_place(&tables, SAVED), LR_TANGLED);
  assert_int_equal(lr_tables_place(&tables, CALLED), LR_TANGLED);
  buf_fini(&index);
  buf_fini(&tangled);
  fixture_free(file);
}

/* MIPS code of 64 bits is known by its rows alone; here there are none, and no symbols. */
static void code_that_nobody_reads_is_told_of_by_nobody(void **state) {
  struct span file = read_golden("riscv64");
  struct buf places = {0}, calls = {0};
  uint16_t machine = EM_MIPS;
  (void)state;
  memcpy((uint8_t *)(uintptr_t)file.data + offsetof(Elf64_Ehdr, e_machine), &machine, 2);
  hide_symbols(file);
  hide(file, ".eh_frame");
  assert_int_equal(lr_build(file, &places, &calls), 0);
  assert_int_equal(calls.len, 0);
  buf_fini(&places);
  buf_fini(&calls);
  fixture_free(file);
}

static void what_is_no_program_has_no_tables(void **state) {
  struct buf places = {0}, calls = {0};
  (void)state;
  assert_int_equal(lr_build(span_of("\177ELF nonsense", 13), &places, &calls), 0);
  assert_int_equal(places.len + calls.len, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(places_reach_over_pages_and_calls_are_found_exactly),
      cmocka_unit_test(code_far_apart_is_told_of_in_several_tables),
      cmocka_unit_test(a_compilers_program_is_told_with_and_without_symbols),
      cmocka_unit_test(a_debug_file_has_rows_if_any_and_no_calls),
      cmocka_unit_test(files_of_either_byte_order_are_told_alike),
      cmocka_unit_test(code_that_nobody_reads_is_told_of_by_nobody),
      cmocka_unit_test(what_cannot_be_followed_is_said_to_be_so),
      cmocka_unit_test(what_is_no_program_has_no_tables),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
