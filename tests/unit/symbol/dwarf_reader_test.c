/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_fixture.h"

#include "common/buf.h"
#include "symbol/index_builder.h"
#include "symbol/symbol_index.h"

#include <errno.h>

static const char source[] = "static inline __attribute__((always_inline)) int leaf(int x) {\n"
                             "  return x * 77 + 1;\n"
                             "}\n"
                             "static inline __attribute__((always_inline)) int middle(int x) {\n"
                             "  int y = leaf(x);\n"
                             "  return y;\n"
                             "}\n"
                             "int outer(int x) {\n"
                             "  return middle(x);\n"
                             "}\n"
                             "int alone(int x) { return x + 1; }\n";

struct built {
  struct span elf;
  struct buf bytes;
  struct symbol_index index;
  struct index_summary summary;
  char why[256];
};

static void build(const char *name, enum index_depth depth, struct built *ret) {
  memset(ret, 0, sizeof *ret);
  ret->elf = fixture_read(name);
  assert_int_equal(
      index_builder_build(ret->elf, depth, &ret->bytes, &ret->summary, ret->why, sizeof ret->why),
      0);
  assert_int_equal(symbol_index_parse(buf_span(&ret->bytes), &ret->index), 0);
  assert_int_equal(symbol_index_verify(&ret->index), 0);
}

static void built_fini(struct built *built) {
  fixture_free(built->elf);
  symbol_index_fini(&built->index);
  buf_fini(&built->bytes);
}

/* The start of the symbol NAME, by the index itself. */
static uint64_t start_of(const struct built *built, const char *name, uint64_t *ret_size) {
  for (uint32_t i = 0; i < built->index.block_count; i++) {
    struct row_reader reader;
    struct symbol_match match;
    row_reader_init(&reader, built->index.rows, &built->index.blocks[i]);
    while (row_reader_next(&reader)) {
      if (symbol_index_find(&built->index, reader.address, &match) != 0) continue;
      if (strcmp(match.name, name) != 0) continue;
      *ret_size = match.size;
      return match.start;
    }
  }
  fail_msg("%s: no such symbol", name);
  return 0;
}

static void expect_frame(const struct symbol_frame *frame, const char *name, uint32_t line,
                         uint32_t decl_line) {
  assert_string_equal(frame->name, name);
  assert_non_null(frame->file);
  assert_non_null(strstr(frame->file, "f.c"));
  assert_non_null(strstr(frame->decl_file, "f.c"));
  assert_int_equal(frame->line, line);
  assert_int_equal(frame->decl_line, decl_line);
}

/* The code of leaf stands in middle, which stands in outer. */
static void expect_chain(const struct built *built) {
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  uint64_t size, start = start_of(built, "outer", &size);
  unsigned deep = 0;
  for (uint64_t at = start; at < start + size; at++) {
    int count = symbol_index_chain(&built->index, at, frames);
    assert_true(count == 1 || count == 2 || count == 3);
    assert_string_equal(frames[count - 1].name, "outer");
    assert_int_equal(frames[0].start, start);
    assert_int_equal(frames[0].size, size);
    if (count < 3) continue;
    expect_frame(&frames[0], "leaf", 2, 1);
    expect_frame(&frames[1], "middle", 5, 4);
    expect_frame(&frames[2], "outer", 9, 8);
    deep++;
  }
  assert_true(deep > 0);
}

static void inlined_functions_of_every_dwarf_are_told(void **state) {
  (void)state;
  static const char *const forms[] = {
      "-gdwarf-2 -gno-strict-dwarf", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5", "-gdwarf-5 -gz",
      "-gdwarf-5 -gdwarf64"};
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    struct built built;
    fixture_run("cc -O2 %s -nostdlib -shared -fPIC -o f.so f.c", forms[i]);
    build("f.so", INDEX_ALL, &built);
    assert_string_equal(built.why, "");
    assert_true(built.summary.is_from_dwarf);
    assert_true((built.index.flags & INDEX_FROM_DWARF) != 0);
    expect_chain(&built);
    built_fini(&built);
  }
}

static bool has_zstd(void) {
  return system("objcopy --help | grep -q zstd") == 0;
}

static void expect_chain_of(const char *path) {
  struct built built;
  build(path, INDEX_ALL, &built);
  assert_string_equal(built.why, "");
  assert_true(built.summary.is_from_dwarf);
  expect_chain(&built);
  built_fini(&built);
}

