/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon makes the memory, so it is charged to the daemon's memory cgroup and not to the
   target's. It allocates every page before passing the ring on, so a full tmpfs fails here and not
   as a SIGBUS in the target. It seals the size, so neither side can remove pages from the other.

   Sizes: a slot holds 80 ms of the largest records (1032 bytes) at 99 Hz, 400 ms of usual ones. The
   drain runs faster when a slot is half full. Higher rates get larger slots, up to 64 KiB.

   A pair is 16 bytes, so slots of pairs have the minimum size. A recorder's slots have the
   requested size, and a histogram has counters instead; both begin with an image table (image.c).

   Each running thread or forked child needs a slot, and a ring cannot grow; nearly all programs
   need few. So a ring is wide (1 MiB at usual rates) while memory allows, and narrower the more
   memory other rings take. Threads beyond the slots are counted. */
#include "timer_ring.h"
#include "stride.h"

#include "intake/unwind_choice.h"
#include "ring/histogram_layout.h"
#include "ring/recorder_format.h"
#include "ring/ring_clock.h"
#include "ring/ring_switch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

enum {
  SLOT_BYTES_LARGEST = 64 << 10,
  BASE_RATE_MHZ = 128000,    /* the highest rate for RING_SLOT_BYTES_DEFAULT */
  AUTO_RATE_MHZ = 256000,    /* a common tick; an automatic rate exceeds it only for seconds */
  WIDE_BYTES_MAX = 16 << 20, /* of all rings; up to this a new ring is wide */
  MIDDLE_BYTES_MAX = 32 << 20,
  UNIT_NS = 1000,                /* every rate is a whole number of these, practically exactly */
  UNITS_OF_WORD = 64,            /* of an expiry in a 16-bit weight: leaves room for overruns */
  RECORDER_BYTES_MAX = 16 << 20, /* of a recorder: fewer slots if they are large */
};

/* The signal of a thread's timer is SIGURG. Some programs reset every signal to its default
   (daemonizing code, or a child about to exec). A real-time signal of the next expiry would then
   end them. The default of SIGURG is to be ignored, so only the samples are lost, and debuggers
   pass it on without stopping. (The kernel determines the signals of a process's clock, and they
   are fatal: see RING_CLOCK_DANGER.) */
uint32_t timer_ring_signal(const struct hold_target *target) {
  return (uint32_t)ring_clock_signal(target->clock);
}

struct histogram_shape timer_ring_shape(const struct hold_target *target) {
  return (struct histogram_shape){.bin_bytes = target->bin_bytes,
                                  .counter_bytes = target->counter_bytes,
                                  .bin_count = target->bin_count,
                                  .is_shipped = true};
}

uint64_t timer_ring_bytes(const struct hold_target *target) {
  struct histogram_shape shape = timer_ring_shape(target);
  if (target->collect == RING_HISTOGRAM) return histogram_total_bytes(&shape);
  if (target->collect == RING_RECORDER)
    return recorder_total_bytes(target->slot_count, target->slot_bytes);
  return ring_total_bytes(target->slot_count, target->slot_bytes);
}

/* A histogram's `units` are expiries of the requested rate. */
uint64_t timer_ring_unit_ns(const struct hold_target *target) {
  switch (target->collect) {
  case RING_PC_LR:
  case RING_RECORDER:
    return target->period_ns > UNITS_OF_WORD ? target->period_ns / UNITS_OF_WORD : 1;
  case RING_HISTOGRAM:
    return target->period_ns;
  default:
    return UNIT_NS;
  }
}

/* 0 if the kernel has none yet. */
static uint64_t random_bits(void) {
  uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != (ssize_t)sizeof bits) return 0;
  return bits;
}

bool timer_ring_is_unit(const struct hold_target *target, uint64_t unit_ns) {
  uint64_t usual_ns = timer_ring_unit_ns(target), off_ns = usual_ns / STRIDE_TIMER_PART;
  if (target->collect != RING_HISTOGRAM) return unit_ns == usual_ns;
  return unit_ns >= usual_ns - off_ns && unit_ns <= usual_ns + off_ns;
}

static uint32_t slot_bytes_of_stacks(const struct hold_target *target) {
  uint32_t bytes = RING_SLOT_BYTES_DEFAULT, asked_mhz = target->asked_mhz;
  if (target->is_auto_rate && asked_mhz > AUTO_RATE_MHZ) asked_mhz = AUTO_RATE_MHZ;
  for (uint64_t rate = BASE_RATE_MHZ; rate < asked_mhz && bytes < SLOT_BYTES_LARGEST; rate *= 2)
    bytes *= 2;
  return bytes;
}

