/* SPDX-License-Identifier: Apache-2.0 */
/* The generated structs -> ours, each value checked, for the decoders of this folder.  Not for
   others. */
#ifndef PROTO_UNPACK_H
#define PROTO_UNPACK_H

#include "batch.h"
#include "common/arena.h"
#include "payloads.h"
#include "profile.pb-c.h"

/* Taking one message apart.  The first error sticks and is described in WHY; later steps are
   harmless and return empty values. */
struct unpack {
  struct arena *arena;
  ProtobufCAllocator allocator;
  bool is_over_limit;    /* the arena refused because of its limit */
  bool is_out_of_memory; /* or because the machine did */
  int error;
  char *why;
  size_t why_len;
};

/* A limit with its name, so that the refusal can say it. */
struct limit {
  const char *name;
  uint64_t value;
};
#define LIMIT(constant) ((struct limit){#constant, (constant)})

/* What the store and the answers hold in a signed 64-bit column. */
#define COUNT_MAX INT64_MAX

void unpack_init(struct unpack *unpack, struct arena *arena, char *why, size_t why_len);

/* Remembers ERROR and its reason unless one came before. */
void unpack_refuse(struct unpack *unpack, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Unpacks BYTES as DESCRIPTOR says.  Returns the message, in the arena, or NULL. */
void *unpack_message(struct unpack *unpack, const ProtobufCMessageDescriptor *descriptor,
                     struct span bytes);

/* Returns COUNT zeroed things of SIZE bytes in the arena, or NULL. */
void *unpack_array(struct unpack *unpack, size_t count, size_t size);

/* Each returns the checked value.  WHAT names it in the refusal. */
const char *unpack_text(struct unpack *unpack, const char *text, const char *what,
                        struct limit limit);
struct span unpack_bytes(struct unpack *unpack, ProtobufCBinaryData bytes, const char *what,
                         struct limit limit);
uint64_t unpack_number(struct unpack *unpack, uint64_t value, const char *what, struct limit limit);
void unpack_boot_id(struct unpack *unpack, ProtobufCBinaryData bytes,
                    uint8_t id[BATCH_BOOT_ID_BYTES]);
const struct label *unpack_labels(struct unpack *unpack, Fleetprof__Label **labels, size_t count);
const struct boot_time *unpack_boots(struct unpack *unpack, Fleetprof__Boot **boots, size_t count);
void unpack_counters(struct unpack *unpack, const Fleetprof__Counters *packed,
                     struct counters *ret);
/* IN may be NULL: then RET says nothing. */
void unpack_effort(struct unpack *unpack, const Fleetprof__Effort *in, struct effort *ret);

#endif
