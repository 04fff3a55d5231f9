/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of an alleged ELF file, of any class and byte order. The outline must be well formed for
   any input, and a found section must not be empty. */
#include "symbol/elf_outline.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct span file = {data, len};
  struct elf_outline outline;
  struct elf_section_place place;
  if (elf_outline_make(elf_read_span, &file, &outline) == 0 &&
      outline.build_id_len > sizeof outline.build_id)
    abort();
  if (elf_outline_find_section(elf_read_span, &file, ".text", &place) == 0 && place.bytes == 0)
    abort();
  return 0;
}