static void compressed_debug_information_is_read(void **state) {
  (void)state;
  static const char *const forms[] = {"zlib", "zlib-gnu", "zstd"};
  static const char *const versions[] = {"-gdwarf-4", "-gdwarf-5"};
  for (size_t i = 0; i < 2 * sizeof forms / sizeof forms[0]; i++) {
    const char *form = forms[i / 2];
    if (strcmp(form, "zstd") == 0 && !has_zstd()) continue;
    fixture_run("cc -O2 %s -nostdlib -shared -fPIC -o f.so f.c &&"
                " objcopy --compress-debug-sections=%s f.so",
                versions[i % 2], form);
    fixture_run("readelf -SW f.so | grep -q 'debug_info.* C \\|[.]zdebug_info'");
    expect_chain_of("f.so");
    fixture_run("objcopy --only-keep-debug f.so f.debug");
    expect_chain_of("f.debug");
  }
}

/* Units of these files are read more than once. The last unit here needs a missing abbreviation. */
static void a_malformed_unit_beside_link_time_optimization_is_counted_once(void **state) {
  (void)state;
  struct built built;
  fixture_run("cc -O2 -g -flto -nostdlib -shared -fPIC -o f.so f.c &&"
              " readelf --debug-dump=info f.so 2>/dev/null | grep -q '<artificial>' &&"
              " objcopy --dump-section .debug_info=info f.so &&"
              " printf '\\14\\0\\0\\0\\5\\0\\1\\10\\0\\0\\0\\0\\177\\0\\0\\0' >>info &&"
              " objcopy --update-section .debug_info=info f.so");
  build("f.so", INDEX_ALL, &built);
  assert_string_equal(built.why, "debug information of 1 units is malformed");
  built_fini(&built);
}

static void damaged_or_unknown_compression_is_told(void **state) {
  (void)state;
  struct built built;
  if (!has_zstd()) skip();
  fixture_run("cc -O2 -g -nostdlib -shared -fPIC -o f.so f.c &&"
              " objcopy --compress-debug-sections=zstd f.so &&"
              " at=$((0x$(readelf -SW f.so | sed -n 's/.*debug_info *PROGBITS *[0-9a-f]* *"
              "\\([0-9a-f]*\\) .*/\\1/p'))) &&"
              " cp f.so damaged && printf XXXX | dd of=damaged bs=1 seek=$((at + 40)) conv=notrunc"
              " status=none && cp f.so unknown && printf '\\007' |"
              " dd of=unknown bs=1 seek=$at conv=notrunc status=none");
  build("damaged", INDEX_ALL, &built);
  assert_non_null(strstr(built.why, ".debug_info is damaged"));
  assert_false(built.summary.is_from_dwarf);
  built_fini(&built);
  build("unknown", INDEX_ALL, &built);
  assert_non_null(strstr(built.why, ".debug_info is compressed in a way that is not known here"));
  assert_non_null(strstr(built.why, "(type 7)"));
  built_fini(&built);
}

static void symbols_alone_are_told_when_asked_for(void **state) {
  (void)state;
  struct built built;
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  fixture_run("cc -O2 -g -nostdlib -shared -fPIC -o f.so f.c");
  build("f.so", INDEX_SYMBOLS_ONLY, &built);
  uint64_t size, start = start_of(&built, "outer", &size);
  assert_false(built.summary.is_from_dwarf);
  assert_int_equal(symbol_index_chain(&built.index, start, frames), 1);
  assert_string_equal(frames[0].name, "outer");
  assert_null(frames[0].file);
  built_fini(&built);
}

static void a_function_without_symbol_has_its_name_from_debug_information(void **state) {
  (void)state;
  struct built built;
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  fixture_run("cc -O2 -g -nostdlib -shared -fPIC -o f.so f.c && strip -N alone f.so 2>/dev/null ||"
              " objcopy --strip-symbol=alone f.so");
  build("f.so", INDEX_ALL, &built);
  uint64_t size, start = start_of(&built, "alone", &size);
  assert_int_equal(symbol_index_chain(&built.index, start, frames), 1);
  expect_frame(&frames[0], "alone", 11, 11);
  built_fini(&built);
}

static void debug_information_that_is_cut_off_leaves_the_symbols(void **state) {
  (void)state;
  struct built built;
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  fixture_run("cc -O2 -g -nostdlib -shared -fPIC -o f.so f.c && head -c 40 /dev/zero >zeros &&"
              " objcopy --update-section .debug_abbrev=zeros f.so");
  build("f.so", INDEX_ALL, &built);
  assert_true(built.why[0] != '\0');
  uint64_t size, start = start_of(&built, "outer", &size);
  assert_int_equal(symbol_index_chain(&built.index, start, frames), 1);
  assert_string_equal(frames[0].name, "outer");
  built_fini(&built);
}

