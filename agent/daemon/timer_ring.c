/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon makes the memory, so the daemon's memory cgroup pays for it and not the target's; it
   writes every page before anyone else has it, so a full tmpfs fails here and not as a SIGBUS in
   the target; and it seals the size, so neither side can take pages away from under the other.

   Sizes: a slot holds 80 ms of the largest records (1032 bytes) at 99 Hz, 400 ms of usual ones; the
   drain quickens when a slot is half full.  Higher rates get larger slots, up to 64 KiB.

   Each thread or forked child that runs needs a slot, and a ring cannot grow; nearly all programs
   are happy with few.  So a ring is wide (1 MiB at usual rates) while there is room for such, and
   narrower the more memory the rings of others take; threads beyond the slots are counted. */
#include "timer_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

enum {
  SLOT_BYTES_LARGEST = 64 << 10,
  BASE_RATE_MHZ = 128000,    /* what RING_SLOT_BYTES_DEFAULT is good for */
  WIDE_BYTES_MAX = 16 << 20, /* of all rings, up to which a new one is wide */
  MIDDLE_BYTES_MAX = 32 << 20,
  UNIT_NS = 1000, /* every rate is a whole number of them, as good as exactly */
};

/* Programs that put every signal back to its default (daemonizing code does, and so does a child
   about to exec) would be ended by the next expiry of a timer, were it a real-time signal.  The
   default of SIGURG is to be ignored, so there only the samples are lost; and debuggers let it pass
   without stopping. */
uint32_t timer_ring_signal(const struct hold_target *target) {
  (void)target;
  return SIGURG;
}

uint64_t timer_ring_bytes(const struct hold_target *target) {
  return ring_total_bytes(target->slot_count, target->slot_bytes);
}

void timer_ring_size(struct hold_target *target, uint64_t used) {
  target->unit_ns = UNIT_NS;
  target->slot_bytes = RING_SLOT_BYTES_DEFAULT;
  for (uint64_t rate = BASE_RATE_MHZ;
       rate < target->asked_mhz && target->slot_bytes < SLOT_BYTES_LARGEST; rate *= 2)
    target->slot_bytes *= 2;
  target->slot_count = RING_SLOTS_WIDE;
  if (used + timer_ring_bytes(target) > WIDE_BYTES_MAX) target->slot_count = RING_SLOTS_MIDDLE;
  if (used + timer_ring_bytes(target) > MIDDLE_BYTES_MAX) target->slot_count = RING_SLOTS_DEFAULT;
}

int timer_ring_map(const struct hold_target *target, int fd, struct ring_reader *ret) {
  size_t bytes = (size_t)timer_ring_bytes(target);
  void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) return -errno;
  *ret = (struct ring_reader){
      .base = base, .slot_count = target->slot_count, .slot_bytes = target->slot_bytes};
  return 0;
}

void timer_ring_unmap(struct ring_reader *ring) {
  if (ring->base != NULL)
    munmap(ring->base, (size_t)ring_total_bytes(ring->slot_count, ring->slot_bytes));
  ring->base = NULL;
}

/* So that nobody else can make a program look at its switches.  0: nobody can. */
static uint64_t random_token(void) {
  uint64_t token = 0;
  if (getrandom(&token, sizeof token, GRND_NONBLOCK) != (ssize_t)sizeof token) return 0;
  return token | 1;
}

static int fill(const struct hold_target *target, int fd) {
  struct ring_reader ring;
  int error = posix_fallocate(fd, 0, (off_t)timer_ring_bytes(target));
  if (error) return -error;
  error = timer_ring_map(target, fd, &ring);
  if (error) return error;
  memset(ring.base, 0, (size_t)timer_ring_bytes(target));
  ring_init(&ring, &(struct ring_terms){.period_ns = target->period_ns,
                                        .unit_ns = target->unit_ns,
                                        .nudge_token = random_token(),
                                        .signal = (int)timer_ring_signal(target)});
  timer_ring_unmap(&ring);
  return fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0 ? -errno : 0;
}

int timer_ring_make(const struct hold_target *target) {
  int fd = memfd_create("fleetprof-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return -errno;
  int error = fill(target, fd);
  if (!error) return fd;
  close(fd);
  return error;
}
