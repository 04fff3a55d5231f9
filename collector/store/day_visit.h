/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over the days of a range, with their files open. */
#ifndef STORE_DAY_VISIT_H
#define STORE_DAY_VISIT_H

#include "tier_plan.h"

struct cutoff;
struct day_reader;
struct store;

/* A day's files, open; NULL: there is none.  A visitor that keeps one takes it out. */
struct day_files {
  struct day_reader *readers[DAY_KINDS];
  struct tier_state state;
  enum day_kind failed; /* which an error is about */
};

/* Files found damaged; more than that are found by the next read. */
struct day_damage {
  struct damaged_file {
    uint32_t day;
    enum day_kind kind;
  } files[8];
  unsigned count;
};

void day_damage_add(struct day_damage *damage, uint32_t day, enum day_kind kind);

struct day_visitor {
  /* Each returns 0, or what stops the walk.  -EUCLEAN of ON_DAY is noted, and the other days are
     shown. */
  int (*on_day)(void *context, uint32_t day, struct day_files *files);
  int (*on_end)(void *context, int error); /* after the last; ERROR stopped the walk; may be NULL */
  void *context;
  const struct cutoff *cutoff; /* looked at while waiting and at each day: -ETIMEDOUT */
  bool is_of_settled;          /* shows what is, and waits for nothing */
  struct day_damage damage;    /* set aside after the walk */
};

/* Waits until all is settled, unless VISITOR does not want that, then shows every day that RANGE_MS
   (from, to) touches. */
int day_visit(struct store *store, const uint64_t range_ms[2], struct day_visitor *visitor);

#endif
