/* SPDX-License-Identifier: Apache-2.0 */
/* Stubs of linkage tables have the names that binutils gives them. */
#include "elf_fixture.h"

#include "common/buf.h"
#include "symbol/index_builder.h"
#include "symbol/plt_stubs.h"
#include "symbol/symbol_index.h"

#include <elf.h>
#include <errno.h>

struct built {
  struct span elf;
  struct buf bytes;
  struct symbol_index index;
  struct index_summary summary;
};

static void build(const char *name, struct built *ret) {
  char why[256];
  memset(ret, 0, sizeof *ret);
  ret->elf = fixture_read(name);
  if (index_builder_build(ret->elf, INDEX_SYMBOLS_ONLY, &ret->bytes, &ret->summary, why,
                          sizeof why) != 0)
    fail_msg("%s: %s", name, why);
  assert_int_equal(symbol_index_parse(buf_span(&ret->bytes), &ret->index), 0);
  assert_int_equal(symbol_index_verify(&ret->index), 0);
}

static void built_fini(struct built *built) {
  fixture_free(built->elf);
  symbol_index_fini(&built->index);
  buf_fini(&built->bytes);
}

static const char *name_at(const struct built *built, uint64_t address) {
  struct symbol_match match;
  return symbol_index_find(&built->index, address, &match) == 0 ? match.name : "";
}

/* Checks that every "NAME@plt" in objdump's output is a symbol of the index at its address. Returns
   their number. */
static unsigned expect_objdumps_stubs(const char *name) {
  char command[FIXTURE_PATH_BYTES], line[512], stub[256];
  unsigned count = 0;
  unsigned long long address;
  struct built built;
  build(name, &built);
  snprintf(command, sizeof command, "objdump -d '%s/%s' | grep '^[0-9a-f].*@plt>:$'", fixture_dir,
           name);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  while (fgets(line, sizeof line, pipe) != NULL) {
    assert_int_equal(sscanf(line, "%llx <%255[^>]>", &address, stub), 2);
    assert_string_equal(name_at(&built, address), stub);
    assert_string_equal(name_at(&built, address + 5), stub);
    count++;
  }
  pclose(pipe);
  built_fini(&built);
  return count;
}

static void stubs_are_called_by_what_they_lead_to(void **state) {
  static const char *const options[] = {"", "-Wl,-z,now", "-fcf-protection=full -Wl,-z,ibtplt",
                                        "-Wl,-z,now -fcf-protection=full -Wl,-z,ibtplt"};
  (void)state;
#ifndef __x86_64__
  skip();
#endif
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    fixture_run("cc -O1 %s -fPIC -shared calls.c -o calls.so && strip -o stripped.so calls.so",
                options[i]);
    assert_true(expect_objdumps_stubs("calls.so") >= 5);
    assert_true(expect_objdumps_stubs("stripped.so") >= 5);
  }
}

static bool has_name(const struct built *built, const char *name) {
  struct symbol_match match;
  for (uint32_t i = 0; i < built->index.block_count; i++) {
    struct row_reader reader;
    row_reader_init(&reader, built->index.rows, &built->index.blocks[i]);
    while (row_reader_next(&reader))
      if (symbol_index_find(&built->index, reader.address, &match) == 0 &&
          strcmp(match.name, name) == 0)
        return true;
  }
  return false;
}

static void a_stub_of_an_indirect_function_has_its_name(void **state) {
  static const char source[] = "static int one(int x) { return x + 1; }\n"
                               "static int (*choose(void))(int) { return one; }\n"
                               "__attribute__((visibility(\"hidden\"))) int chosen(int) "
                               "__attribute__((ifunc(\"choose\")));\n"
                               "int use(int x) { return chosen(x) * 2; }\n";
  struct built built;
  (void)state;
#ifndef __x86_64__
  skip();
#endif
  fixture_write("indirect.c", source, sizeof source - 1);
  fixture_run("cc -O1 -fPIC -shared indirect.c -o indirect.so");
  build("indirect.so", &built);
  assert_true(has_name(&built, "chosen@plt"));
  assert_true(has_name(&built, "choose")); /* the code, which a local symbol may name as well */
  built_fini(&built);
}

