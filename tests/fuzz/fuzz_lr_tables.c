/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of the two tables about return addresses: no bytes lead a look out of them. */
#include "symbol/index_format.h"
#include "symbol/lr_tables.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { HEAD_BYTES = sizeof(struct index_header) + 2 * sizeof(struct index_section) };

/* DATA as both tables of an index; its first two bytes give the start of the second table. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct lr_tables tables;
  if (len < 2) return 0;
  uint64_t cut = (data[0] | (uint64_t)data[1] << 8) % len / 8 * 8;
  uint8_t *index = malloc(HEAD_BYTES + len);
  if (index == NULL) return 0;
  const struct index_header header = {.section_count = 2};
  const struct index_section sections[2] = {{INDEX_LR_PLACES, 1, HEAD_BYTES, cut},
                                            {INDEX_LR_CALLS, 1, HEAD_BYTES + cut, len - cut}};
  memcpy(index, &header, sizeof header);
  memcpy(index + sizeof header, sections, sizeof sections);
  memcpy(index + HEAD_BYTES, data, len);
  lr_tables_parse(span_of(index, HEAD_BYTES + len), &tables);
  uint64_t base = tables.places.firsts != NULL ? tables.places.head.base : 0;
  for (uint64_t at = 0; at < 1 << 14; at += 61) {
    if (lr_tables_place(&tables, base + at) >= LR_PLACES) abort();
    if (lr_tables_call(&tables, tables.calls.head.base + at, at) > LR_CALL_ELSEWHERE) abort();
  }
  lr_tables_place(&tables, UINT64_MAX);
  free(index);
  return 0;
}
