/* SPDX-License-Identifier: Apache-2.0 */
/* Loadable kernel modules: complete, stripped of code, and files that only look like modules. */
#include "common/buf.h"
#include "elf_fixture.h"
#include "symbol/elf_image.h"
#include "symbol/index_builder.h"
#include "symbol/symbol_index.h"
#include "symbol/symbol_set.h"

#include <errno.h>

static struct symbol_set set;
static struct elf_image image;
static char why[256];

static int read_module(const char *name) {
  struct span file = fixture_read(name);
  symbol_set_fini(&set);
  int error = elf_image_read(file, &set, &image, why, sizeof why);
  fixture_free(file);
  return error;
}

/* module.ko, with a build-id: two functions in .text, and one in .init.text that also begins at 0.
 */
static void make_module(const char *modinfo) {
  static const char source[] =
      "static inline __attribute__((always_inline)) int inlined(int a) { return a * 77 + 5; }\n"
      "__attribute__((noinline)) int second(int a) { return a * 3; }\n"
      "int first(int a) { return second(inlined(a)) + 1; }\n"
      "__attribute__((section(\".init.text\"))) int start_module(void) { return first(2); }\n";
  fixture_write("module.c", source, sizeof source - 1);
  fixture_write("modinfo", modinfo, strlen(modinfo));
  fixture_run("gcc -g -O1 -fno-inline -c module.c -o object.o && "
              "ld -r --build-id object.o -o plain.ko && "
              "objcopy --add-section .modinfo=modinfo plain.ko module.ko && "
              "objcopy --only-keep-debug module.ko module.debug");
}

static void only_text_is_named(void **state) {
  (void)state;
  static const char *const names[] = {"module.ko", "module.debug"};
  make_module("license=x");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    uint8_t id[64];
    assert_int_equal(read_module(names[i]), 0);
    assert_int_equal(image.function_count, 2); /* not start_module, whose address is unknown */
    assert_true(image.has_symtab);
    assert_true(image.has_dwarf);
    assert_int_equal(image.build_id_len, fixture_build_id("module.ko", id));
    assert_memory_equal(image.build_id, id, image.build_id_len);
  }
}

/* All listed functions of the module, with the lines of their code, by address. */
static void expect_lines(const char *name) {
  struct buf bytes = {0};
  struct symbol_index index;
  struct index_summary summary;
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  unsigned inlined = 0, init = 0, plain = 0;
  struct span file = fixture_read(name);
  assert_int_equal(index_builder_build(file, INDEX_ALL, &bytes, &summary, why, sizeof why), 0);
  assert_string_equal(why, "");
  assert_true(summary.is_from_dwarf);
  assert_int_equal(symbol_index_parse(buf_span(&bytes), &index), 0);
  assert_int_equal(symbol_index_verify(&index), 0);
  for (uint64_t at = 0; at < 4096; at++) {
    int count = symbol_index_chain(&index, at, frames);
    if (count <= 0) continue;
    const char *function = frames[count - 1].name;
    init += strcmp(function, "start_module") == 0;
    if (count == 1) {
      assert_int_equal(frames[0].line, strcmp(function, "second") == 0 ? 2 : 3);
      plain++;
      continue;
    }
    assert_string_equal(frames[0].name, "inlined");
    assert_int_equal(frames[0].line, 1);
    assert_string_equal(function, "first");
    assert_int_equal(frames[1].line, 3);
    inlined++;
  }
  assert_true(inlined > 0);
  assert_true(plain > 0);
  assert_int_equal(init, 0);
  symbol_index_fini(&index);
  buf_fini(&bytes);
  fixture_free(file);
}

static void inlined_functions_and_lines_are_told(void **state) {
  (void)state;
  make_module("license=x");
  expect_lines("module.ko");
  expect_lines("module.debug");
  fixture_run("objcopy --compress-debug-sections module.ko packed.ko");
  expect_lines("packed.ko");
}

static void an_object_file_is_no_module(void **state) {
  (void)state;
  make_module("license=x");
  assert_int_equal(read_module("plain.ko"), -EBADMSG);
  assert_non_null(strstr(why, "no kernel module"));
}

static int tear_down(void **state) {
  symbol_set_fini(&set);
  return fixture_tear_down(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_text_is_named),
      cmocka_unit_test(inlined_functions_and_lines_are_told),
      cmocka_unit_test(an_object_file_is_no_module),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, tear_down);
}
