/* SPDX-License-Identifier: Apache-2.0 */
/* The sources of one module as one file: packed by an uploader, stored unchanged by the collector.

     header | entries, by path, strictly ascending | paths | contents, each one zstd frame

   Numbers are little-endian, offsets count from the file's first byte. A header is 16 bytes: magic
   (8), version (4), count (4). An entry is 24: offset of the content (8), its packed and its raw
   length (4 each), offset and length of the path (4 each). A path is absolute and has no `.`, `..`
   or doubled slash. A relative path from debug information is stored relative to the root. */
#ifndef PROTO_SOURCE_BUNDLE_H
#define PROTO_SOURCE_BUNDLE_H

#include "common/buf.h"

enum {
  SOURCE_BUNDLE_VERSION = 1,
  SOURCE_BUNDLE_MAGIC_BYTES = 8,
};

struct source_bundle { /* borrows the bytes that it was parsed from */
  struct span bytes;
  uint32_t count;
};

struct source_entry {
  struct span path, packed;
  uint32_t raw_len;
};

/* True if BYTES, the beginning of a file, are a bundle's. */
bool source_bundle_is(struct span bytes);

/* Checks header and size of the list, in constant time. Returns 0, -EBADMSG, -EPROTO for another
   version, or -EOVERFLOW over LIMIT_SOURCE_FILES. Pure. */
int source_bundle_parse(struct span bytes, struct source_bundle *ret);

/* Checks every entry: bounds, limits, order and form of the paths; not the unpacked contents.
   Returns 0, -EBADMSG or -EOVERFLOW. Pure. */
int source_bundle_verify(const struct source_bundle *bundle);

/* True if entry AT is within the file and its limits; RET is then the entry. Safe on a bundle that
   was only parsed. Pure. */
bool source_bundle_entry(const struct source_bundle *bundle, uint32_t at, struct source_entry *ret);

/* Finds PATH. Safe on a bundle that was only parsed. Returns 0 or -ENOENT. Pure. */
int source_bundle_find(const struct source_bundle *bundle, struct span path,
                       struct source_entry *ret);

/* Appends ENTRY's content to RET.  Returns 0, -EBADMSG or -ENOMEM.  Pure. */
int source_entry_unpack(const struct source_entry *entry, struct buf *ret);

/* One file of a bundle being made. */
struct source_item {
  const char *path;
  uint32_t packed_len, raw_len;
};

/* Appends to RET, which is empty, a bundle of the COUNT ITEMS, sorted by path, without the
   contents: these follow in the same order. Returns 0, -EOVERFLOW if the list exceeds a limit, or
   -ENOMEM. Pure. */
int source_bundle_head(const struct source_item *items, uint32_t count, struct buf *ret);

#endif
