/* SPDX-License-Identifier: Apache-2.0 */
/* Places windows in time.

   A board's wall clock may start in 1970 and jump; its time since boot is steady. So a window of
   the session's current boot is placed by time since boot plus an offset to the collector's clock,
   taken when the board sent both. The offset is too large by the message's transit time: a ping
   waits behind batches, half a minute of them on a slow line. So the smallest offset of a session
   is the most accurate, and it grows only as fast as two clocks may drift apart:

     heard     |      x        x
               |  x       x         x  x
     believed  | ______________________________ x: where the collector's clock was set forward

   A step of the collector's clock is detected at once, against its own time since boot. A step of
   seconds or more is applied with the next batch, a smaller step with the next ping.

   A window of an earlier boot is from the spool. The board kept the offset of that boot, if it was
   known (agent/uplink/boot_times.c), and sends it in Hello. For a boot that never knew the time
   there are two fallbacks. Its own wall clock is used if it is plausible: not before this program
   existed, not in the future, not before earlier boots nor after later ones. Otherwise the boot is
   placed right before the next boot, the latest possible time. Its windows are as far apart as they
   were, and are marked as of unknown time. If a board sends no data about its boots, the window is
   placed at the current time: late, but not lost.

   Since the offset includes the transit time of Hello, a window may seem to end a little in the
   future; it is moved to end now. A window lasts a millisecond at least, so that a query right
   after the ack, up to now, finds it.

   All numbers are untrusted. Sums that would overflow are not made, windows longer than a day are
   cut to their last day, and clocks more than a day ahead are ignored. */
#include "placement.h"

#include "common/clock.h"
#include "common/sums.h"

#include <string.h>

#define DAY_NS (24 * 3600 * NS_PER_SECOND)

/* How fast the offset may grow: the kernel's limit for slewing a clock, and more than crystals
   drift. */
#define DRIFT_PPM 500
#define PPM 1000000

/* No ping is in transit for so long (at 2000 bytes a second, behind 600 KB). A larger difference
   means that one of the clocks was stepped. */
#define STEP_NS (300 * NS_PER_SECOND)

/* The clocks agree if a slow link explains their difference. */
#define SYNCED_WITHIN_NS (2 * NS_PER_SECOND)

/* Tolerance for a wall clock against the times of other boots. */
#define BOUND_SLACK_NS (120 * NS_PER_SECOND)

/* Computes from the offset when the board read both clocks, and compares that with its wall
   clock. */
static void learn(struct placement *placement, uint64_t boottime_ns, uint64_t walltime_ns) {
  placement->board_ns = walltime_ns;
  uint64_t then_ns = placement->offset_ns + boottime_ns;
  uint64_t apart_ns = then_ns > walltime_ns ? then_ns - walltime_ns : walltime_ns - then_ns;
  placement->is_synced = placement->is_known && apart_ns <= SYNCED_WITHIN_NS;
}

static void learn_own(struct placement *placement, uint64_t walltime_ns, uint64_t our_ns) {
  bool is_plausible = walltime_ns >= CLOCK_PLAUSIBLE_NS && walltime_ns < PLACEMENT_FAR_NS;
  if (placement->own_ns != 0 || !is_plausible) return;
  placement->own_ns = walltime_ns;
  placement->own_our_ns = our_ns;
}

void placement_learn(struct placement *placement, const struct hello *hello, uint64_t now_ns,
                     uint64_t our_ns) {
  learn_own(placement, hello->walltime_ns, our_ns);
  now_ns = placement_now(placement, now_ns, our_ns);
  memcpy(placement->boot_id, hello->boot_id, sizeof placement->boot_id);
  placement->is_known = hello->boottime_ns <= now_ns;
  placement->offset_ns = placement->is_known ? now_ns - hello->boottime_ns : 0;
  placement->learnt_ns = now_ns;
  placement->our_ns = our_ns;
  learn(placement, hello->boottime_ns, hello->walltime_ns);
}

void placement_relearn(struct placement *placement, const struct ping *ping, uint64_t now_ns,
                       uint64_t our_ns) {
  learn_own(placement, ping->walltime_ns, our_ns);
  now_ns = placement_now(placement, now_ns, our_ns);
  if (ping->boottime_ns > now_ns) return; /* implausible: ignored */
  uint64_t heard_ns = now_ns - ping->boottime_ns;
  uint64_t passed_ns = our_ns - placement->our_ns;
  uint64_t set_ns = now_ns - placement->learnt_ns - passed_ns; /* negative steps wrap around */
  uint64_t most_ns = placement->offset_ns + set_ns + passed_ns / PPM * DRIFT_PPM;
  bool is_late = placement->is_known && heard_ns > most_ns && heard_ns - most_ns < STEP_NS;
  placement->offset_ns = is_late ? most_ns : heard_ns;
  placement->is_known = true;
  placement->learnt_ns = now_ns;
  placement->our_ns = our_ns;
  learn(placement, ping->boottime_ns, ping->walltime_ns);
}

void placement_follow(struct placement *placement, uint64_t now_ns, uint64_t our_ns) {
  uint64_t passed_ns = our_ns - placement->our_ns;
  int64_t set_ns = (int64_t)(now_ns - placement->learnt_ns - passed_ns);
  if (!placement->is_known || our_ns < placement->our_ns) return;
  if (set_ns > -(int64_t)SYNCED_WITHIN_NS && set_ns < (int64_t)SYNCED_WITHIN_NS) return;
  placement->offset_ns += (uint64_t)set_ns; /* may wrap: a clock before the boot */
  placement->learnt_ns += (uint64_t)set_ns;
}

