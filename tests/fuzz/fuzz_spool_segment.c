/* SPDX-License-Identifier: Apache-2.0 */
/* An untrusted spool segment: the reader must end, stay inside the file, advance, and account for
   every byte. */
#include "proto/spool_segment.h"

#include "common/buf.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int file_of(const uint8_t *data, size_t len) {
  static int fd = -1;
  if (fd < 0) fd = memfd_create("segment", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, 0) < 0 || pwrite(fd, data, len, 0) != (ssize_t)len) abort();
  return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  int fd = file_of(data, len);
  struct spool_reader reader = {.fd = fd, .end = len};
  struct spool_entry entry;
  struct buf payload = {0};
  uint64_t entry_bytes = 0;
  for (uint64_t before = 0; spool_segment_next(&reader, &entry) == 0; before = reader.offset) {
    uint64_t whole = SPOOL_HEADER_BYTES + (uint64_t)entry.zstd_len;
    if (reader.offset <= before || entry.offset < before) abort();
    if (entry.offset + whole != reader.offset || reader.offset > len) abort();
    entry_bytes += whole;
    if (spool_segment_read(fd, &entry, &payload) == 0 && payload.len != entry.zstd_len) abort();
  }
  if (entry_bytes + reader.damaged_bytes + reader.torn_bytes != len) abort();
  buf_fini(&payload);
  return 0;
}
