/* SPDX-License-Identifier: Apache-2.0 */
/* Placing windows in time.

   A board's wall clock may start in 1970 and jump; its time since boot only goes on.  So a window
   of the boot that the session speaks for is placed by time since boot plus the offset to our
   clock, which was taken when the board said both.  A window of an earlier boot (from the spool)
   has only the board's own wall clock then: it is believed when it is plausible, and otherwise the
   window is placed where we stand now, which is late but never lost, and said to be so.

   What has arrived has happened: the offset holds the time that Hello was on its way, so a window
   may seem to end a little ahead of us; it is moved to end now.  And it lasts a millisecond at
   least, so that a question asked right after the ack, up to now, finds it.

   Every number here came from a peer: sums that would wrap are not made, windows longer than a day
   are cut to their last day, and clocks more than a day ahead are not believed. */
#include "placement.h"

#include "common/clock.h"

#include <string.h>

#define DAY_NS (24 * 3600 * NS_PER_SECOND)

/* The clocks agree when they differ by no more than a slow link explains. */
#define SYNCED_WITHIN_NS (2 * NS_PER_SECOND)

/* 2024-01-01: no board ran this program earlier. */
#define PLAUSIBLE_FROM_NS (1704067200 * NS_PER_SECOND)

static void learn(struct placement *placement, uint64_t boottime_ns, uint64_t walltime_ns,
                  uint64_t now_ns) {
  uint64_t apart_ns = now_ns > walltime_ns ? now_ns - walltime_ns : walltime_ns - now_ns;
  placement->is_known = boottime_ns <= now_ns;
  placement->offset_ns = placement->is_known ? now_ns - boottime_ns : 0;
  placement->is_synced = placement->is_known && apart_ns <= SYNCED_WITHIN_NS;
}

void placement_learn(struct placement *placement, const struct hello *hello, uint64_t now_ns) {
  memcpy(placement->boot_id, hello->boot_id, sizeof placement->boot_id);
  learn(placement, hello->boottime_ns, hello->walltime_ns, now_ns);
}

void placement_relearn(struct placement *placement, const struct ping *ping, uint64_t now_ns) {
  learn(placement, ping->boottime_ns, ping->walltime_ns, now_ns);
}

const char *placement_clock(const struct placement *placement) {
  if (!placement->is_known) return "unknown";
  return placement->is_synced ? "synced" : "estimated";
}

static bool is_plausible(uint64_t start_ns, uint64_t end_ns, uint64_t now_ns) {
  return start_ns <= end_ns && start_ns >= PLAUSIBLE_FROM_NS && end_ns <= now_ns + DAY_NS;
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

struct placed placement_of(const struct placement *placement, const struct batch *batch,
                           uint64_t now_ns) {
  uint64_t start_ns = batch->start_boottime_ns, end_ns = batch->end_boottime_ns;
  uint64_t offset_ns = placement->offset_ns;
  bool is_same_boot = placement->is_known &&
                      memcmp(placement->boot_id, batch->boot_id, sizeof placement->boot_id) == 0;
  if (is_same_boot && start_ns <= end_ns && end_ns <= UINT64_MAX - offset_ns &&
      is_plausible(start_ns + offset_ns, end_ns + offset_ns, now_ns))
    return place((struct span_ns){start_ns + offset_ns, end_ns + offset_ns}, now_ns,
                 placement_clock(placement));
  uint64_t length_ns = start_ns <= end_ns ? end_ns - start_ns : 0;
  start_ns = batch->start_walltime_ns, end_ns = batch->end_walltime_ns;
  if (is_plausible(start_ns, end_ns, now_ns))
    return place((struct span_ns){start_ns, end_ns}, now_ns, "estimated");
  if (length_ns > DAY_NS) length_ns = DAY_NS;
  return place((struct span_ns){now_ns - length_ns, now_ns}, now_ns, "unknown");
}
