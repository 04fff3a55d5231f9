/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the exits of tasks. A thread or process that lives less than one period is never sampled.
   With inherit_stat the kernel writes one READ record when an inherited task ends, with the count
   of its event: its CPU time to the nanosecond.

   These records are not in the rings of perf_ring.c. An event bound to a CPU writes its READ on the
   CPU where the task ends, into the ring of the event's CPU. The kernel's ring does not support two
   writers. With two CPUs and ten thousand exits a second, one ring stopped for ever and the other
   held garbage within a second (measured on 6.18). So a target has one more event, on all CPUs and
   only counting, with a small ring of its own. There is one record for each exit instead of one for
   each CPU, and a simultaneous write of two CPUs can harm only this ring. The same load left that
   ring intact.

   All records in it have one size, READ and LOST alike, so a damaged one affects only itself. The
   ring's head page is shared with the process that opened the events (`run`, if it has the daemon's
   user). Its numbers are checked, and the daemon's are kept elsewhere.

   The ring belongs to the worker: when a worker dies, the exits since its last drain are lost, and
   count in the rest of the tree. */
#include "perf_exits.h"
#include "perf_record.h"

#include <errno.h>
#include <string.h>

enum { RECORD_BYTES = 56 /* header, pid and tid, count; or header, id, count; and the trailer */ };

int perf_exits_open(struct perf_exits *exits, int anchor, int event) {
  int error = -EPERM;
  memset(exits, 0, sizeof *exits);
  exits->ring = (struct perf_ring){.fd = anchor, .cpu = -1};
  for (unsigned pages = PERF_EXITS_PAGES; error && pages > 0; pages /= 2) {
    exits->pages = pages;
    error = perf_ring_map(&exits->ring, pages);
  }
  if (error) return error;
  exits->tail = exits->until = perf_ring_head(&exits->ring);
  perf_ring_release(&exits->ring, exits->tail);
  error = perf_ring_redirect(&exits->ring, event);
  if (error) perf_exits_close(exits);
  return error;
}

void perf_exits_close(struct perf_exits *exits) {
  if (exits->ring.map != NULL) perf_ring_unmap(&exits->ring, exits->pages);
}

unsigned perf_exits_mark(struct perf_exits *exits) {
  if (exits->ring.map == NULL) return 0;
  uint64_t head = perf_ring_head(&exits->ring);
  bool is_sane = head - exits->tail <= exits->ring.data_bytes;
  if (!is_sane) exits->tail = head;
  exits->until = head - (head - exits->tail) % RECORD_BYTES;
  if (!is_sane) perf_ring_release(&exits->ring, exits->tail);
  return (unsigned)((head - exits->tail) * 100 / exits->ring.data_bytes);
}

static bool take(struct perf_exits *exits, struct perf_exit *ret) {
  uint8_t bytes[RECORD_BYTES];
  struct perf_record record;
  perf_ring_copy(&exits->ring, exits->tail, bytes, sizeof bytes);
  exits->tail += RECORD_BYTES;
  if (perf_record_decode(span_of(bytes, sizeof bytes), NULL, &record) < 0) return false;
  if (record.kind == PERF_RECORD_KIND_LOST) exits->lost += record.lost.count;
  if (record.kind != PERF_RECORD_KIND_READ) return false;
  *ret = (struct perf_exit){record.pid, record.tid, record.read.count};
  return true;
}

bool perf_exits_next(struct perf_exits *exits, struct perf_exit *ret) {
  bool is_found = false, has_any = exits->ring.map != NULL && exits->tail != exits->until;
  while (!is_found && exits->ring.map != NULL && exits->tail != exits->until)
    is_found = take(exits, ret);
  if (has_any && exits->tail == exits->until) perf_ring_release(&exits->ring, exits->tail);
  return is_found;
}
