/* SPDX-License-Identifier: Apache-2.0 */
/* What a program says of the libraries that it has unloaded, in the header of its ring.

   `unloads` (ring_header) is raised before each dlclose and after it.  Records of a slot carry the
   number by marks (ring_record.h): a mark stands before the first sample since the number was
   raised.  For each object that has gone an event says which number stood then, and which image was
   where.  An address at number N is in the first event with N or more that holds it; where there is
   none, it is in what is mapped now.

   An image is known by its file's first bytes, which are mapped with it: the file may be replaced
   before anybody looks at it.  Images and events are rings of their own; `serial` is odd while one
   is written, and a writer that finds it odd, or has no room, raises `lost` instead. */
#ifndef RING_UNLOAD_FORMAT_H
#define RING_UNLOAD_FORMAT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum {
  UNLOAD_IMAGES_MAX = 8,
  UNLOAD_EVENTS_MAX = 44,
  UNLOAD_PATH_BYTES = 176,
  UNLOAD_HASHED_BYTES = 4096, /* of an image, at most */
};

struct unload_image {
  uint64_t start, bytes, file_offset; /* of its code */
  uint64_t hash;                      /* unload_hash of its first segment; 0: none */
  char path[UNLOAD_PATH_BYTES];       /* as the loader has it, NUL-terminated */
};

struct unload_event {
  uint32_t unloads, pid;
  uint32_t image; /* number of images ever written, before this one's */
};

struct unload_log {
  uint32_t is_told;                  /* its writer writes all this */
  _Atomic uint32_t serial;           /* odd: it is being written */
  uint32_t image_count, event_count; /* ever written */
  _Atomic uint32_t lost;             /* events of numbers up to here may be missing */
  uint32_t unused;
  struct unload_image images[UNLOAD_IMAGES_MAX];
  struct unload_event events[UNLOAD_EVENTS_MAX];
};

/* Of the first LEN bytes of an ELF file, 8 at a time. */
static inline uint64_t unload_hash(const void *bytes, size_t len) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325), word;
  if (len > UNLOAD_HASHED_BYTES) len = UNLOAD_HASHED_BYTES;
  for (size_t at = 0; at + sizeof word <= len; at += sizeof word) {
    __builtin_memcpy(&word, (const uint8_t *)bytes + at, sizeof word);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
  }
  return hash;
}

#endif
