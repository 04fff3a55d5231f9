/* SPDX-License-Identifier: Apache-2.0 */
/* A file that claims to be ELF, read as a target's module is: build-id and segments, and how
   these fit some mappings. */
#include "elf/elf_notes.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct span file = span_of(data, len);
  struct elf_notes notes;
  if (elf_notes_read(elf_read_span, &file, &notes) != 0) return 0;
  if (notes.build_id_bytes > sizeof notes.build_id) abort();
  if (notes.segment_count > ELF_SEGMENTS_MAX) abort();
  for (uint32_t i = 0; i < notes.segment_count; i++) {
    uint64_t bytes;
    for (uint64_t offset = 0; offset < 0x10000; offset += 0x1000)
      elf_segment_fit(&notes.segments[i], &(struct elf_mapping){offset, 0x3000}, 4096, &bytes);
    elf_segment_fit(&notes.segments[i], &(struct elf_mapping){UINT64_MAX, UINT64_MAX}, 4096,
                    &bytes);
  }
  return 0;
}
