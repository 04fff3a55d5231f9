/* SPDX-License-Identifier: Apache-2.0 */
/* Each content is a separate frame, so that one file of ten thousand is read without the others. A
   bundle's own data is untrusted: an entry counts only if path and content lie within the file and
   no length exceeds its limit. */
#include "source_bundle.h"

#include "compress.h"
#include "limits.h"

#include <endian.h>
#include <errno.h>

enum { HEADER_BYTES = 16, ENTRY_BYTES = 24 };

static const char magic[SOURCE_BUNDLE_MAGIC_BYTES + 1] = "fpsource";

static uint32_t get_u32(const uint8_t *at) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return le32toh(value);
}

static uint64_t get_u64(const uint8_t *at) {
  uint64_t value;
  memcpy(&value, at, sizeof value);
  return le64toh(value);
}

static void put_u32(struct buf *ret, uint32_t value) {
  value = htole32(value);
  buf_append(ret, &value, sizeof value);
}

static void put_u64(struct buf *ret, uint64_t value) {
  value = htole64(value);
  buf_append(ret, &value, sizeof value);
}

bool source_bundle_is(struct span bytes) {
  return bytes.len >= SOURCE_BUNDLE_MAGIC_BYTES &&
         memcmp(bytes.data, magic, SOURCE_BUNDLE_MAGIC_BYTES) == 0;
}

int source_bundle_parse(struct span bytes, struct source_bundle *ret) {
  if (bytes.len < HEADER_BYTES || !source_bundle_is(bytes)) return -EBADMSG;
  if (get_u32(bytes.data + SOURCE_BUNDLE_MAGIC_BYTES) != SOURCE_BUNDLE_VERSION) return -EPROTO;
  uint32_t count = get_u32(bytes.data + SOURCE_BUNDLE_MAGIC_BYTES + 4);
  if (count > LIMIT_SOURCE_FILES) return -EOVERFLOW;
  if ((bytes.len - HEADER_BYTES) / ENTRY_BYTES < count) return -EBADMSG;
  *ret = (struct source_bundle){bytes, count};
  return 0;
}

/* Returns the LEN bytes at OFFSET of BYTES in RET. */
static bool cut(struct span bytes, uint64_t offset, uint64_t len, struct span *ret) {
  if (offset > bytes.len || len > bytes.len - offset) return false;
  *ret = span_of(bytes.data + offset, (size_t)len);
  return true;
}

bool source_bundle_entry(const struct source_bundle *bundle, uint32_t at,
                         struct source_entry *ret) {
  if (at >= bundle->count) return false;
  const uint8_t *raw = bundle->bytes.data + HEADER_BYTES + (size_t)at * ENTRY_BYTES;
  struct source_entry entry = {.raw_len = get_u32(raw + 12)};
  if (entry.raw_len > LIMIT_SOURCE_BYTES) return false;
  if (!cut(bundle->bytes, get_u64(raw), get_u32(raw + 8), &entry.packed)) return false;
  if (!cut(bundle->bytes, get_u32(raw + 16), get_u32(raw + 20), &entry.path)) return false;
  if (entry.path.len > LIMIT_PATH_BYTES) return false;
  *ret = entry;
  return true;
}

static int compare_paths(struct span a, struct span b) {
  size_t len = a.len < b.len ? a.len : b.len;
  int order = len > 0 ? memcmp(a.data, b.data, len) : 0;
  return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

/* True for an absolute path with only proper names. */
static bool is_canonical(struct span path) {
  if (path.len < 2 || path.data[0] != '/') return false;
  for (size_t start = 1, end; start <= path.len; start = end + 1) {
    for (end = start; end < path.len && path.data[end] != '/'; end++)
      if (path.data[end] < ' ') return false;
    struct span part = span_of(path.data + start, end - start);
    if (part.len == 0 || span_is_equal(part, span_of(".", 1)) ||
        span_is_equal(part, span_of("..", 2)))
      return false;
  }
  return true;
}

int source_bundle_verify(const struct source_bundle *bundle) {
  struct span before = {NULL, 0};
  for (uint32_t i = 0; i < bundle->count; i++) {
    struct source_entry entry;
    if (!source_bundle_entry(bundle, i, &entry) || !is_canonical(entry.path)) return -EBADMSG;
    if (i > 0 && compare_paths(before, entry.path) >= 0) return -EBADMSG;
    before = entry.path;
  }
  return 0;
}

int source_bundle_find(const struct source_bundle *bundle, struct span path,
                       struct source_entry *ret) {
  uint32_t low = 0, high = bundle->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    struct source_entry entry;
    if (!source_bundle_entry(bundle, middle, &entry)) return -ENOENT;
    int order = compare_paths(entry.path, path);
    if (order == 0) {
      *ret = entry;
      return 0;
    }
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return -ENOENT;
}

int source_entry_unpack(const struct source_entry *entry, struct buf *ret) {
  return decompress(entry->packed, entry->raw_len, LIMIT_SOURCE_BYTES, ret);
}

int source_bundle_head(const struct source_item *items, uint32_t count, struct buf *ret) {
  if (count > LIMIT_SOURCE_FILES) return -EOVERFLOW;
  uint64_t path_at = HEADER_BYTES + (uint64_t)count * ENTRY_BYTES, at = path_at;
  for (uint32_t i = 0; i < count; i++) {
    size_t len = strlen(items[i].path);
    if (len > LIMIT_PATH_BYTES || items[i].raw_len > LIMIT_SOURCE_BYTES) return -EOVERFLOW;
    at += len;
  }
  buf_append(ret, magic, SOURCE_BUNDLE_MAGIC_BYTES);
  put_u32(ret, SOURCE_BUNDLE_VERSION);
  put_u32(ret, count);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t len = (uint32_t)strlen(items[i].path);
    put_u64(ret, at);
    put_u32(ret, items[i].packed_len);
    put_u32(ret, items[i].raw_len);
    put_u32(ret, (uint32_t)path_at);
    put_u32(ret, len);
    at += items[i].packed_len;
    path_at += len;
  }
  for (uint32_t i = 0; i < count; i++) buf_append_string(ret, items[i].path);
  if (ret->failed) return -ENOMEM;
  return at > LIMIT_SOURCE_BUNDLE_BYTES ? -EOVERFLOW : 0;
}
