/* SPDX-License-Identifier: Apache-2.0 */
/* The outline of files made by a real compiler and real strip programs. */
#include "elf_fixture.h"
#include "symbol/elf_outline.h"

#include <errno.h>
#include <fcntl.h>

static int outline(const char *name, struct elf_outline *ret) {
  struct span file = fixture_read(name);
  int error = elf_outline_make(elf_read_span, &file, ret);
  fixture_free(file);
  return error;
}

static void assert_id(const char *name, const struct elf_outline *outline) {
  uint8_t id[64];
  assert_int_equal(outline->build_id_len, fixture_build_id(name, id));
  assert_memory_equal(outline->build_id, id, outline->build_id_len);
}

static void a_whole_file_has_all_and_each_half_its_own(void **state) {
  (void)state;
  struct elf_outline whole, debug, stripped;
  fixture_make_library("");
  fixture_run("objcopy --only-keep-debug lib.so lib.debug && "
              "objcopy --strip-all lib.so stripped.so");
  assert_int_equal(outline("lib.so", &whole), 0);
  assert_int_equal(outline("lib.debug", &debug), 0);
  assert_int_equal(outline("stripped.so", &stripped), 0);
  assert_true(whole.has_code && whole.has_symtab && whole.has_dynsym && whole.has_dwarf);
  assert_true(!debug.has_code && debug.has_symtab && !debug.has_dynsym && debug.has_dwarf);
  assert_true(stripped.has_code && !stripped.has_symtab && stripped.has_dynsym);
  assert_false(stripped.has_dwarf || stripped.has_packed_symtab || stripped.is_kernel_module);
  assert_id("lib.so", &whole);
  assert_id("lib.so", &debug);
  assert_id("lib.so", &stripped);
}

static void a_file_without_section_headers_is_known_by_its_segments(void **state) {
  (void)state;
  struct elf_outline bare;
  fixture_make_library("");
  struct span file = fixture_read("lib.so");
  uint8_t *bytes = (uint8_t *)(uintptr_t)file.data;
  memset(bytes + 40, 0, 8); /* e_shoff */
  memset(bytes + 58, 0, 6); /* e_shentsize, e_shnum, e_shstrndx */
  assert_int_equal(elf_outline_make(elf_read_span, &file, &bare), 0);
  fixture_free(file);
  assert_true(bare.has_code);
  assert_false(bare.has_symtab);
  assert_id("lib.so", &bare);
}

/* An object file of each class and byte order, with an identity of four bytes. */
static void every_class_and_byte_order_is_read(void **state) {
  (void)state;
  static const char *const formats[] = {"elf32-little", "elf32-big", "elf64-little", "elf64-big"};
  fixture_write("text", "\1\2\3\4", 4);
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    bool is_big = strstr(formats[i], "big") != NULL;
    const uint8_t little[] = {4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 9, 8, 7, 6};
    const uint8_t big[] = {0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 3, 'G', 'N', 'U', 0, 9, 8, 7, 6};
    struct elf_outline made;
    fixture_write("note", is_big ? big : little, sizeof little);
    fixture_run("objcopy -I binary -O %s --rename-section .data=.text,alloc,code,readonly,contents"
                " --add-section .note.gnu.build-id=note"
                " --add-section .gnu.linkonce.this_module=text text module.ko",
                formats[i]);
    assert_int_equal(outline("module.ko", &made), 0);
    assert_true(made.has_code && made.is_kernel_module && made.has_symtab);
    assert_int_equal(made.build_id_len, 4);
    assert_memory_equal(made.build_id, "\11\10\7\6", 4);
  }
}

static void a_section_is_found_where_its_bytes_are(void **state) {
  (void)state;
  struct elf_section_place place;
  fixture_make_library("");
  fixture_write("words", "some words", 10);
  fixture_run("objcopy --add-section .words=words lib.so with.so && "
              "objcopy --only-keep-debug with.so with.debug");
  struct span file = fixture_read("with.so");
  assert_int_equal(elf_outline_find_section(elf_read_span, &file, ".words", &place), 0);
  assert_int_equal(place.bytes, 10);
  assert_memory_equal(file.data + place.offset, "some words", 10);
  assert_int_equal(elf_outline_find_section(elf_read_span, &file, ".word", &place), -ENOENT);
  assert_int_equal(elf_outline_find_section(elf_read_span, &file, "", &place), -ENOENT);
  fixture_free(file);
  file = fixture_read("with.debug"); /* has a header of .text, and no bytes */
  assert_int_equal(elf_outline_find_section(elf_read_span, &file, ".text", &place), -ENOENT);
  fixture_free(file);
}

static void what_is_no_elf_file_or_torn_is_refused(void **state) {
  (void)state;
  struct elf_outline made;
  fixture_make_library("");
  struct span file = fixture_read("lib.so");
  static const char script[] = "#!/bin/sh\necho this is longer than any head of an ELF file is\n";
  struct span text = span_of_string(script);
  assert_int_equal(elf_outline_make(elf_read_span, &text, &made), -EBADMSG);
  for (size_t len = 0; len < 64; len++) {
    struct span torn = span_of(file.data, len);
    assert_int_equal(elf_outline_make(elf_read_span, &torn, &made), -EBADMSG);
  }
  struct span headless = span_of(file.data, file.len - 1); /* section headers stand at the end */
  assert_int_equal(elf_outline_make(elf_read_span, &headless, &made), -EBADMSG);
  fixture_free(file);
}

static void a_count_beyond_the_limit_is_refused(void **state) {
  (void)state;
  struct elf_outline made;
  uint64_t sections_at, count = ELF_SECTIONS_READ_MAX + 1;
  fixture_make_library("");
  struct span file = fixture_read("lib.so");
  uint8_t *bytes = (uint8_t *)(uintptr_t)file.data;
  memcpy(&sections_at, bytes + 40, sizeof sections_at);
  memset(bytes + 60, 0, 2);                               /* e_shnum: see the first header */
  memcpy(bytes + sections_at + 32, &count, sizeof count); /* its sh_size */
  assert_int_equal(elf_outline_make(elf_read_span, &file, &made), -EOVERFLOW);
  fixture_free(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_whole_file_has_all_and_each_half_its_own),
      cmocka_unit_test(a_file_without_section_headers_is_known_by_its_segments),
      cmocka_unit_test(every_class_and_byte_order_is_read),
      cmocka_unit_test(a_section_is_found_where_its_bytes_are),
      cmocka_unit_test(what_is_no_elf_file_or_torn_is_refused),
      cmocka_unit_test(a_count_beyond_the_limit_is_refused),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
