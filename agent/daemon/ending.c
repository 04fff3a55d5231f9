/* SPDX-License-Identifier: Apache-2.0 */
/* Programs go on when their daemon ends, and nobody comes back to them: a ring is known to the
   daemon that made it and to no other.  A timer would make signals until its program ends, for a
   ring that nobody reads.  So whoever samples is told OFF, as by the kill switch, and has OBEY_NS
   of time to take one sample more and obey.  A program that used no CPU time in it keeps a timer
   that cannot expire meanwhile; later its handler finds the ring off and returns.  It is not
   permitted to delete it then: nobody would look any more whether it has entered a sandbox
   (targets/switch.c). Perf events are closed with the descriptors.

   A histogram or recorder that is a file goes on: the next daemon ships what is in it.

     tell ─▶ drain, until all obey ─▶ last window, final books, sync ─▶ send

   Callers of FLUSH who still wait for the collector at the end hear that it is in the spool. */
#include "ending.h"
#include "switchboard.h"

#include "common/clock.h"
#include "common/log.h"
#include "targets/switch.h"

#include <event2/event.h>

#define OBEY_NS NS_PER_SECOND
#define SEND_NS (3 * NS_PER_SECOND)

_Static_assert(OBEY_NS + SEND_NS <= ENDING_MS_MAX * NS_PER_MS, "what the header promises");

void ending_begin(struct worker *worker) {
  static const struct timeval soon = {0, 1000};
  if (worker->stop_by_ns != 0) return;
  worker->obey_by_ns = clock_monotonic_ns() + OBEY_NS;
  worker->stop_by_ns = worker->obey_by_ns + SEND_NS;
  switchboard_end(worker);
  event_add(worker->tick, &soon);
}

static uint32_t count_timers_left(const struct worker *worker) {
  uint32_t left = 0;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    const struct target *target = worker->targets.rows[row];
    if (target != NULL && target->held.control == RING_OFF) left += switch_timers_left(target);
  }
  return left;
}

/* True until all have obeyed, or have had their time. */
static bool waits_for_programs(struct worker *worker, uint64_t now) {
  drain_run(&worker->drain);
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++)
    if (worker->targets.rows[row] != NULL) switch_step(worker->targets.rows[row]);
  uint32_t left = count_timers_left(worker);
  if (left == 0) return false;
  if (now < worker->obey_by_ns) return true;
  log_info("ending: %u timers of programs that used no CPU time stay, and record nothing", left);
  return false;
}

static void close_books(struct worker *worker, uint64_t now) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++)
    if (worker->targets.rows[row] != NULL) switch_take_back(worker->targets.rows[row]);
  worker_close_last_window(worker);
  spool_sync(worker->spool, true);
  worker->obey_by_ns = 0;
  worker->stop_by_ns = now + SEND_NS;
}

/* There is something to send, somebody who takes it, and time. */
static bool waits_for_collector(const struct worker *worker) {
  struct uplink_figures uplink;
  struct spool_figures spool;
  uplink_figures(worker->uplink, &uplink);
  spool_figures(worker->spool, &spool);
  return clock_monotonic_ns() < worker->stop_by_ns && spool.entries > 0 && uplink.is_connected;
}

bool ending_step(struct worker *worker) {
  uint64_t now = clock_monotonic_ns();
  if (worker->obey_by_ns != 0) {
    if (waits_for_programs(worker, now)) return false;
    close_books(worker, now);
  }
  flush_check(worker);
  if (waits_for_collector(worker)) return false;
  flush_end(worker);
  return true;
}
