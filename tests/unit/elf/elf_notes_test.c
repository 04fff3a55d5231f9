/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/elf_notes.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A small ELF file in memory: header, three program headers, a note. */
struct image {
  Elf64_Ehdr head;
  Elf64_Phdr headers[3];
  uint8_t notes[128];
  size_t len;
};

static size_t read_image(void *context, uint64_t offset, void *bytes, size_t len) {
  const struct image *image = context;
  struct span file = span_of(image, image->len);
  return elf_read_span(&file, offset, bytes, len);
}

static size_t put_note(uint8_t *to, const char *name, uint32_t type, const char *text) {
  Elf64_Nhdr head = {(uint32_t)strlen(name) + 1, (uint32_t)strlen(text), type};
  size_t name_bytes = (head.n_namesz + 3) & ~3U;
  memcpy(to, &head, sizeof head);
  memset(to + sizeof head, 0, name_bytes);
  memcpy(to + sizeof head, name, strlen(name));
  memcpy(to + sizeof head + name_bytes, text, strlen(text));
  return sizeof head + name_bytes + ((strlen(text) + 3) & ~3UL);
}

static void make_image(struct image *image) {
  memset(image, 0, sizeof *image);
  memcpy(image->head.e_ident, ELFMAG, SELFMAG);
  image->head.e_ident[EI_CLASS] = ELFCLASS64;
  image->head.e_ident[EI_DATA] =
      __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  image->head.e_phoff = offsetof(struct image, headers);
  image->head.e_phentsize = sizeof(Elf64_Phdr);
  image->head.e_phnum = 3;
  image->headers[0] = (Elf64_Phdr){
      .p_type = PT_LOAD, .p_flags = PF_R, .p_offset = 0, .p_vaddr = 0x10000, .p_filesz = 0x800};
  image->headers[1] = (Elf64_Phdr){.p_type = PT_LOAD,
                                   .p_flags = PF_R | PF_X,
                                   .p_offset = 0x1800,
                                   .p_vaddr = 0x21800,
                                   .p_filesz = 0x1000};
  size_t len = put_note(image->notes, "Other", 3, "not the one");
  len += put_note(image->notes + len, "GNU", 1, "abi");
  len += put_note(image->notes + len, "GNU", 3, "0123456789abcdef0123");
  image->headers[2] = (Elf64_Phdr){
      .p_type = PT_NOTE, .p_offset = offsetof(struct image, notes), .p_filesz = len, .p_align = 4};
  image->len = offsetof(struct image, notes) + len;
}

static void the_build_id_is_found_among_other_notes(void **state) {
  (void)state;
  struct image image;
  struct elf_notes notes;
  make_image(&image);
  assert_int_equal(elf_notes_read(read_image, &image, &notes), 0);
  assert_int_equal(notes.build_id_bytes, 20);
  assert_memory_equal(notes.build_id, "0123456789abcdef0123", 20);
  assert_int_equal(notes.segment_count, 2);
}

static void a_file_without_notes_is_still_a_file(void **state) {
  (void)state;
  struct image image;
  struct elf_notes notes;
  make_image(&image);
  image.head.e_phnum = 2;
  assert_int_equal(elf_notes_read(read_image, &image, &notes), 0);
  assert_int_equal(notes.build_id_bytes, 0);
  assert_int_equal(notes.segment_count, 2);
}

static void a_note_that_lies_about_its_size_gives_no_id(void **state) {
  (void)state;
  struct image image;
  struct elf_notes notes;
  make_image(&image);
  Elf64_Nhdr head = {4, 0xfffffff0, 3};
  memcpy(image.notes, &head, sizeof head);
  assert_int_equal(elf_notes_read(read_image, &image, &notes), 0);
  assert_int_equal(notes.build_id_bytes, 0);
  head = (Elf64_Nhdr){0xfffffffe, 4, 3};
  memcpy(image.notes, &head, sizeof head);
  assert_int_equal(elf_notes_read(read_image, &image, &notes), 0);
  assert_int_equal(notes.build_id_bytes, 0);
}

