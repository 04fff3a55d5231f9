/* SPDX-License-Identifier: Apache-2.0 */
/* The time, by the evidence of several clocks.

   Data is deleted permanently by its age, and a clock can be wrong: a machine that starts 40 days
   ahead would delete a month. So deletion uses the earliest of three times: this machine's wall
   clock, the second latest of the boards' clocks, and the time on which boards agree. One board
   alone confirms nothing. If fewer than two boards have a plausible clock and none have agreed, the
   wall clock counts once it has kept step with the time since boot for a day, restarts of the
   collector included.

   Data is placed by the wall clock, unless boards agree on another time. For that, two or more must
   be within ten minutes of each other, and more than agree on any other time. The collector's clock
   counts as one. Boards may echo the collector's clock, so that they confirm it says nothing
   against more boards that agree on another time. */
#ifndef INGEST_TRUSTED_TIME_H
#define INGEST_TRUSTED_TIME_H

#include <stdbool.h>
#include <stdint.h>

enum trust_basis {
  TRUST_NOTHING, /* the time is unknown: now_ns is 0 */
  TRUST_STEADY,  /* the wall clock alone, steady for a day */
  TRUST_BOARDS,  /* two boards or more confirm the wall clock */
  TRUST_BEHIND,  /* boards' time, more than ten minutes earlier */
};

struct trusted_now {
  enum trust_basis basis;
  uint64_t now_ns;    /* since 1970, to delete by */
  uint64_t ahead_ns;  /* TRUST_BEHIND: how far the wall clock is ahead of now_ns */
  uint64_t steady_ns; /* how long the wall clock has been steady */
  unsigned boards;    /* with a plausible clock, of those heard last */
  unsigned voiceless; /* boards without a vote: their clocks are before the last trusted time */
};

enum { TRUST_BOOT_ID_BYTES = 16 };

/* State for the next collector (trusted_file.h).  Offsets are wall times less time since
   boot; all but LATEST_NS hold for one boot.  0: none. */
struct trusted_kept {
  uint8_t boot_id[TRUST_BOOT_ID_BYTES];
  uint64_t offset_ns, steady_since_ns; /* of the wall clock; since when it has been steady */
  uint64_t agreed_ns, confirmed_ns;    /* struct clock_word */
  uint64_t latest_ns;                  /* the last trusted time, since 1970 */
};

struct trusted_time;

/* Returns NULL when memory ran out. */
struct trusted_time *trusted_time_new(void);
void trusted_time_free(struct trusted_time *time);

/* Resumes from KEPT, at BOOT_NS of the boot BOOT_ID. Call it once, before all other functions. */
void trusted_time_resume(struct trusted_time *time, const struct trusted_kept *kept,
                         const uint8_t boot_id[TRUST_BOOT_ID_BYTES], uint64_t boot_ns);

/* Sets the state to keep.  Returns whether it has changed much since the last time.  Any thread. */
bool trusted_time_keep(struct trusted_time *time, struct trusted_kept *ret);

/* Records that BOARD, which has presented a certificate, reported WALLTIME_NS at BOOT_NS of the
   collector's time since boot. It is a vote for 15 minutes, and a bound for deletion until two
   boards are heard, BOARD is forgotten or this machine restarts. Any thread. */
void trusted_time_hear(struct trusted_time *time, const char *board, uint64_t walltime_ns,
                       uint64_t boot_ns);

/* Forgets what BOARD, which is revoked, has reported. Any thread. */
void trusted_time_forget(struct trusted_time *time, const char *board);

/* Returns whether it is too early to place batches of a board whose clock shows WALLTIME_NS while
   the collector's shows NOW_NS. That is so if boards agreed when this machine ran last, and do not
   agree with that clock since its start. True for two minutes at most. Any thread. */
bool trusted_time_is_early(struct trusted_time *time, uint64_t walltime_ns, uint64_t now_ns,
                           uint64_t boot_ns);

/* Evaluates the clocks, which show WALL_NS and BOOT_NS. Call it about every minute: it looks for
   jumps. If boards agreed before this machine's start, nothing is trusted for two minutes. Any
   thread. */
struct trusted_now trusted_time_look(struct trusted_time *time, uint64_t wall_ns, uint64_t boot_ns);

/* Returns the boards' verdict on the wall clock; each function above passes it to clock_hear. Any
   thread. */
struct clock_word trusted_time_word(struct trusted_time *time);

#endif
