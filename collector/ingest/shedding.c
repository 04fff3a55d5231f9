/* SPDX-License-Identifier: Apache-2.0 */
/* Load shedding.

   Data that arrives faster than it can be stored has to wait. The best place is the boards' spools,
   which are bounded, on disk, and count the oldest batches that they drop. So over a limit a batch
   is not queued but answered by Reject, with a retry delay (patience.h). Nothing is dropped here.

   The queue's limits are below those at which a connection stops being read (dispatch.c). So hellos
   and pings, which are small and keep a board connected, still have room. The backlog's limit is
   below the one at which the landing file is full. Memory is of the whole process, including names
   and queries. Beyond its limit the kernel would kill the process, so new boards are rejected, too.

   Shedding ends when the cause has fallen to three quarters of its limit. Without that hysteresis,
   a limit crossed in both directions each second would give boards contradictory answers. */
#include "shedding.h"

#include "patience.h"

enum { QUEUE_ENTRIES = 3072, QUEUE_BYTES = 48 << 20, BACKLOG_BYTES = 192 << 20 };

static const char *const names[SHED_COUNT] = {
#define X(name, text) [SHED_##name] = text,
    SHEDDINGS(X)
#undef X
};

const char *shedding_name(enum shed shed) {
  return names[shed];
}

struct load shedding_limits(uint64_t memory_bytes) {
  return (struct load){QUEUE_ENTRIES, QUEUE_BYTES, BACKLOG_BYTES, memory_bytes};
}

static bool is_over(uint64_t now, uint64_t limit, bool is_on) {
  if (limit == 0) return false;
  return now > (is_on ? limit / 4 * 3 : limit);
}

static bool is_shed(const struct shedding *shedding, enum shed shed) {
  const struct load *now = &shedding->now, *limit = &shedding->limit;
  bool is_on = shedding->shed == shed;
  switch (shed) {
  case SHED_QUEUE:
    return is_over(now->queue_entries, limit->queue_entries, is_on) ||
           is_over(now->queue_bytes, limit->queue_bytes, is_on);
  case SHED_BACKLOG:
    return is_over(now->backlog_bytes, limit->backlog_bytes, is_on);
  case SHED_MEMORY:
    return is_over(now->memory_bytes, limit->memory_bytes, is_on);
  case SHED_NOTHING:
  case SHED_COUNT:
    break;
  }
  return false;
}

bool shedding_look(struct shedding *shedding, uint64_t now_ns) {
  enum shed before = shedding->shed, shed = SHED_COUNT; /* the last is the worst */
  while (--shed > SHED_NOTHING && !is_shed(shedding, shed)) continue;
  shedding->shed = shed;
  if (before == SHED_NOTHING) shedding->since_ns = now_ns;
  shedding->retry_after_ms = patience_batch_ms(now_ns - shedding->since_ns);
  return shed != before;
}
