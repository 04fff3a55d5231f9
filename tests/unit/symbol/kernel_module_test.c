/* SPDX-License-Identifier: Apache-2.0 */
/* Loadable modules of the kernel, whole, stripped of code, and what only looks like one. */
#include "elf_fixture.h"
#include "symbol/elf_image.h"
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

/* module.ko, with a build-id: two functions in .text, one in .init.text that begins at 0, too. */
static void make_module(const char *modinfo) {
  static const char source[] =
      "int second(int a) { return a * 3; }\n"
      "int first(int a) { return second(a) + 1; }\n"
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
    assert_int_equal(image.function_count, 2); /* not start_module, whose place nobody knows */
    assert_true(image.has_symtab);
    assert_false(image.has_dwarf);
    assert_int_equal(image.build_id_len, fixture_build_id("module.ko", id));
    assert_memory_equal(image.build_id, id, image.build_id_len);
  }
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
      cmocka_unit_test(an_object_file_is_no_module),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, tear_down);
}
