/* SPDX-License-Identifier: Apache-2.0 */
/* All readers find the same build-id, at any position and alignment of its note; wrong headers lead
   nowhere. */
#include "common/elf_file.h"

#include "common/buf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ID_BYTES = 20, NATIVE = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 1 : 2 };

static const uint8_t id[ID_BYTES] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                     11, 12, 13, 14, 15, 16, 17, 18, 19, 20};

static void put(struct buf *to, uint64_t number, unsigned bytes, bool is_big_endian) {
  for (unsigned i = 0; i < bytes; i++)
    buf_append_byte(to, (uint8_t)(number >> 8 * (is_big_endian ? bytes - 1 - i : i)));
}

static void pad(struct buf *to, size_t start, unsigned align) {
  while ((to->len - start) % align != 0) buf_append_byte(to, 0xee);
}

/* A note of TYPE with LEN bytes; parts are aligned to ALIGN from START on. */
static void put_note(struct buf *to, size_t start, const char *name, uint32_t type, size_t len,
                     unsigned align, bool is_big_endian) {
  put(to, strlen(name) + 1, 4, is_big_endian);
  put(to, len, 4, is_big_endian);
  put(to, type, 4, is_big_endian);
  buf_append(to, name, strlen(name) + 1);
  pad(to, start, align);
  buf_append(to, id, len);
  pad(to, start, align);
}

static void assert_id(struct span found) {
  assert_int_equal(found.len, ID_BYTES);
  assert_memory_equal(found.data, id, ID_BYTES);
}

static void notes_are_aligned_to_4_or_8(void **state) {
  (void)state;
  for (int is_big_endian = 0; is_big_endian < 2; is_big_endian++)
    for (unsigned align = 4; align <= 8; align += 4) {
      struct buf notes = {0};
      put_note(&notes, 0, "Other", NT_GNU_BUILD_ID, 7, align, is_big_endian);
      put_note(&notes, 0, "GNU", 5, 12, align, is_big_endian);
      put_note(&notes, 0, "GNU", NT_GNU_BUILD_ID, ID_BYTES, align, is_big_endian);
      assert_id(elf_notes_build_id(buf_span(&notes), align, is_big_endian));
      assert_int_equal(elf_notes_build_id(buf_span(&notes), align, !is_big_endian).len, 0);
      for (size_t len = 0; len + align + ID_BYTES < notes.len; len++)
        assert_int_equal(elf_notes_build_id(span_of(notes.data, len), align, is_big_endian).len, 0);
      buf_fini(&notes);
    }
}

static void a_segment_that_promises_8_may_have_notes_aligned_to_4(void **state) {
  (void)state;
  struct buf notes = {0};
  put_note(&notes, 0, "GNU", 1, 12, 4, false);
  put_note(&notes, 0, "GNU", NT_GNU_BUILD_ID, ID_BYTES, 4, false);
  assert_id(elf_notes_build_id(buf_span(&notes), 8, false));
  buf_fini(&notes);
}

static void sizes_that_lie_give_no_id(void **state) {
  (void)state;
  static const uint32_t lies[] = {0, 3, 5, 0x7fffffff, 0xfffffff0, 0xffffffff};
  for (unsigned i = 0; i < sizeof lies / sizeof *lies; i++)
    for (unsigned at = 0; at < 8; at += 4)
      for (unsigned align = 4; align <= 8; align += 4) {
        struct buf notes = {0};
        put_note(&notes, 0, "GNU", NT_GNU_BUILD_ID, ID_BYTES, align, NATIVE == 2);
        memcpy(notes.data + at, &lies[i], sizeof lies[i]);
        struct span found = elf_notes_build_id(buf_span(&notes), align, NATIVE == 2);
        assert_true(found.len == 0 || lies[i] == found.len);
        buf_fini(&notes);
      }
}

/* ---- files ---- */

enum { NOTE_AT = 512, SECTIONS_AT = 1024, FILE_BYTES = 2048 };

struct made {
  Elf64_Ehdr head;
  Elf64_Phdr segment;
  uint8_t rest[FILE_BYTES - sizeof(Elf64_Ehdr) - sizeof(Elf64_Phdr)];
};

static void make(struct made *made) {
  struct buf note = {0};
  memset(made, 0, sizeof *made);
  memcpy(made->head.e_ident, ELFMAG, SELFMAG);
  made->head.e_ident[EI_CLASS] = ELFCLASS64;
  made->head.e_ident[EI_DATA] = NATIVE;
  made->head.e_phoff = sizeof made->head;
  made->head.e_phentsize = sizeof(Elf64_Phdr);
  made->head.e_phnum = 1;
  made->head.e_shoff = SECTIONS_AT;
  made->head.e_shentsize = sizeof(Elf64_Shdr);
  made->head.e_shnum = 3;
  put_note(&note, 0, "GNU", NT_GNU_BUILD_ID, ID_BYTES, 8, NATIVE == 2);
  memcpy((uint8_t *)made + NOTE_AT, note.data, note.len);
  made->segment =
      (Elf64_Phdr){.p_type = PT_NOTE, .p_offset = NOTE_AT, .p_filesz = note.len, .p_align = 8};
  Elf64_Shdr section = {
      .sh_type = SHT_NOTE, .sh_offset = NOTE_AT, .sh_size = note.len, .sh_addralign = 8};
  memcpy((uint8_t *)made + SECTIONS_AT + 2 * sizeof section, &section, sizeof section);
  buf_fini(&note);
}