uint64_t placement_now(const struct placement *placement, uint64_t now_ns, uint64_t our_ns) {
  bool is_boards =
      now_ns < CLOCK_PLAUSIBLE_NS && placement->own_ns != 0 && our_ns >= placement->own_our_ns;
  return is_boards ? sum_of(placement->own_ns, our_ns - placement->own_our_ns) : now_ns;
}

const char *placement_clock(const struct placement *placement) {
  if (!placement->is_known) return "unknown";
  return placement->is_synced ? "synced" : "estimated";
}

static bool is_plausible(uint64_t start_ns, uint64_t end_ns, uint64_t now_ns) {
  return start_ns <= end_ns && start_ns >= CLOCK_PLAUSIBLE_NS && end_ns <= sum_of(now_ns, DAY_NS);
}

struct span_ns {
  uint64_t start, end;
};

static struct placed place(struct span_ns window, uint64_t now_ns, const char *clock) {
  uint64_t ahead_ns = window.end > now_ns ? window.end - now_ns : 0;
  if (window.end - window.start > DAY_NS) window.start = window.end - DAY_NS;
  struct placed placed = {(window.start - ahead_ns) / NS_PER_MS,
                          (window.end - ahead_ns) / NS_PER_MS, clock};
  if (placed.start_ms == placed.end_ms) placed.start_ms--;
  return placed;
}

void placement_earlier(const struct placement *placement, const struct hello *hello,
                       uint64_t now_ns, struct earlier_boot *ret) {
  uint64_t next_ns = placement->is_known ? placement->offset_ns : now_ns;
  for (uint32_t i = hello->boot_count; i-- > 0;) {
    const struct boot_time *told = &hello->boots[i];
    struct earlier_boot *boot = &ret[i];
    *boot = (struct earlier_boot){.offset_ns = told->offset_ns, .latest_ns = next_ns};
    memcpy(boot->id, told->boot_id, sizeof boot->id);
    boot->is_bound = told->offset_ns == 0;
    if (boot->is_bound) boot->offset_ns = next_ns > told->alive_ns ? next_ns - told->alive_ns : 0;
    next_ns = boot->offset_ns;
  }
  uint64_t earliest_ns = 0;
  for (uint32_t i = 0; i < hello->boot_count; i++) {
    ret[i].earliest_ns = earliest_ns;
    uint64_t end_ns = ret[i].offset_ns + hello->boots[i].alive_ns; /* both are below 2^63 */
    if (!ret[i].is_bound && end_ns > earliest_ns) earliest_ns = end_ns;
  }
}

static bool is_same_boot(const struct placement *placement, const struct batch *batch) {
  return placement->is_known &&
         memcmp(placement->boot_id, batch->boot_id, sizeof placement->boot_id) == 0;
}

static const struct earlier_boot *find_earlier(const struct placement *placement,
                                               const struct batch *batch) {
  for (uint32_t i = 0; i < placement->earlier_count; i++)
    if (memcmp(placement->earlier[i].id, batch->boot_id, sizeof batch->boot_id) == 0)
      return &placement->earlier[i];
  return NULL;
}

/* Moves WINDOW, in time since boot, by OFFSET_NS. Returns false, without a change, if the result is
   implausible. */
static bool move(struct span_ns *window, uint64_t offset_ns, uint64_t now_ns) {
  if (window->start > window->end || window->end > UINT64_MAX - offset_ns) return false;
  struct span_ns moved = {window->start + offset_ns, window->end + offset_ns};
  if (!is_plausible(moved.start, moved.end, now_ns)) return false;
  *window = moved;
  return true;
}

/* Returns whether the window WALL, by the board's own wall clock, is plausible. */
static bool is_believed(const struct span_ns *wall, const struct earlier_boot *boot,
                        uint64_t now_ns) {
  if (!is_plausible(wall->start, wall->end, now_ns)) return false;
  return boot == NULL || (wall->start + BOUND_SLACK_NS >= boot->earliest_ns &&
                          wall->end <= sum_of(boot->latest_ns, BOUND_SLACK_NS));
}

uint64_t placement_boot_ns(const struct placement *placement, const struct batch *batch,
                           uint64_t our_ns) {
  if (!is_same_boot(placement, batch) || our_ns < placement->our_ns) return UINT64_MAX;
  uint64_t heard_ns = placement->learnt_ns - placement->offset_ns;
  uint64_t passed_ns = our_ns - placement->our_ns;
  return sum_of(sum_of(heard_ns, passed_ns), DAY_NS);
}

struct placed placement_of(const struct placement *placement, const struct batch *batch,
                           uint64_t now_ns) {
  struct span_ns window = {batch->start_boottime_ns, batch->end_boottime_ns};
  struct span_ns wall = {batch->start_walltime_ns, batch->end_walltime_ns};
  uint64_t length_ns = window.start <= window.end ? window.end - window.start : 0;
  if (is_same_boot(placement, batch) && move(&window, placement->offset_ns, now_ns))
    return place(window, now_ns, placement_clock(placement));
  const struct earlier_boot *boot = find_earlier(placement, batch);
  if (boot != NULL && !boot->is_bound && move(&window, boot->offset_ns, now_ns))
    return place(window, now_ns, "estimated");
  if (is_believed(&wall, boot, now_ns)) return place(wall, now_ns, "estimated");
  if (boot != NULL && boot->is_bound && move(&window, boot->offset_ns, now_ns))
    return place(window, now_ns, "unknown");
  if (length_ns > DAY_NS) length_ns = DAY_NS;
  return place((struct span_ns){now_ns - length_ns, now_ns}, now_ns, "unknown");
}
