/* SPDX-License-Identifier: Apache-2.0 */
/* The loader uses program headers, and so does this reader; section headers may be stripped. An
   armhf program on an aarch64 board is normal; a file of the other byte order cannot run here. */
#include "elf_notes.h"

#include <errno.h>

enum { DYNAMIC_BYTES_MAX = 4096 /* 256 entries; programs have about 30 */ };

/* If there are too many, code replaces data. */
static void add_segment(struct elf_notes *notes, const struct elf_header_part *head) {
  const struct elf_segment segment = {head->offset, head->bytes, head->address,
                                      (head->flags & PF_X) != 0};
  uint32_t at = notes->segment_count;
  if (at == ELF_SEGMENTS_MAX) {
    if (!segment.is_executable) return;
    while (at > 0 && notes->segments[at - 1].is_executable) at--;
    if (at == 0) return;
    notes->segments[at - 1] = segment;
    return;
  }
  notes->segments[notes->segment_count++] = segment;
}

/* A position-independent program has a flag in its dynamic section; a shared library, and the
   loader itself, do not. */
static bool is_pie(const struct elf_file *file, const struct elf_header_part *dynamic) {
  uint8_t bytes[DYNAMIC_BYTES_MAX];
  size_t len = dynamic->bytes < sizeof bytes ? (size_t)dynamic->bytes : sizeof bytes;
  struct span entry, left = span_of(bytes, file->read(file->context, dynamic->offset, bytes, len));
  while (span_take(&left, ELF_SIZE(file, Dyn), &entry))
    if (ELF_FIELD(file, entry.data, Dyn, d_tag) == DT_FLAGS_1)
      return (ELF_FIELD(file, entry.data, Dyn, d_un.d_val) & DF_1_PIE) != 0;
  return false;
}

int elf_notes_read(elf_read *read, void *context, struct elf_notes *ret) {
  struct elf_file file;
  int error = elf_file_open(read, context, &file);
  if (error) return error;
  if (!elf_file_is_native(&file)) return -EBADMSG;
  if (file.segments_error) return file.segments_error;
  struct elf_notes notes = {.machine = file.machine, .is_64 = file.is_64};
  bool has_loader = false, is_program = file.type == ET_EXEC;
  for (uint32_t i = 0; i < file.segment_count; i++) {
    struct elf_header_part head;
    if (!elf_file_segment(&file, i, &head)) return -EBADMSG;
    if (head.type == PT_LOAD) add_segment(&notes, &head);
    if (head.type == PT_INTERP) has_loader = true;
    if (head.type == PT_DYNAMIC && is_pie(&file, &head)) is_program = true;
  }
  notes.is_static = is_program && !has_loader;
  notes.build_id_bytes = elf_file_build_id(&file, notes.build_id, sizeof notes.build_id);
  *ret = notes;
  return 0;
}

static uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

enum elf_fit elf_segment_fit(const struct elf_segment *segment, const struct elf_mapping *mapping,
                             uint64_t page_bytes, uint64_t *ret_bytes) {
  uint64_t low = segment->file_offset, end = mapping->file_offset + mapping->bytes;
  uint64_t page_low = low & ~(page_bytes - 1);
  *ret_bytes = 0;
  if (segment->file_bytes == 0 || segment->file_bytes > UINT64_MAX - page_bytes - low)
    return ELF_FIT_NONE;
  uint64_t high = low + segment->file_bytes;
  uint64_t page_high = (high + page_bytes - 1) & ~(page_bytes - 1);
  if (mapping->file_offset >= page_high || end <= page_low) return ELF_FIT_NONE;
  uint64_t from = low > mapping->file_offset ? low : mapping->file_offset;
  *ret_bytes = least(high, end) > from ? least(high, end) - from : 0;
  if (!segment->is_executable) return ELF_FIT_DATA;
  if (mapping->file_offset != page_low) return ELF_FIT_PART;
  return end == page_high ? ELF_FIT_WHOLE : ELF_FIT_START;
}
