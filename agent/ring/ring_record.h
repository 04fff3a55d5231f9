/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of a slot's data: records of any depth (RING_STACKS) or pairs of two words
   (RING_PC_LR). A weight is timer expiries (1 + overrun) times the units of unit_ns that each
   stands for. */
#ifndef RING_RING_RECORD_H
#define RING_RING_RECORD_H

#include <stdint.h>

enum ring_record_flags {
  RING_RECORD_PADDING = 1,   /* skip: fills the end of the data */
  RING_RECORD_TRUNCATED = 2, /* the walk stopped at depth_max, or failed */
  RING_RECORD_HAS_LR = 4,    /* pc[1] is the link register, not a walked frame */
  RING_RECORD_MARK = 8,      /* padding that describes the samples after it: pc is a ring_mark */
};

/* Above the flags: how a walk by tables ended, 1 + enum unwind_end; 0 for any other walk. */
enum { RING_RECORD_END_SHIFT = 4 };

struct ring_record {
  uint16_t size_bytes; /* of the whole record, a multiple of 8 */
  uint8_t depth;
  uint8_t flags;
  uint32_t weight;
  uint64_t pc[]; /* leaf first; callers are return addresses */
};

/* A pair is 16 bytes and head advances by as much, so no padding is needed. A weight above
   RING_PAIR_WEIGHT_MAX takes several pairs. */
enum { RING_PAIR_PC_BITS = 48, RING_PAIR_WEIGHT_MAX = 0xffff };

/* Describes the samples after it in a slot. */
struct ring_mark {
  uint64_t unloads; /* ring_header.unloads */
  char name[16];    /* of the thread, NUL-padded */
};

/* A pair without a weight is half of a mark: first the name's last 8 bytes, with this bit set, then
   its first 8 bytes, with the number of unloadings. */
#define RING_PAIR_MARK_LAST (1ULL << 47)

struct ring_pair {
  uint64_t pc_weight; /* pc, and above its 48 bits the weight; pc 0: beyond 48 bits */
  uint64_t lr; /* link register, or on CPUs without one the word at the stack pointer; 0: none */
};

_Static_assert(sizeof(struct ring_record) == 8, "record header is 8 bytes");
_Static_assert(sizeof(struct ring_pair) == 16, "two words");

/* PC and WEIGHT as one word. A PC beyond 48 bits becomes 0. WEIGHT above RING_PAIR_WEIGHT_MAX is
   left in *WEIGHT.  Signal-safe. */
static inline uint64_t ring_word(uint64_t pc, uint32_t *weight) {
  uint32_t taken = *weight < RING_PAIR_WEIGHT_MAX ? *weight : RING_PAIR_WEIGHT_MAX;
  *weight -= taken;
  return (uint64_t)taken << RING_PAIR_PC_BITS | (pc >> RING_PAIR_PC_BITS == 0 ? pc : 0);
}

#endif