static void split_debug_information_gives_lines_and_says_what_is_missing(void **state) {
  (void)state;
  struct built built;
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  fixture_run("cc -O2 -g -gsplit-dwarf -nostdlib -shared -fPIC -o f.so f.c");
  build("f.so", INDEX_ALL, &built);
  assert_non_null(strstr(built.why, ".dwo"));
  uint64_t size, start = start_of(&built, "alone", &size);
  assert_int_equal(symbol_index_chain(&built.index, start, frames), 1);
  assert_string_equal(frames[0].name, "alone");
  assert_int_equal(frames[0].line, 11);
  built_fini(&built);
}

static int set_up(void **state) {
  int error = fixture_set_up(state);
  if (error == 0) fixture_write("f.c", source, sizeof source - 1);
  return error;
}

static void expect_same_chain(const struct built *built, struct symbol_cursor *cursor,
                              uint64_t address) {
  struct symbol_frame anew[SYMBOL_CHAIN_MAX] = {{0}}, frames[SYMBOL_CHAIN_MAX] = {{0}};
  int count = symbol_index_chain(&built->index, address, anew);
  assert_int_equal(symbol_cursor_chain(cursor, address, frames), count);
  for (int i = 0; i < count; i++) {
    assert_ptr_equal(frames[i].name, anew[i].name);
    assert_ptr_equal(frames[i].file, anew[i].file);
    assert_int_equal(frames[i].line, anew[i].line);
    assert_ptr_equal(frames[i].decl_file, anew[i].decl_file);
    assert_int_equal(frames[i].decl_line, anew[i].decl_line);
    assert_int_equal(frames[i].start, anew[i].start);
    assert_int_equal(frames[i].size, anew[i].size);
  }
}

/* Functions inlined into each other and beside each other, in two of which deeper than a cursor
   keeps. */
static void write_nested_source(void) {
  struct buf text = {0};
  char line[160];
  snprintf(line, sizeof line,
           "#define I static inline __attribute__((always_inline)) int\n"
           "I f0(int x) { return x * 77 + 1; }\n");
  buf_append(&text, line, strlen(line));
  for (int i = 1; i <= SYMBOL_CURSOR_KEPT + 4; i++) {
    snprintf(line, sizeof line,
             "I f%d(int x) {\n  x = x / %d + x;\n  x ^= f%d(x);\n  return x %% %d;\n}\n", i, i + 3,
             i - 1, i + 90);
    buf_append(&text, line, strlen(line));
  }
  snprintf(line, sizeof line,
           "int deep(int x) { return f%d(x) + f2(x + 1); }\n"
           "int flat(int x) {\n  x += f3(x);\n  return f%d(x) - f1(x + 2);\n}\n",
           SYMBOL_CURSOR_KEPT + 4, SYMBOL_CURSOR_KEPT - 2);
  buf_append(&text, line, strlen(line));
  fixture_write("nested.c", text.data, text.len);
  buf_fini(&text);
}

static void a_cursor_tells_what_a_lookup_tells(void **state) {
  (void)state;
  struct built built;
  struct symbol_cursor cursor;
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  int deepest = 0;
  write_nested_source();
  fixture_run("cc -O2 -g -nostdlib -shared -fPIC -o nested.so nested.c");
  build("nested.so", INDEX_ALL, &built);
  uint64_t size, start = start_of(&built, "deep", &size), end = start + 3 * size;
  symbol_cursor_init(&cursor, &built.index);
  for (uint64_t at = start - 4; at < end; at++) expect_same_chain(&built, &cursor, at);
  for (uint64_t at = end; at > start; at--) expect_same_chain(&built, &cursor, at);
  for (uint64_t i = 0; i < 20000; i++)
    expect_same_chain(&built, &cursor, start + i * 7919 % (end - start));
  for (uint64_t at = start; at < end; at++) {
    int count = symbol_index_chain(&built.index, at, frames);
    if (count > deepest) deepest = count;
  }
  assert_true(deepest > SYMBOL_CURSOR_KEPT);
  built_fini(&built);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_cursor_tells_what_a_lookup_tells),
      cmocka_unit_test(inlined_functions_of_every_dwarf_are_told),
      cmocka_unit_test(compressed_debug_information_is_read),
      cmocka_unit_test(a_malformed_unit_beside_link_time_optimization_is_counted_once),
      cmocka_unit_test(damaged_or_unknown_compression_is_told),
      cmocka_unit_test(symbols_alone_are_told_when_asked_for),
      cmocka_unit_test(a_function_without_symbol_has_its_name_from_debug_information),
      cmocka_unit_test(debug_information_that_is_cut_off_leaves_the_symbols),
      cmocka_unit_test(split_debug_information_gives_lines_and_says_what_is_missing),
  };
  return cmocka_run_group_tests(tests, set_up, fixture_tear_down);
}
