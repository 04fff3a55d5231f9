/* SPDX-License-Identifier: Apache-2.0 */
/* Section headers of an alleged ELF file: for any input, reads stay inside the range that the
   callback grants and the answer is well formed. */
#include "elf/elf_sections.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct span file = {data, len};
  struct elf_sections sections;
  if (elf_sections_read(elf_read_span, &file, &sections) < 0) return 0;
  if (sections.build_id_bytes > sizeof sections.build_id) abort();
  if (memchr(sections.debuglink, '\0', sizeof sections.debuglink) == NULL) abort();
  return 0;
}