static uint32_t build_id_of(const struct made *made, uint8_t ret[ID_BYTES]) {
  struct span bytes = span_of(made, sizeof *made);
  struct elf_file file;
  assert_int_equal(elf_file_open(elf_read_span, &bytes, &file), 0);
  return elf_file_build_id(&file, ret, ID_BYTES);
}

static void a_note_is_found_by_its_segment_or_its_section(void **state) {
  (void)state;
  struct made made;
  uint8_t found[ID_BYTES];
  make(&made);
  assert_int_equal(build_id_of(&made, found), ID_BYTES);
  made.head.e_shoff = 0; /* stripped of sections */
  assert_int_equal(build_id_of(&made, found), ID_BYTES);
  make(&made);
  made.segment.p_type = PT_NULL; /* as by a linker script without that segment */
  assert_int_equal(build_id_of(&made, found), ID_BYTES);
  make(&made);
  made.segment.p_offset = 0; /* as strippers leave it in a debug file */
  assert_int_equal(build_id_of(&made, found), ID_BYTES);
  assert_memory_equal(found, id, ID_BYTES);
  made.head.e_phnum = UINT16_MAX;
  assert_int_equal(build_id_of(&made, found), ID_BYTES);
  made.head.e_shentsize++;
  assert_int_equal(build_id_of(&made, found), 0);
}

static void counts_beyond_the_head_stand_in_the_first_section(void **state) {
  (void)state;
  struct made made;
  uint8_t found[ID_BYTES];
  Elf64_Shdr first = {.sh_size = 3};
  make(&made);
  made.segment.p_type = PT_NULL;
  made.head.e_shnum = 0;
  assert_int_equal(build_id_of(&made, found), 0);
  memcpy((uint8_t *)&made + SECTIONS_AT, &first, sizeof first);
  assert_int_equal(build_id_of(&made, found), ID_BYTES);
}

static void tables_that_lie_are_empty(void **state) {
  (void)state;
  struct made made;
  struct span bytes = span_of(&made, sizeof made);
  struct elf_file file;
  struct elf_header_part part;
  make(&made);
  made.head.e_shnum = 0;
  Elf64_Shdr first = {.sh_size = UINT64_MAX};
  memcpy((uint8_t *)&made + SECTIONS_AT, &first, sizeof first);
  made.head.e_phnum = ELF_SEGMENTS_READ_MAX + 1;
  assert_int_equal(elf_file_open(elf_read_span, &bytes, &file), 0);
  assert_int_equal(file.sections_error, -EOVERFLOW);
  assert_int_equal(file.segments_error, -EOVERFLOW);
  assert_false(elf_file_segment(&file, 0, &part));
  assert_false(elf_file_section(&file, 0, &part));
  make(&made);
  made.head.e_shoff = UINT64_MAX - 32;
  made.head.e_phoff = UINT64_MAX - 32;
  assert_int_equal(elf_file_open(elf_read_span, &bytes, &file), 0);
  assert_int_equal(file.sections_error, -EBADMSG);
  assert_false(elf_file_segment(&file, 0, &part));
  for (bytes.len = 0; bytes.len < sizeof made.head; bytes.len++)
    assert_int_equal(elf_file_open(elf_read_span, &bytes, &file), -EBADMSG);
}

static void a_name_beyond_the_file_is_none(void **state) {
  (void)state;
  struct made made;
  struct span bytes = span_of(&made, sizeof made);
  struct elf_file file;
  struct elf_header_part part = {.name = UINT32_MAX};
  Elf64_Shdr names = {.sh_type = SHT_STRTAB, .sh_offset = UINT64_MAX, .sh_size = 8};
  make(&made);
  made.head.e_shstrndx = 1;
  memcpy((uint8_t *)&made + SECTIONS_AT + sizeof names, &names, sizeof names);
  assert_int_equal(elf_file_open(elf_read_span, &bytes, &file), 0);
  assert_false(elf_file_is_named(&file, &part, ""));
  part.name = 0;
  assert_false(elf_file_is_named(&file, &part, "x"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(notes_are_aligned_to_4_or_8),
      cmocka_unit_test(a_segment_that_promises_8_may_have_notes_aligned_to_4),
      cmocka_unit_test(sizes_that_lie_give_no_id),
      cmocka_unit_test(a_note_is_found_by_its_segment_or_its_section),
      cmocka_unit_test(counts_beyond_the_head_stand_in_the_first_section),
      cmocka_unit_test(tables_that_lie_are_empty),
      cmocka_unit_test(a_name_beyond_the_file_is_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
