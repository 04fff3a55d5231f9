/* SPDX-License-Identifier: Apache-2.0 */
/* One segment file: encoding, and reading of possibly damaged data.

   Header and payload have separate checksums. A good header bounds its payload, so a damaged
   payload costs one batch. After a damaged header the next one is unknown. The reader then searches
   for the next header by magic and checksum, so damage never costs more than the batches that
   contain it.

   At the end of a file two cases are distinguished. A crash during a write leaves less than a
   header, a good header with too few bytes after it, or zeros: the file grew without its data. For
   the caller that entry was never appended, so it is no loss. Anything else there is damage.

   Only pread is used, never a mapping: a file that shrinks below a mapping would raise SIGBUS. */
#include "spool_segment.h"

#include "common/buf.h"
#include "limits.h"

#include <endian.h>
#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SEARCH_WINDOW_BYTES = 16384 };

/* Castagnoli's polynomial, reflected, four bits at a time: a table of 64 bytes instead of a
   kilobyte, and still several times faster than flash memory. */
static const uint32_t crc_nibbles[16] = {
    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t spool_crc32c(struct span bytes) {
  uint32_t crc = UINT32_MAX;
  for (size_t i = 0; i < bytes.len; i++) {
    crc ^= bytes.data[i];
    crc = crc >> 4 ^ crc_nibbles[crc & 15];
    crc = crc >> 4 ^ crc_nibbles[crc & 15];
  }
  return ~crc;
}

static void put16(uint8_t *at, uint16_t value) {
  value = htole16(value);
  memcpy(at, &value, sizeof value);
}

static void put32(uint8_t *at, uint32_t value) {
  value = htole32(value);
  memcpy(at, &value, sizeof value);
}

static void put64(uint8_t *at, uint64_t value) {
  value = htole64(value);
  memcpy(at, &value, sizeof value);
}

static uint16_t get16(const uint8_t *at) {
  uint16_t value;
  memcpy(&value, at, sizeof value);
  return le16toh(value);
}

static uint32_t get32(const uint8_t *at) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return le32toh(value);
}

static uint64_t get64(const uint8_t *at) {
  uint64_t value;
  memcpy(&value, at, sizeof value);
  return le64toh(value);
}

static void encode_header(const struct spool_entry *entry, uint8_t header[SPOOL_HEADER_BYTES]) {
  put32(header, SPOOL_MAGIC);
  put16(header + 4, SPOOL_VERSION);
  put16(header + 6, (uint16_t)entry->kind);
  put64(header + 8, entry->run);
  put64(header + 16, entry->seq);
  put64(header + 24, entry->records);
  put32(header + 32, entry->raw_len);
  put32(header + 36, entry->zstd_len);
  put32(header + 40, entry->payload_crc);
  put32(header + 44, spool_crc32c(span_of(header, 44)));
}

/* Returns 0, or -EBADMSG if HEADER is no valid entry of this version. */
static int decode_header(const uint8_t header[SPOOL_HEADER_BYTES], struct spool_entry *ret) {
  if (get32(header) != SPOOL_MAGIC || get16(header + 4) != SPOOL_VERSION) return -EBADMSG;
  if (get32(header + 44) != spool_crc32c(span_of(header, 44))) return -EBADMSG;
  uint16_t kind = get16(header + 6);
  if (kind < SPOOL_BATCH || kind > SPOOL_MARK) return -EBADMSG;
  uint32_t raw_len = get32(header + 32), zstd_len = get32(header + 36);
  if (raw_len > LIMIT_BATCH_RAW_BYTES || zstd_len > LIMIT_BATCH_ZSTD_BYTES) return -EBADMSG;
  *ret = (struct spool_entry){
      .run = get64(header + 8),
      .seq = get64(header + 16),
      .records = get64(header + 24),
      .raw_len = raw_len,
      .zstd_len = zstd_len,
      .payload_crc = get32(header + 40),
      .kind = (enum spool_kind)kind,
  };
  return 0;
}

