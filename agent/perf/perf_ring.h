/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's rings, one for each CPU for all perf targets. The supervisor opens and maps them (a
   ring lives as long as it is mapped); each worker maps them again with the inherited
   descriptors. */
#ifndef PERF_PERF_RING_H
#define PERF_PERF_RING_H

#include "common/span.h"

enum {
  PERF_CPUS_MAX = 250,       /* the maximum of descriptors in one packet */
  PERF_RING_PAGES = 128,     /* if locked memory is unlimited or RLIMIT_MEMLOCK has room */
  PERF_RING_PAGES_USER = 64, /* otherwise: half of a user's perf_event_mlock_kb */
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
  unsigned count; /* 0: not available, see why */
  unsigned pages;
  char why[128];
  struct perf_ring cpus[PERF_CPUS_MAX];
};

/* Supervisor: opens and maps one anchor event for each online CPU. On failure count is 0 and why
   has the reason in words. */
void perf_rings_open(struct perf_rings *rings);
/* Worker: maps the inherited anchors. Failure as above. */
void perf_rings_map(struct perf_rings *rings);
void perf_rings_close(struct perf_rings *rings);

/* Maps the ring of RING->fd, with PAGES (a power of two) besides its head. Returns 0 or -errno. */
int perf_ring_map(struct perf_ring *ring, unsigned pages);
void perf_ring_unmap(struct perf_ring *ring, unsigned pages);

/* The positions of the daemon's tail and the kernel's head, in bytes. */
uint64_t perf_ring_tail(const struct perf_ring *ring);
uint64_t perf_ring_head(const struct perf_ring *ring);
/* Copies LEN bytes from position AT into BYTES. */
void perf_ring_copy(const struct perf_ring *ring, uint64_t at, uint8_t *bytes, size_t len);
void perf_ring_release(const struct perf_ring *ring, uint64_t tail);

/* Redirects EVENT's records into RING. Returns 0 or -errno. */
int perf_ring_redirect(const struct perf_ring *ring, int event);

/* True if FD is a perf event; its ID is then in RET_ID. */
bool perf_event_id(int fd, uint64_t *ret_id);
/* The event's count: CPU nanoseconds of the whole tree on that CPU. Returns 0 or -errno. */
int perf_event_read_ns(int fd, uint64_t *ret_ns);
/* True if the last task of the event's tree has ended. */
bool perf_event_has_ended(int fd);

#endif
