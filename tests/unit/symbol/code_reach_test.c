/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols without a size: the part of the code up to the next symbol that belongs to them. */
#include "elf_fixture.h"

#include "common/buf.h"
#include "symbol/index_builder.h"
#include "symbol/symbol_index.h"

#ifdef __x86_64__
static const char source[] =
    ".text\n"
    ".macro spin\n mov $9,%ecx\n1: dec %ecx\n jnz 1b\n.endm\n"
    ".macro place name\n .globl at_\\name\n.data\nat_\\name: .quad 9f\n .size at_\\name, 8\n"
    " .type at_\\name, @object\n.text\n9:\n.endm\n"
    /* All of it is reached: branches back and forth, a part behind a return, a called part. */
    ".globl whole\n.type whole,@function\n.p2align 4\nwhole:\n spin\n call 3f\n test %eax,%eax\n"
    " je 2f\n ret\n.p2align 4\n2: place behind_return\n spin\n ret\n.p2align 4\n3: place called\n"
    " spin\n ret\n"
    /* A table of jumps may lead anywhere. */
    ".globl by_table\n.type by_table,@function\n.p2align 4\nby_table:\n lea 4f(%rip),%rax\n"
    " jmp *%rax\n.p2align 4\n4: place by_register\n spin\n ret\n"
    /* Two functions of others behind it. */
    ".globl tiny\n.type tiny,@function\n.p2align 4\ntiny:\n mov $1,%eax\n ret\n"
    ".p2align 4\nplace other\n spin\n ret\n.p2align 5\nplace third\n spin\n ret\n"
    /* A marked place that is no function. */
    ".globl mark\nmark:\n.p2align 6\nplace behind_mark\n spin\n ret\n"
    ".globl last\n.type last,@function\n.p2align 4\nlast:\n ret\n.size last, 1\n"
    /* A second entry ends with the function around it, whose end only the table has. */
    ".p2align 4\n.cfi_startproc\n nop\n.globl entry\nentry:\n spin\n ret\n.cfi_endproc\n"
    ".p2align 4\nplace behind_entry\n spin\n ret\n"
    ".section .note.GNU-stack,\"\",@progbits\n";

static struct symbol_index index_of_file;
static struct buf bytes;

static void build(const char *path) {
  struct span file = fixture_read(path);
  struct index_summary summary;
  char why[256];
  symbol_index_fini(&index_of_file);
  buf_fini(&bytes);
  bytes = (struct buf){0};
  assert_int_equal(index_builder_build(file, INDEX_ALL, &bytes, &summary, why, sizeof why), 0);
  assert_int_equal(symbol_index_parse(buf_span(&bytes), &index_of_file), 0);
  assert_int_equal(symbol_index_verify(&index_of_file), 0);
  fixture_free(file);
}

/* The address that the word at_NAME of the file holds. */
static uint64_t place(const char *name) {
  char command[512], line[256] = "";
  snprintf(command, sizeof command,
           "cd '%s' && readelf -rW a.so | grep -w \"$(nm a.so | sed -n 's/ [dD] at_%s$//p')\"",
           fixture_dir, name);
  FILE *pipe = popen(command, "r");
  unsigned long long address = 0;
  assert_non_null(pipe);
  if (fgets(line, sizeof line, pipe) != NULL) {
    const char *word = strrchr(line, ' ');
    if (word != NULL) address = strtoull(word, NULL, 16);
  }
  pclose(pipe);
  if (address == 0) fail_msg("no at_%s: %s", name, line);
  return address;
}

static const char *name_at(uint64_t address) {
  struct symbol_match match;
  return symbol_index_find(&index_of_file, address, &match) == 0 ? match.name : "nothing";
}

static void expect_nameless(uint64_t address) {
  struct symbol_match match;
  assert_int_equal(symbol_index_find(&index_of_file, address, &match), 0);
  assert_string_equal(match.name, "");
  assert_int_equal(match.start, address);
}

static void code_that_is_reached_is_the_functions(void **state) {
  (void)state;
  build("stripped.so");
  assert_string_equal(name_at(place("behind_return")), "whole");
  assert_string_equal(name_at(place("called")), "whole");
  assert_string_equal(name_at(place("called") + 5), "whole");
}

static void a_jump_that_may_lead_anywhere_leaves_all_to_the_function(void **state) {
  (void)state;
  build("stripped.so");
  assert_string_equal(name_at(place("by_register")), "by_table");
}

static void code_of_others_has_bounds_of_its_own(void **state) {
  static const char *const files[] = {"stripped.so", "globals.so"};
  (void)state;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    build(files[i]);
    expect_nameless(place("other"));
    expect_nameless(place("third"));
    assert_string_equal(name_at(place("other") - 16), "tiny");
  }
}

static void a_marked_place_is_no_function(void **state) {
  (void)state;
  build("stripped.so");
  expect_nameless(place("behind_mark"));
}

static void a_second_entry_ends_with_the_function_around_it(void **state) {
  (void)state;
  build("stripped.so");
  assert_string_equal(name_at(place("behind_entry") - 12), "entry");
  assert_string_not_equal(name_at(place("behind_entry")), "entry");
}

static int set_up(void **state) {
  int error = fixture_set_up(state);
  if (error != 0) return error;
  fixture_write("a.s", source, sizeof source - 1);
  fixture_run("cc -shared -nostdlib -o a.so a.s && strip -o stripped.so a.so &&"
              " strip -x -o globals.so a.so");
  return 0;
}

static int tear_down(void **state) {
  symbol_index_fini(&index_of_file);
  buf_fini(&bytes);
  return fixture_tear_down(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(code_that_is_reached_is_the_functions),
      cmocka_unit_test(a_jump_that_may_lead_anywhere_leaves_all_to_the_function),
      cmocka_unit_test(code_of_others_has_bounds_of_its_own),
      cmocka_unit_test(a_marked_place_is_no_function),
      cmocka_unit_test(a_second_entry_ends_with_the_function_around_it),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
#else
int main(void) {
  return 0;
}
#endif