/* Reads exactly LEN bytes. Returns 0, -ENODATA if the file is shorter, -errno. */
static int read_at(int fd, uint64_t offset, void *data, size_t len) {
  size_t done = 0;
  while (done < len) {
    ssize_t got = pread(fd, (uint8_t *)data + done, len - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -errno;
    if (got == 0) return -ENODATA;
    done += (size_t)got;
  }
  return 0;
}

/* Finds a header in WINDOW; returns its offset, or window.len if there is none. Skips zeros at the
   speed of memchr. */
static size_t search_window(struct span window) {
  struct spool_entry entry;
  for (size_t at = 0; at + SPOOL_HEADER_BYTES <= window.len; at++) {
    const uint8_t *first = memchr(window.data + at, SPOOL_MAGIC & 0xff, window.len - at);
    if (first == NULL) break;
    at = (size_t)(first - window.data);
    if (at + SPOOL_HEADER_BYTES > window.len) break;
    if (get32(first) == SPOOL_MAGIC && decode_header(first, &entry) == 0) return at;
  }
  return window.len;
}

/* Finds the first good header after OFFSET. Returns 0, -ENOENT, or -errno. */
static int search(const struct spool_reader *reader, uint64_t offset, uint64_t *ret_offset) {
  uint8_t window[SEARCH_WINDOW_BYTES];
  while (reader->end - offset >= SPOOL_HEADER_BYTES) {
    uint64_t left = reader->end - offset;
    size_t len = left < sizeof window ? (size_t)left : sizeof window;
    int rc = read_at(reader->fd, offset, window, len);
    if (rc < 0) return rc;
    size_t at = search_window(span_of(window, len));
    if (at < len) {
      *ret_offset = offset + at;
      return 0;
    }
    offset += len - (SPOOL_HEADER_BYTES - 1); /* a header may lie across two windows */
  }
  return -ENOENT;
}

static bool is_zero(const uint8_t *data, size_t len) {
  for (size_t i = 0; i < len; i++)
    if (data[i] != 0) return false;
  return true;
}

int spool_segment_next(struct spool_reader *reader, struct spool_entry *ret) {
  uint8_t header[SPOOL_HEADER_BYTES];
  struct spool_entry entry;
  for (;;) {
    uint64_t left = reader->end - reader->offset;
    if (left < SPOOL_HEADER_BYTES) {
      reader->torn_bytes = left;
      return -ENOENT;
    }
    int rc = read_at(reader->fd, reader->offset, header, sizeof header);
    if (rc < 0) return rc;
    if (decode_header(header, &entry) == 0) break;
    uint64_t found;
    rc = search(reader, reader->offset + 1, &found);
    if (rc == -ENOENT && is_zero(header, sizeof header))
      reader->torn_bytes = left;
    else if (rc == -ENOENT)
      reader->damaged_bytes += left;
    if (rc < 0) return rc;
    reader->damaged_bytes += found - reader->offset;
    reader->offset = found;
  }
  if (reader->end - reader->offset - SPOOL_HEADER_BYTES < entry.zstd_len) {
    reader->torn_bytes = reader->end - reader->offset;
    return -ENOENT;
  }
  entry.offset = reader->offset;
  reader->offset += SPOOL_HEADER_BYTES + (uint64_t)entry.zstd_len;
  *ret = entry;
  return 0;
}

int spool_segment_read(int fd, const struct spool_entry *entry, struct buf *ret_payload) {
  buf_clear(ret_payload);
  uint8_t *at = buf_reserve(ret_payload, entry->zstd_len);
  if (at == NULL) {
    ret_payload->failed = false; /* memory may be available next time */
    return -ENOMEM;
  }
  int rc = read_at(fd, entry->offset + SPOOL_HEADER_BYTES, at, entry->zstd_len);
  if (rc == -ENODATA) return -EBADMSG;
  if (rc < 0) return rc;
  if (spool_crc32c(span_of(at, entry->zstd_len)) != entry->payload_crc) return -EBADMSG;
  ret_payload->len = entry->zstd_len;
  return 0;
}

int spool_segment_write(int fd, struct spool_entry *entry, struct span payload) {
  uint8_t header[SPOOL_HEADER_BYTES];
  entry->zstd_len = (uint32_t)payload.len;
  entry->payload_crc = spool_crc32c(payload);
  encode_header(entry, header);
  const struct iovec parts[2] = {
      {header, sizeof header},
      {(void *)(uintptr_t)payload.data, payload.len},
  };
  ssize_t put;
  do put = pwritev(fd, parts, payload.len > 0 ? 2 : 1, (off_t)entry->offset);
  while (put < 0 && errno == EINTR);
  if (put < 0) return -errno;
  return (size_t)put == sizeof header + payload.len ? 0 : -ENOSPC;
}

int spool_segment_bury(int fd, const struct spool_entry *entry) {
  uint8_t header[SPOOL_HEADER_BYTES];
  struct spool_entry gone = *entry;
  gone.kind = SPOOL_GONE;
  encode_header(&gone, header);
  ssize_t put = pwrite(fd, header, sizeof header, (off_t)entry->offset);
  if (put < 0) return -errno;
  return put == sizeof header ? 0 : -ENOSPC;
}
