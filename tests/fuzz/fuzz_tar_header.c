/* SPDX-License-Identifier: Apache-2.0 */
/* A header of a backup's archive: an accepted name stays in its folder and is unchanged after
   writing and reading it again. */
#include "backup/tar_header.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  uint8_t block[TAR_BLOCK_BYTES] = {0}, written[TAR_BLOCK_BYTES];
  struct tar_member member, again;
  memcpy(block, data, len < sizeof block ? len : sizeof block);
  unsigned sum = 0;
  for (size_t i = 0; i < sizeof block; i++) sum += i >= 148 && i < 156 ? ' ' : block[i];
  for (int i = 5; i >= 0; i--, sum >>= 3) block[148 + i] = (uint8_t)('0' + (sum & 7));
  block[154] = '\0';
  if (tar_header_decode(block, &member) != 0) return 0;
  if (member.name[0] == '/' || member.name[0] == '\0' || strstr(member.name, "/../") != NULL ||
      strncmp(member.name, "../", 3) == 0)
    abort();
  if (tar_header_encode(&member, written) != 0)
    return 0; /* split at another slash than our writer does */
  if (tar_header_decode(written, &again) != 0) abort();
  if (strcmp(member.name, again.name) != 0 || member.size != again.size) abort();
  return 0;
}
