/* SPDX-License-Identifier: Apache-2.0 */
/* Split DWARF gives the same result as complete DWARF at every address; and the result without its
   parts. */
#include "elf_fixture.h"

#include "common/buf.h"
#include "symbol/index_builder.h"
#include "symbol/symbol_index.h"

#include <errno.h>

enum { FILES_MAX = 4, CODE_BYTES_MAX = 4096 };

static const char source[] =
    "static inline __attribute__((always_inline)) int leaf(int x) {\n"
    "  return x * 77 + 1;\n"
    "}\n"
    "#ifndef ONE_SECTION\n"
    "__attribute__((cold))\n"
    "#endif\n"
    "__attribute__((noinline)) int FUNCTION_cold(int x) { return x * 3; }\n"
    "int FUNCTION(int x) {\n"
    "  int y = leaf(x);\n"
    "  if (x > 1000)\n"
    "    y += FUNCTION_cold(y) + leaf(y + 1) * FUNCTION_cold(x);\n"
    "  return y;\n"
    "}\n";

struct built {
  struct span files[FILES_MAX]; /* the library, then its supplements */
  struct buf bytes;
  struct symbol_index index;
  struct index_summary summary;
  char why[256];
};

/* Reads NAMES, separated by spaces: a library, and the files that its debug information refers to.
 */
static void build(const char *names, struct built *ret) {
  char text[256];
  uint32_t count = 0;
  memset(ret, 0, sizeof *ret);
  snprintf(text, sizeof text, "%s", names);
  for (char *rest = text, *name; (name = strtok_r(rest, " ", &rest)) != NULL;)
    ret->files[count++] = fixture_read(name);
  struct index_input input = {ret->files[0], INDEX_ALL, ret->files + 1, count - 1, NULL};
  assert_int_equal(
      index_builder_build_with(&input, &ret->bytes, &ret->summary, ret->why, sizeof ret->why), 0);
  assert_int_equal(symbol_index_parse(buf_span(&ret->bytes), &ret->index), 0);
  assert_int_equal(symbol_index_verify(&ret->index), 0);
}

static void built_fini(struct built *built) {
  for (unsigned i = 0; i < FILES_MAX; i++) fixture_free(built->files[i]);
  symbol_index_fini(&built->index);
  buf_fini(&built->bytes);
}

/* Prints the inline chain of ADDRESS. */
static size_t print_chain(const struct built *built, uint64_t address, char *text, size_t room) {
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  int count = symbol_index_chain(&built->index, address, frames);
  size_t len = 0;
  text[0] = '\0';
  for (int i = 0; i < count; i++)
    len +=
        (size_t)snprintf(text + len, room - len, "%s %s:%u declared %s:%u; ", frames[i].name,
                         frames[i].file, frames[i].line, frames[i].decl_file, frames[i].decl_line);
  return count > 0 ? (size_t)count : 0;
}

/* At every address NAMES gives the result of whole.so, inlined functions included. */
static void expect_the_same(const char *names) {
  struct built whole, split;
  unsigned inlined = 0, code = 0;
  build("whole.so", &whole);
  build(names, &split);
  assert_string_equal(split.why, "");
  uint64_t start = whole.index.blocks[0].address;
  for (uint64_t at = start; at < start + CODE_BYTES_MAX; at++) {
    char expected[2048], told[2048];
    size_t count = print_chain(&whole, at, expected, sizeof expected);
    print_chain(&split, at, told, sizeof told);
    if (strcmp(told, expected) != 0)
      fail_msg("%#llx: %s: %s", (unsigned long long)at, told, expected);
    inlined += count > 1;
    code += count > 0;
  }
  assert_true(inlined > 10);
  assert_true(code > inlined);
  built_fini(&whole);
  built_fini(&split);
}

static bool has_command(const char *name) {
  char command[128];
  snprintf(command, sizeof command, "command -v %s >/dev/null", name);
  return system(command) == 0;
}

/* whole.so; split.so with a.dwo and b.dwo; the code is the same. */
static void compile(const char *compiler, const char *options) {
  fixture_run(
      "rm -f ./*.so ./*.dwo ./*.dwp; for x in a b; do "
      "%s -O2 -g %s -fPIC -c $x.c -o $x.o && objcopy --remove-section .comment $x.o || exit; "
      "done && cc -shared -nostdlib -o whole.so a.o b.o && "
      "for x in a b; do %s -O2 -g %s -gsplit-dwarf -fPIC -c $x.c -o $x.o || exit; done && "
      "cc -shared -nostdlib -o split.so a.o b.o",
      compiler, options, compiler, options);
}

static void units_in_dwo_files_say_what_whole_ones_do(void **state) {
  static const char *const options[] = {"-gdwarf-5",
                                        "-gdwarf-4",
                                        "-gdwarf-5 -gz",
                                        "-gdwarf-5 -ffunction-sections",
                                        "-gdwarf-5 -DONE_SECTION",
                                        "-gdwarf-4 -DONE_SECTION"};
  (void)state;
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    compile("cc", options[i]);
    expect_the_same("split.so a.dwo b.dwo");
    expect_the_same("split.so b.dwo a.dwo");
  }
}

