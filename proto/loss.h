/* SPDX-License-Identifier: Apache-2.0 */
/* The reason why a record was not counted. The numbers are sent on the wire and are never reused;
   the names are those of the loss answer (`dropped: {reason: count}`). */
#ifndef PROTO_LOSS_H
#define PROTO_LOSS_H

#include <stdint.h>

#define LOSS_REASONS(X)                                                                         \
  X(RING_FULL, "ring_full")         /* the daemon was too slow for the ring */                  \
  X(REENTRY, "reentry")             /* a signal inside the handler */                           \
  X(WORKER_KILLED, "worker_killed") /* in the window of a worker that died, or of its events */ \
  X(WINDOW_FULL, "window_full")     /* more stacks in one window than a batch may hold */       \
  X(SPOOL_FULL, "spool_full")       /* oldest batches were evicted for newer ones */            \
  X(SPOOL_ERROR, "spool_error")     /* the disk refused the batch */                            \
  X(SPOOL_CORRUPT, "spool_corrupt") /* a spooled batch did not read back */                     \
  X(REJECTED, "rejected")           /* the collector rejected the batch permanently */          \
  X(BAD_RECORD, "bad_record")       /* an invalid ring record */                                \
  X(RUN_ENDED, "run_ended")         /* a run ended without final counters */                    \
  X(QUOTA, "quota")                 /* the collector rejected the batch: a quota of the board */

enum loss_reason {
#define X(reason, name) LOSS_##reason,
  LOSS_REASONS(X)
#undef X
      LOSS_REASON_COUNT
};

/* A run's counters, in records, cumulative since the run began: produced = shipped + sum of dropped
   + records in the open window. */
struct counters {
  uint64_t run;
  uint64_t produced;
  uint64_t shipped; /* in batches that were spooled */
  uint64_t dropped[LOSS_REASON_COUNT];
  uint32_t final; /* 1: the run has ended */
};

/* Returns the name of REASON, or "unknown" for a number from a newer peer.  Any thread. */
const char *loss_name(unsigned reason);

/* Returns the sum of all dropped records.  Any thread. */
uint64_t loss_total(const struct counters *counters);

#endif
