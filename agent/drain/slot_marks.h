/* SPDX-License-Identifier: Apache-2.0 */
/* The state for the next sample of each slot of a timer target: its thread's name, and its
   program's count of unloadings. */
#ifndef DRAIN_SLOT_MARKS_H
#define DRAIN_SLOT_MARKS_H

#include "ring/ring_reader.h"
#include "targets/target.h"

struct slot_mark {
  uint64_t owner;
  uint64_t looked_ns; /* CLOCK_MONOTONIC: last read of the name in /proc; 0: never */
  uint32_t unloads;
  bool is_known;    /* unloads is valid for its samples */
  bool is_first;    /* nothing of this owner was taken before */
  uint32_t settled; /* drain/unloads.c */
  char last[8];     /* half of an incomplete name */
  char name[RING_NAME_BYTES + 1];
};

/* The marks for the slot and owner in VIEW; NULL if memory is short. */
struct slot_mark *slot_marks_of(struct target *target, const struct ring_view *view);

/* SAMPLE, of that slot, is a mark or half of one. */
void slot_marks_take(struct slot_mark *mark, const struct ring_sample *sample);

/* Before and after records of MARK's thread are taken. HAS_MARK: they include a mark. */
void slot_marks_begin(struct slot_mark *mark, bool has_mark);
void slot_marks_end(struct slot_mark *mark);

#endif