static void compressed_dwo_files_say_what_whole_units_do(void **state) {
  static const char *const forms[] = {"zlib", "zlib-gnu", "zstd"};
  (void)state;
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    if (strcmp(forms[i], "zstd") == 0 && system("objcopy --help | grep -q zstd") != 0) continue;
    compile("cc", "-gdwarf-5");
    fixture_run("for x in a.dwo b.dwo split.so; do objcopy --compress-debug-sections=%s $x; done",
                forms[i]);
    expect_the_same("split.so a.dwo b.dwo");
  }
}

static void clang_splits_otherwise_and_says_the_same(void **state) {
  (void)state;
  if (!has_command("clang")) skip();
  compile("clang", "-gdwarf-5");
  expect_the_same("split.so a.dwo b.dwo");
  compile("clang", "-gdwarf-4");
  expect_the_same("split.so a.dwo b.dwo");
}

static void units_in_a_dwp_file_say_what_whole_ones_do(void **state) {
  (void)state;
  if (!has_command("llvm-dwp")) skip();
  compile("cc", "-gdwarf-5");
  fixture_run("llvm-dwp a.dwo b.dwo -o split.dwp");
  expect_the_same("split.so split.dwp");
  if (!has_command("clang")) return;
  compile("clang", "-gdwarf-5");
  fixture_run("llvm-dwp a.dwo b.dwo -o split.dwp");
  expect_the_same("split.so split.dwp");
}

static void sections_beside_an_objects_own_say_the_same(void **state) {
  (void)state;
  if (!has_command("clang")) skip();
  compile("clang", "-gdwarf-5");
  fixture_run("for x in a b; do clang -O2 -g -gdwarf-5 -gsplit-dwarf=single -fPIC -c $x.c -o $x.o"
              " || exit; done && cc -shared -nostdlib -o split.so a.o b.o");
  expect_the_same("split.so a.o b.o");
}

/* GCC puts each type into a section .debug_info.dwo of its own, before that of the functions. */
static void units_of_types_are_passed_over(void **state) {
  (void)state;
  fixture_run(
      "printf 'struct pair { int a, b; };\\n#define TYPED (struct pair){1, 2}.b +\\n' >pair.h"
      " && for x in a b; do sed 's/return x \\* 3/struct pair p = {x, 3}; return p.a * p.b/'"
      " $x.c >typed_$x.c && sed -i '1i #include \"pair.h\"' typed_$x.c && cp typed_$x.c $x.c;"
      " done");
  compile("cc", "-gdwarf-5 -fdebug-types-section");
  fixture_run("[ $(readelf -SW a.dwo | grep -c '[.]debug_info.dwo') -gt 1 ]");
  expect_the_same("split.so a.dwo b.dwo");
}

static void missing_units_are_listed(void **state) {
  (void)state;
  struct span file;
  struct buf bytes = {0}, missing = {0};
  struct index_summary summary;
  char why[256];
  compile("cc", "-gdwarf-5");
  file = fixture_read("split.so");
  struct index_input input = {.file = file, .depth = INDEX_ALL, .missing = &missing};
  assert_int_equal(index_builder_build_with(&input, &bytes, &summary, why, sizeof why), 0);
  assert_int_equal(summary.missing_units, 2);
  const char *text = (const char *)missing.data;
  assert_string_equal(text, fixture_dir);
  text += strlen(text) + 1;
  assert_string_equal(text, "a.dwo");
  text += strlen(text) + 1;
  assert_string_equal(text, fixture_dir);
  text += strlen(text) + 1;
  assert_string_equal(text, "b.dwo");
  assert_int_equal(text + strlen(text) + 1 - (const char *)missing.data, missing.len);
  buf_fini(&bytes);
  buf_fini(&missing);
  fixture_free(file);
}

static void a_unit_that_is_not_here_is_told(void **state) {
  struct built built;
  char text[2048];
  (void)state;
  compile("cc", "-gdwarf-5");
  build("split.so b.dwo", &built);
  assert_non_null(strstr(built.why, "split DWARF: a.dwo is not there: functions of 1 units"));
  print_chain(&built, built.index.blocks[0].address, text, sizeof text);
  assert_true(text[0] != '\0');
  built_fini(&built);
}

static int set_up(void **state) {
  int error = fixture_set_up(state);
  if (error != 0) return error;
  fixture_write("source", source, sizeof source - 1);
  fixture_run("sed 's/FUNCTION/first/g' source >a.c && sed 's/FUNCTION/second/g' source >b.c");
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(units_in_dwo_files_say_what_whole_ones_do),
      cmocka_unit_test(compressed_dwo_files_say_what_whole_units_do),
      cmocka_unit_test(clang_splits_otherwise_and_says_the_same),
      cmocka_unit_test(units_in_a_dwp_file_say_what_whole_ones_do),
      cmocka_unit_test(sections_beside_an_objects_own_say_the_same),
      cmocka_unit_test(units_of_types_are_passed_over),
      cmocka_unit_test(missing_units_are_listed),
      cmocka_unit_test(a_unit_that_is_not_here_is_told),
  };
  return cmocka_run_group_tests(tests, set_up, fixture_tear_down);
}
