/* SPDX-License-Identifier: Apache-2.0 */
/* Programs outlive their daemon, and no other daemon takes over a ring: only the daemon that
   created it uses it.  A timer would send signals until its program ends, for a ring that is never
   read.  So each sampled or paused program is set to OFF, as by the kill switch, and obeys at its
   next sample.

   At 99 Hz that takes 10 ms of CPU time, which most programs of a board use within seconds.  So the
   wait lasts while programs with timers still use CPU time; after OBEY_NS they are nudged
   (targets/switch.c).  It ends at once when all have obeyed.  A program that used less CPU time
   than a sample takes keeps a timer, and its handler finds the ring off and returns.  It is not
   allowed to delete the timer later: nothing would check any more whether it has entered a sandbox.
   Perf events are closed with the descriptors.

   A histogram or recorder in a file continues, and the next daemon adopts it (kept_adopt.c).

      tell ─▶ drain, until all obey ─▶ last window, final counters, sync ─▶ send

   FLUSH requests that still wait for the collector at the end are answered that the data is in the
   spool. */
#include "ending.h"
#include "switchboard.h"

#include "common/clock.h"
#include "common/log.h"
#include "targets/switch.h"

#include <event2/event.h>

#define OBEY_NS NS_PER_SECOND           /* for programs that use no CPU time */
#define OBEY_NS_MAX (5 * NS_PER_SECOND) /* for programs that use some */
#define SEND_NS (3 * NS_PER_SECOND)
#define ENDING_NS_MAX (ENDING_MS_MAX * NS_PER_MS)

_Static_assert(OBEY_NS_MAX < ENDING_NS_MAX, "there is time to send");

enum { TICK_MS = 20, TICK_PRESS_MS = 5 };

void ending_begin(struct worker *worker) {
  static const struct timeval soon = {0, 1000};
  if (worker->stop_by_ns != 0) return;
  worker->obey_by_ns = clock_monotonic_ns() + OBEY_NS_MAX;
  worker->stop_by_ns = worker->obey_by_ns - OBEY_NS_MAX + ENDING_NS_MAX;
  switchboard_end(worker);
  event_add(worker->tick, &soon);
}

/* All have had enough time for most programs. */
static bool is_time_to_press(const struct worker *worker, uint64_t now) {
  return worker->obey_by_ns != 0 && now + (OBEY_NS_MAX - OBEY_NS) >= worker->obey_by_ns;
}

static uint32_t count_timers_left(const struct worker *worker) {
  uint32_t left = 0;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++)
    if (worker->targets.rows[row] != NULL) left += switch_timers_left(worker->targets.rows[row]);
  return left;
}

/* True while a program may still obey. */
static bool press(struct worker *worker) {
  bool is_hopeful = false;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++)
    if (worker->targets.rows[row] != NULL) is_hopeful |= switch_press(worker->targets.rows[row]);
  return is_hopeful;
}

/* True until all have obeyed, or the time is up. */
static bool waits_for_programs(struct worker *worker, uint64_t now) {
  drain_run(&worker->drain);
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++)
    if (worker->targets.rows[row] != NULL) switch_step(worker->targets.rows[row]);
  uint32_t left = count_timers_left(worker);
  if (left == 0) return false;
  if (!is_time_to_press(worker, now)) return true;
  if (now < worker->obey_by_ns && press(worker)) return true;
  log_info("ending: %u timers stay, of programs that had less CPU time than a sample takes or may "
           "not delete them; they record nothing",
           left);
  return false;
}

static void close_books(struct worker *worker) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++)
    if (worker->targets.rows[row] != NULL) switch_take_back(worker->targets.rows[row]);
  worker_close_last_window(worker);
  spool_sync(worker->spool, true);
  worker->obey_by_ns = 0;
  uint64_t send_by_ns = clock_monotonic_ns() + SEND_NS;
  if (send_by_ns < worker->stop_by_ns) worker->stop_by_ns = send_by_ns;
}

/* There are batches to send, a connection, and time. */
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
    close_books(worker);
  }
  flush_check(worker);
  if (waits_for_collector(worker)) return false;
  flush_end(worker);
  return true;
}

long ending_tick_ms(const struct worker *worker) {
  return is_time_to_press(worker, clock_monotonic_ns()) ? TICK_PRESS_MS : TICK_MS;
}

bool ending_has_closed_books(const struct worker *worker) {
  return worker->stop_by_ns != 0 && worker->obey_by_ns == 0;
}
