/* SPDX-License-Identifier: Apache-2.0 */
/* The exits of a perf target's tasks: the kernel writes the exact CPU time of each into the
   target's own ring. */
#ifndef PERF_PERF_EXITS_H
#define PERF_PERF_EXITS_H

#include "perf_ring.h"

enum { PERF_EXITS_PAGES = 4 /* 292 exits between two drains; fewer if memory is short */ };

struct perf_exits {
  struct perf_ring ring;
  unsigned pages;
  uint64_t tail;  /* the daemon's own; the one in the shared page is for the kernel */
  uint64_t until; /* the head when the drain began */
  uint64_t lost;  /* exits without room */
};

struct perf_exit {
  int32_t pid, tid;
  uint64_t cpu_ns; /* from its fork to its end */
};

/* Maps the ring of ANCHOR and redirects EVENT's records into it; both stay the caller's. Returns 0,
   or -errno: the target then works without. */
int perf_exits_open(struct perf_exits *exits, int anchor, int event);
void perf_exits_close(struct perf_exits *exits);

/* Stores the ring's current end. Returns its fill level in percent. */
unsigned perf_exits_mark(struct perf_exits *exits);
/* Takes the next exit before the mark. Returns false if there is none. */
bool perf_exits_next(struct perf_exits *exits, struct perf_exit *ret);

#endif
