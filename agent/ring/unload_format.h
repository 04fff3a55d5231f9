/* SPDX-License-Identifier: Apache-2.0 */
/* The log of unloaded libraries in the header of a program's ring.

   `unloads` (ring_header) is incremented before each dlclose and after it. Records of a slot carry
   the number by marks (ring_record.h): a mark precedes the first sample after an increment. For
   each removed object an event records the number at that time, and which image was where. An
   address at number N belongs to the first event with N or more that contains it; without one, it
   belongs to the current mappings.

   An image is identified by its file's first bytes, which are mapped with it, because the file may
   be replaced before it is read. Images and events are circular buffers. `serial` is odd while one
   is written. A writer that finds it odd, or has no room, raises `lost` instead. */
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
  char path[UNLOAD_PATH_BYTES];       /* as the loader reports it, NUL-terminated */
};

struct unload_event {
  uint32_t unloads, pid;
  uint32_t image; /* number of images ever written, before this one */
};

struct unload_log {
  uint32_t is_told;                  /* its writer maintains this log */
  _Atomic uint32_t serial;           /* odd: being written */
  uint32_t image_count, event_count; /* ever written */
  _Atomic uint32_t lost;             /* events of numbers up to this may be missing */
  uint32_t unused;
  struct unload_image images[UNLOAD_IMAGES_MAX];
  struct unload_event events[UNLOAD_EVENTS_MAX];
};

/* Hashes the first LEN bytes of an ELF file, 8 at a time. */
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
