/* SPDX-License-Identifier: Apache-2.0 */
/* Both sections are sequences of entries, of two kinds:

     entry     length (4; or ffffffff and 8) | id | ...
     CIE       version, augmentation, factors, return column, a program that all its functions share
     function  start | size | its own program

   In .eh_frame the id has 4 bytes: 0 for a CIE, else the distance back to the function's CIE, and
   an entry of length 0 is the end. In .debug_frame it is as long as the length field: all ones for
   a CIE, else the CIE's offset in the section. Only a CIE before the function is accepted, as all
   tools write it, so there are no cycles.

   The augmentation lists further fields: z the length of all of them, R the encoding of addresses,
   P and L exception data, S a signal trampoline. Assemblers omit z in .debug_frame, where only
   letters without bytes can follow. B (the key that signs return addresses) and G (a tagged stack)
   make no difference here. */
#include "cfi_section.h"

#include <errno.h>

enum {
  LENGTH_LONG = 0xfffffff0,
  SEGMENTED_NOT = 0,
  LETTERS_MAX = 16, /* of an augmentation; 7 exist */
};

int cfi_section_next(const struct cfi_section *section, size_t *at, struct cfi_entry *ret) {
  struct span bytes = section->bytes;
  struct cfi_cursor cursor =
      cfi_cursor_of(span_of(bytes.data + *at, bytes.len - *at), section->is_big_endian);
  uint64_t len = 0;
  size_t id_bytes = 4;
  while (len == 0) {
    if (cfi_left(&cursor) < 4) return 0;
    len = cfi_number(&cursor, 4);
    if (len == 0 && section->is_eh) return 0;
  }
  if (len >= LENGTH_LONG) {
    if (len != UINT32_MAX) return -EBADMSG;
    len = cfi_number(&cursor, 8);
    if (!section->is_eh) id_bytes = 8;
  }
  ret->body = cfi_cursor_of(cfi_bytes(&cursor, len), section->is_big_endian);
  if (cursor.is_over) return -EBADMSG;
  *at = (size_t)(cursor.at - bytes.data);
  size_t id_at = (size_t)(ret->body.at - bytes.data);
  uint64_t id = cfi_number(&ret->body, id_bytes);
  uint64_t cie_id = section->is_eh ? 0 : id_bytes == 8 ? UINT64_MAX : UINT32_MAX;
  ret->is_cie = id == cie_id && !ret->body.is_over;
  uint64_t cie_at = section->is_eh ? id_at - id : id;
  ret->cie_at = cie_at < id_at ? (size_t)cie_at : SIZE_MAX;
  return 1;
}

static struct cfi_pointer pointer_at(const struct cfi_section *section,
                                     const struct cfi_cursor *cursor, uint8_t encoding,
                                     uint8_t word_bytes) {
  uint64_t offset = (uint64_t)(cursor->at - section->bytes.data);
  return (struct cfi_pointer){encoding, word_bytes, section->address + offset, 0};
}

/* Only the length of the pointer to the exception handler matters. */
static bool skip_pointer(struct cfi_cursor *cursor, uint8_t encoding, uint8_t word_bytes) {
  uint64_t pointer;
  uint8_t format = encoding & CFI_POINTER_FORMAT;
  if (encoding == CFI_POINTER_NONE) return true;
  return cfi_pointer_read(cursor, &(struct cfi_pointer){format, word_bytes, 0, 0}, &pointer);
}

static const char *read_augmentation(struct cfi_cursor letters, struct cfi_cursor bytes,
                                     struct cfi_cie *cie) {
  while (cfi_left(&letters) > 0) {
    switch (cfi_byte(&letters)) {
    case 'R':
      cie->encoding = cfi_byte(&bytes);
      break;
    case 'L':
      cfi_byte(&bytes);
      break;
    case 'P':
      if (!skip_pointer(&bytes, cfi_byte(&bytes), cie->word_bytes))
        return "a CIE with a pointer of unknown form";
      break;
    case 'S':
      cie->is_signal = true;
      break;
    case 'B':
    case 'G':
      break;
    default:
      return "a CIE with an unknown augmentation";
    }
  }
  return bytes.is_over ? "a CIE with a cut augmentation" : NULL;
}

/* The fields between the version and the factors. */
static const char *read_sizes(struct cfi_cursor *cursor, struct cfi_cie *cie) {
  cie->word_bytes = cfi_byte(cursor);
  uint8_t segment_bytes = cfi_byte(cursor);
  if (cie->word_bytes != 4 && cie->word_bytes != 8) return "a CIE with odd addresses";
  return segment_bytes == SEGMENTED_NOT ? NULL : "a CIE with segments";
}

static struct span take_letters(struct cfi_cursor *cursor) {
  size_t left = cfi_left(cursor);
  if (left > LETTERS_MAX + 1) left = LETTERS_MAX + 1;
  const uint8_t *end = left > 0 ? memchr(cursor->at, '\0', left) : NULL;
  if (end == NULL) {
    cursor->is_over = true;
    return span_of(cursor->at, 0);
  }
  struct span text = cfi_bytes(cursor, (uint64_t)(end - cursor->at));
  cfi_byte(cursor);
  return text;
}

const char *cfi_section_cie(const struct cfi_section *section, const struct cfi_entry *entry,
                            struct cfi_cie *ret) {
  struct cfi_cursor cursor = entry->body;
  const char *why = NULL;
  *ret = (struct cfi_cie){.word_bytes = section->word_bytes, .encoding = CFI_POINTER_WORD};
  uint8_t version = cfi_byte(&cursor);
  struct span letters = take_letters(&cursor);
  if (cursor.is_over) return "a CIE whose augmentation does not end";
  if (version != 1 && version != 3 && version != 4) return "a CIE of an unknown version";
  if (version == 4) why = read_sizes(&cursor, ret);
  if (why != NULL) return why;
  ret->code_factor = cfi_uleb(&cursor);
  ret->data_factor = cfi_sleb(&cursor);
  ret->return_column = version == 1 ? cfi_byte(&cursor) : cfi_uleb(&cursor);
  struct cfi_cursor letter = cfi_cursor_of(letters, false);
  struct span rest = span_of(cursor.at, 0);
  if (letters.len > 0 && letters.data[0] == 'z') {
    rest = cfi_bytes(&cursor, cfi_uleb(&cursor));
    ret->has_sizes = true;
    cfi_byte(&letter);
  }
  why = read_augmentation(letter, cfi_cursor_of(rest, section->is_big_endian), ret);
  if (cursor.is_over) return "a cut CIE";
  ret->program = span_of(cursor.at, cfi_left(&cursor));
  return why;
}

const char *cfi_section_function(const struct cfi_section *section, const struct cfi_entry *entry,
                                 const struct cfi_cie *cie, struct cfi_function *ret) {
  struct cfi_cursor cursor = entry->body;
  struct cfi_pointer how = pointer_at(section, &cursor, cie->encoding, cie->word_bytes);
  if (!cfi_pointer_read(&cursor, &how, &ret->start)) return "an address of unknown form";
  how.encoding &= CFI_POINTER_FORMAT;
  if (!cfi_pointer_read(&cursor, &how, &ret->bytes)) return "a size of unknown form";
  if (cie->has_sizes) cfi_bytes(&cursor, cfi_uleb(&cursor));
  if (cursor.is_over) return "a cut entry";
  ret->program = span_of(cursor.at, cfi_left(&cursor));
  return NULL;
}