void timer_ring_size(struct hold_target *target, uint64_t used) {
  target->unit_ns = timer_ring_unit_ns(target);
  if (target->slot_bytes == 0)
    target->slot_bytes =
        target->collect == RING_PC_LR ? RING_SLOT_BYTES_MIN : slot_bytes_of_stacks(target);
  target->slot_count = RING_SLOTS_WIDE;
  if (used + timer_ring_bytes(target) > WIDE_BYTES_MAX) target->slot_count = RING_SLOTS_MIDDLE;
  if (used + timer_ring_bytes(target) > MIDDLE_BYTES_MAX) target->slot_count = RING_SLOTS_DEFAULT;
}

void timer_ring_size_recorder(struct hold_target *target, uint32_t last, uint64_t used) {
  target->slot_bytes = recorder_slot_bytes(last != 0 ? last : RECORDER_VALUES_DEFAULT);
  timer_ring_size(target, used);
  while (target->slot_count > 1 && timer_ring_bytes(target) > RECORDER_BYTES_MAX)
    target->slot_count /= 2;
}

int timer_ring_size_histogram(struct hold_target *target, uint64_t code_bytes, uint32_t regions) {
  struct histogram_shape shape = timer_ring_shape(target);
  if (!histogram_shape_is_valid(&shape)) return -EINVAL;
  histogram_shape_fit(&shape, code_bytes, regions);
  target->bin_bytes = shape.bin_bytes;
  target->counter_bytes = shape.counter_bytes;
  target->bin_count = shape.bin_count;
  target->slot_count = target->slot_bytes = 0;
  target->unit_ns = stride_near_timer(timer_ring_unit_ns(target), random_bits());
  return 0;
}

int timer_ring_map(const struct hold_target *target, int fd, struct ring_reader *ret) {
  size_t bytes = (size_t)timer_ring_bytes(target);
  bool is_drained = target->collect == RING_STACKS || target->collect == RING_PC_LR;
  /* Every slot is read, each in its own page: one call maps them all. */
  int flags = MAP_SHARED | (is_drained ? MAP_POPULATE : 0);
  void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (base == MAP_FAILED) return -errno;
  *ret = (struct ring_reader){.base = base,
                              .slot_count = target->slot_count,
                              .slot_bytes = target->slot_bytes,
                              .collect = (enum ring_collect)target->collect};
  return 0;
}

void timer_ring_unmap(const struct hold_target *target, struct ring_reader *ring) {
  if (ring->base != NULL) munmap(ring->base, (size_t)timer_ring_bytes(target));
  ring->base = NULL;
}

/* So that no other process can make a program check its switches. 0: none can. */
static uint64_t random_token(void) {
  uint64_t token = random_bits();
  return token != 0 ? token | 1 : 0;
}

/* IS_ZERO: FD already reads as zeros. */
static int fill(const struct hold_target *target, int fd, bool is_zero) {
  struct ring_reader ring;
  struct histogram_shape shape = timer_ring_shape(target);
  bool is_drawn = target->collect == RING_HISTOGRAM; /* drawn together with its unit */
  struct ring_terms terms = {
      .period_ns = is_drawn ? target->unit_ns : stride_near_timer(target->period_ns, random_bits()),
      .unit_ns = target->unit_ns,
      .nudge_token = random_token(),
      .begin_cpu_ns = target->begin_cpu_ns,
      .depth_max = target->unwind == UNWIND_CHOICE_NONE ? 1 : 0,
      .signal = (int)timer_ring_signal(target),
      .clock = (enum ring_clock)target->clock};
  int error = timer_ring_map(target, fd, &ring);
  if (error) return error;
  if (!is_zero) memset(ring.base, 0, (size_t)timer_ring_bytes(target));
  if (target->collect == RING_HISTOGRAM)
    histogram_init(ring.base, &shape, &terms);
  else
    ring_init(&ring, &terms);
  ring_switch_set_control(&ring, (enum ring_control)target->control);
  timer_ring_unmap(target, &ring);
  return 0;
}

int timer_ring_fill(const struct hold_target *target, int fd) {
  return fill(target, fd, false);
}

int timer_ring_make(const struct hold_target *target) {
  int fd = memfd_create("fleetprof-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return -errno;
  int error = -posix_fallocate(fd, 0, (off_t)timer_ring_bytes(target));
  if (!error) error = fill(target, fd, true);
  if (!error && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
    error = -errno;
  if (!error) return fd;
  close(fd);
  return error;
}
