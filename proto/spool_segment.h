/* SPDX-License-Identifier: Apache-2.0 */
/* THE CONTRACT of a spool segment on flash, and the reader that survives power cuts and failing
   flash. A segment is a sequence of entries of one run, each a header of 48 bytes (little-endian)
   and a payload:

     0  magic  u32     8 run  u64    24 records u64    40 crc32c of the payload u32
     4  version u16   16 seq  u64    32 raw_len u32    44 crc32c of bytes 0-43 u32
     6  kind   u16                   36 zstd_len u32   48 payload, zstd_len bytes

   A header that is changed in place (kind GONE) keeps its length, so the sequence stays
   readable. */
#ifndef PROTO_SPOOL_SEGMENT_H
#define PROTO_SPOOL_SEGMENT_H

#include "common/span.h"

#include <stdint.h>

struct buf;

enum {
  SPOOL_MAGIC = 0x31535046, /* "FPS1" */
  SPOOL_VERSION = 1,
  SPOOL_HEADER_BYTES = 48,
};

enum spool_kind {
  SPOOL_BATCH = 1, /* waits for its ack */
  SPOOL_GONE = 2,  /* removed without an ack (rejected, unreadable): never sent or counted again */
  SPOOL_MARK = 3,  /* everything before it in this segment was acked; seq is the newest one. In a
                      profile file, with a payload: names. Its head, of run 0: records is the newest
                      protocol version of its batches, 0: up to 2 */
};

struct spool_entry {
  uint64_t offset; /* of the header in its segment: not stored */
  uint64_t run, seq, records;
  uint32_t raw_len, zstd_len, payload_crc;
  enum spool_kind kind;
};

struct spool_reader {
  int fd; /* borrowed */
  uint64_t offset, end;
  uint64_t damaged_bytes; /* skipped, or left over at the end, and not explained by a torn write */
  uint64_t torn_bytes;    /* at the end: an interrupted write */
};

uint32_t spool_crc32c(struct span bytes);

/* Returns the next good entry and moves past it; skipped bytes are added to damaged_bytes. Returns
   0, -ENOENT at the end (appending may continue at offset, unless bytes are damaged), or -errno of
   a read error. */
int spool_segment_next(struct spool_reader *reader, struct spool_entry *ret);

/* Replaces RET_PAYLOAD by the payload of ENTRY. Returns 0, -EBADMSG if its checksum is wrong or the
   file ends before it, -errno. */
int spool_segment_read(int fd, const struct spool_entry *entry, struct buf *ret_payload);

/* Writes ENTRY (its payload_crc is computed here) and PAYLOAD at entry->offset in one call. Returns
   0 or -errno; after a failure the bytes there are undefined. */
int spool_segment_write(int fd, struct spool_entry *entry, struct span payload);

/* Changes the stored ENTRY to kind GONE, in place. Returns 0 or -errno. */
int spool_segment_bury(int fd, const struct spool_entry *entry);

#endif
