/* SPDX-License-Identifier: Apache-2.0 */
/* What time it is, on the word of more than one clock.

   Data is deleted for good by its age, and a clock can be wrong: a machine that comes up 40 days
   ahead would delete a month.  So the time for that is the earlier of two: this machine's wall
   clock, and the second latest of what boards have said.  One board alone confirms nothing,
   whatever its clock says.  Where fewer than two boards have a plausible clock, the wall clock
   counts once it has moved along with the time since boot for a day, restarts of the collector
   included.

   Data is placed by the wall clock, unless boards agree on another time: two or more within ten
   minutes of each other, and more than are of any other mind, where our clock counts as one.  A
   wall clock that boards have confirmed, and that did not jump since, is believed against them:
   theirs were set. */
#ifndef INGEST_TRUSTED_TIME_H
#define INGEST_TRUSTED_TIME_H

#include <stdbool.h>
#include <stdint.h>

enum trust_basis {
  TRUST_NOTHING, /* no time is known: now_ns is 0 */
  TRUST_STEADY,  /* the wall clock alone, steady for a day */
  TRUST_BOARDS,  /* two boards or more confirm the wall clock */
  TRUST_BEHIND,  /* the second latest of the boards, which is more than ten minutes earlier */
};

struct trusted_now {
  enum trust_basis basis;
  uint64_t now_ns;    /* since 1970, to delete by */
  uint64_t ahead_ns;  /* TRUST_BEHIND: how far the wall clock is ahead of that */
  uint64_t steady_ns; /* how long the wall clock has been steady */
  unsigned boards;    /* with a plausible clock, of those heard last */
};

enum { TRUST_BOOT_ID_BYTES = 16 };

/* State for the next collector (trusted_file.h).  Offsets are wall times less time since
   boot; all but LATEST_NS hold for one boot.  0: none. */
struct trusted_kept {
  uint8_t boot_id[TRUST_BOOT_ID_BYTES];
  uint64_t offset_ns, steady_since_ns; /* of our wall clock; since when it has been steady */
  uint64_t agreed_ns, confirmed_ns;    /* struct clock_word */
  uint64_t latest_ns;                  /* the last time that was trusted, since 1970 */
};

struct trusted_time;

/* Returns NULL when memory ran out. */
struct trusted_time *trusted_time_new(void);
void trusted_time_free(struct trusted_time *time);

/* Goes on from KEPT, at BOOT_NS of the boot BOOT_ID.  Once, before all else. */
void trusted_time_resume(struct trusted_time *time, const struct trusted_kept *kept,
                         const uint8_t boot_id[TRUST_BOOT_ID_BYTES], uint64_t boot_ns);

/* Sets the state to keep.  Returns whether it has changed much since the last time.  Any thread. */
bool trusted_time_keep(struct trusted_time *time, struct trusted_kept *ret);

/* What a board says holds until it says something else, or this machine starts anew: time since
   boot goes on whether the board is there or not.  BOARD, which has shown a certificate, says that
   it is WALLTIME_NS, at BOOT_NS of our time since boot.  Any thread. */
void trusted_time_hear(struct trusted_time *time, const char *board, uint64_t walltime_ns,
                       uint64_t boot_ns);

/* Whether it is too early to place batches of a board whose clock says WALLTIME_NS while ours says
   NOW_NS: boards agreed when this machine ran last, and since its start fewer than two have said
   the time.  For two minutes at most.  Any thread. */
bool trusted_time_is_early(struct trusted_time *time, uint64_t walltime_ns, uint64_t now_ns,
                           uint64_t boot_ns);

/* Our clocks say WALL_NS and BOOT_NS.  Call it every minute or so: it looks for jumps.  Any
   thread. */
struct trusted_now trusted_time_look(struct trusted_time *time, uint64_t wall_ns, uint64_t boot_ns);

/* The word of boards about the wall clock; each call above passes it to clock_hear.  Any thread.
 */
struct clock_word trusted_time_word(struct trusted_time *time);

#endif
