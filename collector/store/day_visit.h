/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over the days of a range, with their files open. */
#ifndef STORE_DAY_VISIT_H
#define STORE_DAY_VISIT_H

#include "tier_plan.h"

struct cutoff;
struct day_reader;
struct store;

/* A day's open files; NULL: no file. A visitor that keeps one takes it out. */
struct day_files {
  struct day_reader *readers[DAY_KINDS];
  struct tier_state state;
  enum day_kind failed; /* the file that an error is about */
};

/* Files found damaged; the next read finds further ones. */
struct day_damage {
  struct damaged_file {
    uint32_t day;
    enum day_kind kind;
  } files[8];
  unsigned count;
};

void day_damage_add(struct day_damage *damage, uint32_t day, enum day_kind kind);

struct day_visitor {
  /* Each returns 0, or an error that stops the walk. -EUCLEAN of ON_DAY is noted, and the other
     days are shown. */
  int (*on_day)(void *context, uint32_t day, struct day_files *files);
  int (*on_end)(void *context, int error); /* called last, with the ERROR that stopped the walk;
                                              may be NULL */
  void *context;
  const struct cutoff *cutoff; /* checked while waiting and at each day: -ETIMEDOUT */
  bool is_of_settled;          /* shows the settled rows without waiting */
  struct day_damage damage;    /* set aside after the walk */
};

/* Waits until all is settled, unless VISITOR's is_of_settled, then shows every day in RANGE_MS
   (from, to). */
int day_visit(struct store *store, const uint64_t range_ms[2], struct day_visitor *visitor);

#endif