static void an_id_longer_than_the_limit_is_not_taken(void **state) {
  (void)state;
  struct image image;
  struct elf_notes notes;
  char text[LIMIT_MODULE_ID_BYTES + 2];
  make_image(&image);
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  image.headers[2].p_filesz = put_note(image.notes, "GNU", 3, text);
  image.len = sizeof image;
  assert_int_equal(elf_notes_read(read_image, &image, &notes), 0);
  assert_int_equal(notes.build_id_bytes, 0);
}

static void what_is_no_elf_file_of_ours_is_refused(void **state) {
  (void)state;
  struct image image;
  struct elf_notes notes;
  make_image(&image);
  image.head.e_ident[0] = 'x';
  assert_int_equal(elf_notes_read(read_image, &image, &notes), -EBADMSG);
  make_image(&image);
  image.head.e_ident[EI_DATA] ^= 3;
  assert_int_equal(elf_notes_read(read_image, &image, &notes), -EBADMSG);
  make_image(&image);
  image.head.e_ident[EI_CLASS] = 9;
  assert_int_equal(elf_notes_read(read_image, &image, &notes), -EBADMSG);
  make_image(&image);
  image.head.e_phnum = 5000;
  assert_int_equal(elf_notes_read(read_image, &image, &notes), -EOVERFLOW);
  make_image(&image);
  image.head.e_phoff = UINT64_MAX - 8;
  assert_int_equal(elf_notes_read(read_image, &image, &notes), -EBADMSG);
  make_image(&image);
  image.len = 40;
  assert_int_equal(elf_notes_read(read_image, &image, &notes), -EBADMSG);
}

static void a_segment_fits_a_mapping_by_its_pages(void **state) {
  (void)state;
  const struct elf_segment text = {0x1800, 0x1000, 0x21800, true};
  const struct elf_segment data = {0x1800, 0x1000, 0x21800, false};
  const struct elf_segment wraps = {UINT64_MAX - 8, 16, 0, true};
  uint64_t bytes;
  struct elf_mapping whole = {0x1000, 0x2000}, longer = {0x1000, 0x4000}, part = {0x2000, 0x1000};
  struct elf_mapping before = {0, 0x1000}, behind = {0x3000, 0x1000};
  assert_int_equal(elf_segment_fit(&text, &whole, 4096, &bytes), ELF_FIT_WHOLE);
  assert_int_equal(bytes, 0x1000);
  assert_int_equal(elf_segment_fit(&text, &longer, 4096, &bytes), ELF_FIT_START);
  assert_int_equal(elf_segment_fit(&text, &part, 4096, &bytes), ELF_FIT_PART);
  assert_int_equal(bytes, 0x800);
  assert_int_equal(elf_segment_fit(&text, &before, 4096, &bytes), ELF_FIT_NONE);
  assert_int_equal(elf_segment_fit(&text, &behind, 4096, &bytes), ELF_FIT_NONE);
  assert_int_equal(elf_segment_fit(&text, &before, 65536, &bytes), ELF_FIT_START);
  assert_int_equal(elf_segment_fit(&data, &whole, 4096, &bytes), ELF_FIT_DATA);
  assert_int_equal(elf_segment_fit(&wraps, &whole, 4096, &bytes), ELF_FIT_NONE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_build_id_is_found_among_other_notes),
      cmocka_unit_test(a_file_without_notes_is_still_a_file),
      cmocka_unit_test(a_note_that_lies_about_its_size_gives_no_id),
      cmocka_unit_test(an_id_longer_than_the_limit_is_not_taken),
      cmocka_unit_test(what_is_no_elf_file_of_ours_is_refused),
      cmocka_unit_test(a_segment_fits_a_mapping_by_its_pages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
