/* SPDX-License-Identifier: Apache-2.0 */
/* The index is a table of two words for each function, sorted by function:

     its address     | 1: it cannot be unwound
                     | top bit set: three bytes of instructions
                     | the address of its entry in .ARM.extab

   An entry there begins with the address of a personality routine, or with a word that has the top
   bit set. Bits 27 to 24 of that word are the number of one of the ABI's own routines. The first
   routine has three bytes of instructions; the others and foreign ones have a count of further
   words. Addresses are relative to the word that contains them, in 31 bits.

   Functions that cannot be unwound are left to the prologue scan: a linker marks all C code
   compiled without exceptions like that.

   Linkers merge entries of neighbors with equal instructions, so an entry may apply to many
   functions. It is valid only in the middle of each. The scan finds where they begin, and where
   their frames are made and taken down. */
#include "exidx.h"

#include "exidx_code.h"

#include <elf.h>

#ifndef PT_ARM_EXIDX
#define PT_ARM_EXIDX 0x70000001
#endif

enum {
  ENTRY_BYTES = 8,
  CANNOT_UNWIND = 1,
  WORDS_MAX = 256,
};

struct reader {
  const struct elf_image *image;
  struct elf_part index;
  struct code_ranges executable;
  uint8_t code[4 * WORDS_MAX];
};

/* The word of BYTES at AT. */
static uint32_t word_at(const struct reader *reader, struct span bytes, size_t at) {
  return (uint32_t)span_number(span_of(bytes.data + at, sizeof(uint32_t)),
                               reader->image->is_big_endian);
}

/* The address encoded in WORD, at PLACE. */
static uint64_t far(uint32_t word, uint64_t place) {
  return (place + (uint64_t)instruction_signed(word, 31)) & UINT32_MAX;
}

/* Appends the lower COUNT bytes of WORD, highest first, after LEN bytes. */
static size_t put(struct reader *reader, size_t len, uint32_t word, unsigned count) {
  while (count > 0) reader->code[len++] = (uint8_t)(word >> 8 * --count);
  return len;
}

/* The instructions of the entry of .ARM.extab at PLACE. */
static const char *read_table(struct reader *reader, uint64_t place, struct span *ret) {
  struct span bytes = elf_image_at(reader->image, place);
  size_t at = 4, len = 0;
  if (bytes.len < 8) return "its entry is outside of the file";
  uint32_t word = word_at(reader, bytes, 0), routine = word >> 24 & 15;
  bool is_own = word >> 31;
  uint32_t more = word >> 16 & 0xff;
  if (is_own && routine > 2) return "an unknown personality";
  if (!is_own) {
    word = word_at(reader, bytes, at);
    more = word >> 24;
    at += 4;
    len = put(reader, len, word, 3);
  } else {
    if (routine == 0) more = 0;
    len = put(reader, len, word, routine == 0 ? 3 : 2);
  }
  if (more > (bytes.len - at) / 4) return "its entry is cut off";
  for (uint32_t i = 0; i < more; i++, at += 4)
    len = put(reader, len, word_at(reader, bytes, at), 4);
  *ret = span_of(reader->code, len);
  return NULL;
}

/* The address of the function of entry INDEX. */
static uint64_t start_of(const struct reader *reader, size_t index) {
  size_t at = index * ENTRY_BYTES;
  return far(word_at(reader, reader->index.bytes, at), reader->index.address + at) & ~UINT64_C(1);
}

/* The end of that function, which begins at LOW: at the next one, or at the end of its code. */
static uint64_t end_of(const struct reader *reader, size_t index, uint64_t low) {
  const struct code_range *range = code_ranges_from(&reader->executable, low);
  uint64_t end = range != NULL ? range->high : low;
  if ((index + 2) * ENTRY_BYTES > reader->index.bytes.len) return end;
  uint64_t next = start_of(reader, index + 1);
  return next < end ? next : end;
}

static const char *read_entry(struct reader *reader, size_t index, struct prologue_state *ret) {
  size_t at = index * ENTRY_BYTES + 4;
  uint32_t word = word_at(reader, reader->index.bytes, at);
  struct span code;
  const char *why = NULL;
  if (word >> 31)
    code = span_of(reader->code, put(reader, 0, word, 3));
  else
    why = read_table(reader, far(word, reader->index.address + at), &code);
  if (why == NULL && word >> 31 && (word >> 24 & 15) != 0) why = "an unknown personality";
  return why != NULL ? why : exidx_code_read(code, ret);
}

static int read_function(struct reader *reader, size_t index, struct prologue_file *file,
                         struct table_report *report) {
  struct prologue_state body;
  uint64_t low = start_of(reader, index);
  struct prologue_range range = {low, end_of(reader, index, low), &body};
  if (word_at(reader, reader->index.bytes, index * ENTRY_BYTES + 4) == CANNOT_UNWIND) return 0;
  const char *why =
      range.low < range.high ? read_entry(reader, index, &body) : "its functions are not sorted";
  if (why != NULL) {
    table_report_refuse(report, why);
    return 0;
  }
  report->functions++;
  return prologue_file_range(file, &range);
}

int exidx_read(const struct elf_image *image, struct table_rows *rows, struct prologue_file *file,
               struct table_report *report) {
  struct reader reader = {.image = image};
  int rc = 0;
  if (image->machine != EM_ARM || image->is_64) return 0;
  if (!elf_image_segment(image, PT_ARM_EXIDX, &reader.index)) return 0;
  if (!elf_image_code(image, &reader.executable)) return 0;
  table_rows_source(rows, UNWIND_ARM_EXIDX);
  for (size_t i = 0; rc == 0 && (i + 1) * ENTRY_BYTES <= reader.index.bytes.len; i++)
    rc = read_function(&reader, i, file, report);
  return rc;
}
