/* SPDX-License-Identifier: Apache-2.0 */
/* Where a batch belongs in time, by the collector's clock.  Pure. */
#ifndef INGEST_PLACEMENT_H
#define INGEST_PLACEMENT_H

#include "proto/messages.h"

/* An earlier boot of the board, as far as it can be tied to wall time. */
struct earlier_boot {
  uint8_t id[BATCH_BOOT_ID_BYTES];
  uint64_t offset_ns;
  bool is_bound;                   /* the offset is a guess: it ended as the next one began */
  uint64_t earliest_ns, latest_ns; /* when its windows can have been, by what is known of others */
};

/* What one session knows of its board's clocks.  All-zero: nothing. */
struct placement {
  uint8_t boot_id[BATCH_BOOT_ID_BYTES];
  uint64_t offset_ns; /* our wall clock minus the board's time since boot */
  uint64_t learnt_ns; /* our wall clock when that was heard */
  uint64_t our_ns;    /* and our time since boot, which nobody sets */
  uint64_t board_ns;  /* the board's own wall clock at that moment */
  bool is_known;
  bool is_synced; /* the board's own wall clock agrees with ours */
  uint32_t earlier_count;
  const struct earlier_boot *earlier; /* borrowed */
};

struct placed {
  uint64_t start_ms, end_ms;
  const char *clock; /* "synced", "estimated" or "unknown" */
};

/* Learns from what a board said at NOW_NS, our wall clock, which was OUR_NS after our boot. */
void placement_learn(struct placement *placement, const struct hello *hello, uint64_t now_ns,
                     uint64_t our_ns);

/* Ties the earlier boots that HELLO tells of to wall time, as far as may be, once PLACEMENT has
   learnt of the present one.  RET has HELLO's boot_count places. */
void placement_earlier(const struct placement *placement, const struct hello *hello,
                       uint64_t now_ns, struct earlier_boot *ret);

/* Learns more from a ping of the same boot, however long it was on its way, and however our wall
   clock was set meanwhile. */
void placement_relearn(struct placement *placement, const struct ping *ping, uint64_t now_ns,
                       uint64_t our_ns);

/* Our wall clock says NOW_NS at OUR_NS since our boot: an offset that was learnt before it was set,
   or before boards overruled it, moves along. */
void placement_follow(struct placement *placement, uint64_t now_ns, uint64_t our_ns);

/* Returns the time for the board of PLACEMENT, where ours is NOW_NS at OUR_NS since our boot.  A
   clock of ours that is certainly wrong gives way to the board's own, for this board alone, where
   that can be right. */
uint64_t placement_now(const struct placement *placement, uint64_t now_ns, uint64_t our_ns);

/* The word for what is known. */
const char *placement_clock(const struct placement *placement);

/* Returns how long BATCH's boot can have lasted by now, when our time since boot is OUR_NS, with a
   day to spare; UINT64_MAX where that boot is not the one that the session speaks for. */
uint64_t placement_boot_ns(const struct placement *placement, const struct batch *batch,
                           uint64_t our_ns);

/* Places BATCH, which arrived at NOW_NS. */
struct placed placement_of(const struct placement *placement, const struct batch *batch,
                           uint64_t now_ns);

#endif
