/* SPDX-License-Identifier: Apache-2.0 */
/* The ends of a perf target's tasks: the kernel writes the exact CPU time of each into a ring of
   the target's own. */
#ifndef PERF_PERF_EXITS_H
#define PERF_PERF_EXITS_H

#include "perf_ring.h"

enum { PERF_EXITS_PAGES = 4 /* 292 ends between two drains; where memory is short, fewer */ };

struct perf_exits {
  struct perf_ring ring;
  unsigned pages;
  uint64_t tail;  /* ours: the one in the shared page is for the kernel */
  uint64_t until; /* what stood in the ring when the drain began */
  uint64_t lost;  /* ends that found no room */
};

struct perf_exit {
  int32_t pid, tid;
  uint64_t cpu_ns; /* from its fork to its end */
};

/* Maps the ring of ANCHOR and sends into it what EVENT has to say; both stay the caller's.  Returns
   0, or -errno: the target is then served without. */
int perf_exits_open(struct perf_exits *exits, int anchor, int event);
void perf_exits_close(struct perf_exits *exits);

/* Remembers where the ring ends now.  Returns how full it is, in percent. */
unsigned perf_exits_mark(struct perf_exits *exits);
/* Takes the next end before the mark.  Returns false when there is none. */
bool perf_exits_next(struct perf_exits *exits, struct perf_exit *ret);

#endif
