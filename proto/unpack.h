/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the generated structs to the module's own, with each value checked, for the decoders of
   this folder. Private to them. */
#ifndef PROTO_UNPACK_H
#define PROTO_UNPACK_H

#include "batch.h"
#include "common/arena.h"
#include "payloads.h"
#include "profile.pb-c.h"

/* The state of decoding one message. The first error is kept and described in WHY; later steps have
   no effect and return empty values. */
struct unpack {
  struct arena *arena;
  ProtobufCAllocator allocator;
  bool is_over_limit;    /* the arena's limit was exceeded */
  bool is_out_of_memory; /* or the machine's memory */
  int error;
  char *why;
  size_t why_len;
};

/* A limit with its name, for the message of a rejection. */
struct limit {
  const char *name;
  uint64_t value;
};
#define LIMIT(constant) ((struct limit){#constant, (constant)})

/* The maximum of a signed 64-bit column, in the store and in answers. */
#define COUNT_MAX INT64_MAX

void unpack_init(struct unpack *unpack, struct arena *arena, char *why, size_t why_len);

/* Records ERROR and its reason unless there is one already. */
void unpack_refuse(struct unpack *unpack, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Unpacks BYTES by DESCRIPTOR. Returns the message, in the arena, or NULL. */
void *unpack_message(struct unpack *unpack, const ProtobufCMessageDescriptor *descriptor,
                     struct span bytes);

/* Returns COUNT zeroed items of SIZE bytes in the arena, or NULL. */
void *unpack_array(struct unpack *unpack, size_t count, size_t size);

/* Each returns the checked value. WHAT names it in the rejection. */
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
/* IN may be NULL: then RET is empty. */
void unpack_effort(struct unpack *unpack, const Fleetprof__Effort *in, struct effort *ret);

#endif
