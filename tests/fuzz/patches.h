/* SPDX-License-Identifier: Apache-2.0 */
/* For formats that are mostly zeros: the input is a list of changes to a valid file.

     offset (4 bytes, little-endian, modulo the file's size), length (1 byte), the bytes; repeated
 */
#ifndef FUZZ_PATCHES_H
#define FUZZ_PATCHES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void patches_apply(uint8_t *file, size_t size, const uint8_t *data, size_t len) {
  enum { HEAD_BYTES = 5 };
  for (size_t at = 0; len - at >= HEAD_BYTES;) {
    uint32_t offset;
    memcpy(&offset, data + at, sizeof offset);
    offset %= (uint32_t)size;
    size_t bytes = data[at + 4];
    at += HEAD_BYTES;
    if (bytes > len - at) bytes = len - at;
    size_t room = size - offset;
    memcpy(file + offset, data + at, bytes < room ? bytes : room);
    at += bytes;
  }
}

#endif
