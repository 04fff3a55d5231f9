/* SPDX-License-Identifier: Apache-2.0 */
/* Where a batch belongs in time, by the collector's clock.  Pure. */
#ifndef INGEST_PLACEMENT_H
#define INGEST_PLACEMENT_H

#include "proto/messages.h"

/* What one session knows of its board's clocks.  All-zero: nothing. */
struct placement {
  uint8_t boot_id[BATCH_BOOT_ID_BYTES];
  uint64_t offset_ns; /* our wall clock minus the board's time since boot */
  bool is_known;
  bool is_synced; /* the board's own wall clock agrees with ours */
};

struct placed {
  uint64_t start_ms, end_ms;
  const char *clock; /* "synced", "estimated" or "unknown" */
};

/* Learns from what a board said at NOW_NS, our wall clock. */
void placement_learn(struct placement *placement, const struct hello *hello, uint64_t now_ns);

/* Learns anew from a ping of the same boot. */
void placement_relearn(struct placement *placement, const struct ping *ping, uint64_t now_ns);

/* The word for what is known. */
const char *placement_clock(const struct placement *placement);

/* Places BATCH, which arrived at NOW_NS. */
struct placed placement_of(const struct placement *placement, const struct batch *batch,
                           uint64_t now_ns);

#endif
