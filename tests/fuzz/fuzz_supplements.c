/* SPDX-License-Identifier: Apache-2.0 */
/* An ELF file and the supplement of its debug information -> symbol index. The input is the length
   of the file in 4 bytes, little-endian, the file, and a supplement. */
#include "whole_index.h"

#include "symbol/index_builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* A copy, which the builder may write to. */
static struct span copy_of(struct span bytes) {
  uint8_t *copy = malloc(bytes.len + 1);
  if (copy == NULL) abort();
  memcpy(copy, bytes.data, bytes.len);
  return span_of(copy, bytes.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct buf bytes = {0}, missing = {0};
  struct index_summary summary;
  char why[256] = "";
  uint32_t file_len;
  if (len < sizeof file_len) return 0;
  memcpy(&file_len, data, sizeof file_len);
  struct span rest = span_of(data + sizeof file_len, len - sizeof file_len);
  if (file_len > rest.len) return 0;
  struct span file = copy_of(span_of(rest.data, file_len));
  struct span supplement = copy_of(span_of(rest.data + file_len, rest.len - file_len));
  struct index_input input = {file, INDEX_ALL, &supplement, 1, &missing};
  int error = index_builder_build_with(&input, &bytes, &summary, why, sizeof why);
  if (error == 0)
    whole_index_check(&bytes);
  else if (why[0] == '\0')
    abort();
  buf_fini(&bytes);
  buf_fini(&missing);
  free((void *)(uintptr_t)file.data);
  free((void *)(uintptr_t)supplement.data);
  return 0;
}
