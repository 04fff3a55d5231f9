/* SPDX-License-Identifier: Apache-2.0 */
/* The time of a batch, by the collector's clock. Pure. */
#ifndef INGEST_PLACEMENT_H
#define INGEST_PLACEMENT_H

#include "proto/messages.h"

/* 2100-01-01: no board's wall clock is believed from then on. */
#define PLACEMENT_FAR_NS (4102444800 * 1000000000ULL)

/* An earlier boot of the board, and its relation to wall time. */
struct earlier_boot {
  uint8_t id[BATCH_BOOT_ID_BYTES];
  uint64_t offset_ns;
  bool is_bound;                   /* the offset is an upper bound: it ended when the next began */
  uint64_t earliest_ns, latest_ns; /* bounds of its windows, by the times of other boots */
};

/* A session's data about its board's clocks. All-zero: unknown. */
struct placement {
  uint8_t boot_id[BATCH_BOOT_ID_BYTES];
  uint64_t offset_ns;  /* the collector's wall clock minus the board's time since boot */
  uint64_t learnt_ns;  /* the collector's wall clock when that was received */
  uint64_t our_ns;     /* its time since boot at that moment, which cannot be set */
  uint64_t board_ns;   /* the board's own wall clock at that moment */
  uint64_t own_ns;     /* its first plausible value in this session; 0: none */
  uint64_t own_our_ns; /* the collector's time since boot at that moment */
  bool is_known;
  bool is_synced; /* the board's own wall clock agrees with the collector's */
  uint32_t earlier_count;
  const struct earlier_boot *earlier; /* borrowed */
};

struct placed {
  uint64_t start_ms, end_ms;
  const char *clock; /* "synced", "estimated" or "unknown" */
};

/* Learns from HELLO, received at NOW_NS (the collector's wall clock) and OUR_NS (its time since
   boot). */
void placement_learn(struct placement *placement, const struct hello *hello, uint64_t now_ns,
                     uint64_t our_ns);

/* Relates the earlier boots in HELLO to wall time, as far as possible. Call it after
   placement_learn for the present boot. RET has HELLO's boot_count elements. */
void placement_earlier(const struct placement *placement, const struct hello *hello,
                       uint64_t now_ns, struct earlier_boot *ret);

/* Improves the offset with a ping of the same boot, whatever its transit time and changes of the
   collector's clock meanwhile. */
void placement_relearn(struct placement *placement, const struct ping *ping, uint64_t now_ns,
                       uint64_t our_ns);

/* Applies a step of the collector's wall clock, or a change of the boards' verdict on it: moves the
   offset along. The clock shows NOW_NS at OUR_NS since boot. */
void placement_follow(struct placement *placement, uint64_t now_ns, uint64_t our_ns);

/* Returns the time for the board of PLACEMENT: NOW_NS, or, if that is certainly wrong and the
   board's own clock was plausible in this session, the first such value plus the time since. So a
   board cannot move its time within a session. OUR_NS is the collector's time since boot. */
uint64_t placement_now(const struct placement *placement, uint64_t now_ns, uint64_t our_ns);

/* Returns the name of the clock's state. */
const char *placement_clock(const struct placement *placement);

/* Returns the longest time that BATCH's boot can have lasted, with a day of slack, if the
   collector's time since boot is OUR_NS. Returns UINT64_MAX if it is not the session's current
   boot. */
uint64_t placement_boot_ns(const struct placement *placement, const struct batch *batch,
                           uint64_t our_ns);

/* Places BATCH, which arrived at NOW_NS. */
struct placed placement_of(const struct placement *placement, const struct batch *batch,
                           uint64_t now_ns);

#endif
