/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's rings, one a CPU for all perf targets.  The keeper opens and maps them (a ring lives
   as long as somebody maps it); each worker maps them again on the inherited descriptors. */
#ifndef PERF_PERF_RING_H
#define PERF_PERF_RING_H

#include "common/span.h"

enum {
  PERF_CPUS_MAX = 250,       /* as many descriptors as one packet can carry */
  PERF_RING_PAGES = 128,     /* where locked memory is free or RLIMIT_MEMLOCK has room */
  PERF_RING_PAGES_USER = 64, /* elsewhere: half of what perf_event_mlock_kb gives a user */
  PERF_RING_PAGES_MIN = 8,
};

struct perf_ring {
  int fd;
  int cpu;
  void *map;
  uint8_t *data;
  uint64_t data_bytes;
};

struct perf_rings {
  unsigned count; /* 0: not available, and why */
  unsigned pages;
  char why[128];
  struct perf_ring cpus[PERF_CPUS_MAX];
};

/* Keeper: opens and maps one anchor event for each online CPU.  On failure count is 0 and why says
   the reason in words. */
void perf_rings_open(struct perf_rings *rings);
/* Worker: maps the inherited anchors.  Failure as above. */
void perf_rings_map(struct perf_rings *rings);
void perf_rings_close(struct perf_rings *rings);

/* Maps the ring of RING->fd, of PAGES (a power of two) besides its head.  Returns 0 or -errno. */
int perf_ring_map(struct perf_ring *ring, unsigned pages);
void perf_ring_unmap(struct perf_ring *ring, unsigned pages);

/* Bytes between the daemon's tail and the kernel's head. */
uint64_t perf_ring_tail(const struct perf_ring *ring);
uint64_t perf_ring_head(const struct perf_ring *ring);
/* Copies LEN bytes from position AT into BYTES. */
void perf_ring_copy(const struct perf_ring *ring, uint64_t at, uint8_t *bytes, size_t len);
void perf_ring_release(const struct perf_ring *ring, uint64_t tail);

/* Sends what EVENT records into RING.  Returns 0 or -errno. */
int perf_ring_redirect(const struct perf_ring *ring, int event);

/* True when FD is a perf event; its id is then in RET_ID. */
bool perf_event_id(int fd, uint64_t *ret_id);
/* The event's count: CPU nanoseconds of the whole tree on that CPU.  Returns 0 or -errno. */
int perf_event_read_ns(int fd, uint64_t *ret_ns);
/* True when the last task of the event's tree has ended. */
bool perf_event_has_ended(int fd);

#endif
