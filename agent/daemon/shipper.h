/* SPDX-License-Identifier: Apache-2.0 */
/* Closes the window: window -> batch -> bytes -> spool, with accounting. */
#ifndef DAEMON_SHIPPER_H
#define DAEMON_SHIPPER_H

#include "drain/drain.h"
#include "spool/profile_file.h"
#include "spool/spool.h"

struct shipper {
  struct drain *drain;
  struct spool *spool;
  struct profile_file *file; /* batches go there instead of to the spool, or NULL */
  void (*tell)(void *context, struct effort *ret); /* sets changes of the cost; or NULL */
  /* Called for each spooled batch, and with seq 0 for a lost one; or NULL. */
  void (*on_batch)(void *context, uint64_t seq);
  void *teller;                  /* the context of both */
  uint64_t batches, new_modules; /* modules that no earlier batch of this worker had */
  int last_error;                /* of the last batch, 0 if it was spooled */
  int lost_error;                /* of the last window that could not be written; never reset */
  uint32_t ends;                 /* targets that ended in the open window */
  uint64_t ends_shipped_ns;      /* CLOCK_MONOTONIC: when a window with ends was closed last */
  uint8_t seen_modules[MODULES_MAX / 8];
};

/* Accounts for records that the spool has and the counters lack: the killed worker's last batch,
   and its open window.  Call once, after drain_recover. */
void shipper_recover(struct shipper *shipper);

/* Records for the next worker how many shipped records would be lost with this one. */
void shipper_note_unsaved(const struct shipper *shipper);

/* Returns whether batch SEQ of RUN is known to have been appended; false for run 0. */
bool shipper_has_spooled(const struct shipper *shipper, uint64_t run, uint64_t seq);

/* Spools the open window as one batch, unless it is empty.  With IS_FINAL, closes the run's
   counters, if necessary by an empty batch.  Returns 0, or -errno if it is lost, which is already
   counted.  Sweeps processes and modules. */
int shipper_close_window(struct shipper *shipper, bool is_final);

/* TARGET has ended and all its data is in the open window: it may be forgotten. */
void shipper_end_target(struct shipper *shipper, uint32_t target);
/* Closes the window if that is due because of ended targets.  Returns whether it was. */
bool shipper_ship_ends(struct shipper *shipper);

/* Spools BATCH, which comes from an abandoned ring and not from the window, and counts its records
   as produced and shipped.  The window must be closed.  Returns 0, or -errno: then nothing is
   counted. */
int shipper_ship_apart(struct shipper *shipper, struct batch *batch);

/* Calls on_batch for a batch that was shipped apart, once its owner is known. */
void shipper_tell_batch(const struct shipper *shipper);

/* Closes the accounting of an earlier run, in OLD and with an empty final batch. Idempotent.
   Returns 0 or -errno. */
int shipper_close_old_run(struct shipper *shipper, struct counter_page *old);

#endif