static void a_mangled_name_is_made_readable(void **state) {
  static const char source[] = "namespace space { int far(int); }\n"
                               "int use(int x) { return space::far(x) + 1; }\n";
  struct built built;
  (void)state;
#ifndef __x86_64__
  skip();
#endif
  fixture_write("mangled.cc", source, sizeof source - 1);
  fixture_run("cc -O1 -fPIC -shared -nostdlib mangled.cc -o mangled.so");
  build("mangled.so", &built);
  assert_true(has_name(&built, "space::far(int)@plt"));
  built_fini(&built);
}

static void exported_functions_stand_beside_the_few_that_strip_kept(void **state) {
  struct built built;
  (void)state;
  fixture_make_library("");
  fixture_run("strip -K inner -o kept.so lib.so");
  build("kept.so", &built);
  assert_true(has_name(&built, "inner"));
  assert_true(has_name(&built, "outer"));
  assert_false(built.summary.image.has_symtab); /* more stubs exist, without known names */
  built_fini(&built);
  build("lib.so", &built);
  assert_true(built.summary.image.has_symtab);
  built_fini(&built);
}

struct expected {
  uint64_t start, size, slot;
};

static void expect_stubs(unsigned machine, uint64_t address, const uint32_t *words, size_t count,
                         const struct expected *expected, size_t expected_count) {
  struct plt_code code = {
      .bytes = span_of(words, count * 4), .address = address, .machine = machine};
  struct plt_stub stub;
  for (size_t i = 0; i < expected_count; i++) {
    assert_true(plt_stubs_next(&code, &stub));
    assert_int_equal(stub.start, expected[i].start);
    assert_int_equal(stub.size, expected[i].size);
    assert_int_equal(stub.slot, expected[i].slot);
  }
  assert_false(plt_stubs_next(&code, &stub));
}

/* Output of linkers for these machines, compared with their own objdump. */
static void stubs_of_other_machines_are_read(void **state) {
  static const uint32_t aarch64[] = {0xa9bf7bf0, 0xf00000f0, 0xf947fe11, 0x913fe210, /* the head */
                                     0xd61f0220, 0xd503201f, 0xd503201f, 0xd503201f, 0x90000110,
                                     0xf9400211, 0x91000210, 0xd61f0220, 0xd503245f, 0x90000110,
                                     0xf9400611, 0x91002210, 0xd61f0220};
  static const struct expected of_aarch64[] = {
      {0x400, 0x10, 0x1fff8}, {0x420, 0x10, 0x20000}, {0x430, 0x14, 0x20008}};
  static const uint32_t arm[] = {0xe28fc600, 0xe28cca10, 0xe5bcfe34, 0x46c04778,
                                 0xe28fc600, 0xe28cca10, 0xe5bcfe2c};
  static const struct expected of_arm[] = {{0x1000, 12, 0x11e3c}, {0x100c, 16, 0x11e44}};
  static const uint32_t riscv[] = {0x00002e17, 0xff8e3e03, 0x000e0367, 0x00000013};
  static const struct expected of_riscv[] = {{0x500, 16, 0x24f8}};
  struct expected head = of_aarch64[0];
  (void)state;
  head.start += 4; /* adrp is its second word */
  const struct expected all[] = {head, of_aarch64[1], of_aarch64[2]};
  expect_stubs(EM_AARCH64, 0x400, aarch64, sizeof aarch64 / 4, all, 3);
  expect_stubs(EM_ARM, 0x1000, arm, sizeof arm / 4, of_arm, 2);
  expect_stubs(EM_RISCV, 0x500, riscv, sizeof riscv / 4, of_riscv, 1);
  expect_stubs(EM_S390, 0x500, riscv, sizeof riscv / 4, NULL, 0);
}

static int set_up(void **state) {
  static const char source[] =
      "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
      "int other(int);\n"
      "int (*volatile pointer)(const char *) = puts;\n"
      "int calls(char *a, const char *b, unsigned n) {\n"
      "  memcpy(a, b, n);\n  free(a);\n  printf(\"%s\", a);\n"
      "  return pointer(a) + puts(b) + (int)strlen(b) + other((int)n);\n}\n";
  int error = fixture_set_up(state);
  if (error == 0) fixture_write("calls.c", source, sizeof source - 1);
  return error;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stubs_are_called_by_what_they_lead_to),
      cmocka_unit_test(a_stub_of_an_indirect_function_has_its_name),
      cmocka_unit_test(a_mangled_name_is_made_readable),
      cmocka_unit_test(exported_functions_stand_beside_the_few_that_strip_kept),
      cmocka_unit_test(stubs_of_other_machines_are_read),
  };
  return cmocka_run_group_tests(tests, set_up, fixture_tear_down);
}
