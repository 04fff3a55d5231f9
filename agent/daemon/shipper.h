/* SPDX-License-Identifier: Apache-2.0 */
/* Closes the window: window -> batch -> bytes -> spool, booked. */
#ifndef DAEMON_SHIPPER_H
#define DAEMON_SHIPPER_H

#include "drain/drain.h"
#include "spool/profile_file.h"
#include "spool/spool.h"

struct shipper {
  struct drain *drain;
  struct spool *spool;
  struct profile_file *file; /* batches go there instead of to the spool, or NULL */
  void (*tell)(void *context, struct effort *ret); /* what is news of the cost, or NULL */
  /* Hears of each batch that was spooled, and of one that was not (seq 0); or NULL. */
  void (*on_batch)(void *context, uint64_t seq);
  void *teller;                  /* the context of both */
  uint64_t batches, new_modules; /* modules that no earlier batch of this worker had */
  int last_error;                /* of the last batch, 0 when it was spooled */
  int lost_error;                /* of the last window that could not be written, for ever */
  uint32_t ends;                 /* targets that ended in the open window */
  uint64_t ends_shipped_ns;      /* CLOCK_MONOTONIC: when a window with ends was closed last */
  uint8_t seen_modules[MODULES_MAX / 8];
};

/* Books what the spool knows and the books do not: the dead worker's last batch, and what was in
   its window.  Call once, after drain_recover. */
void shipper_recover(struct shipper *shipper);

/* Writes down for the next worker how much of what is shipped dies with this one. */
void shipper_note_unsaved(const struct shipper *shipper);

/* Whether batch SEQ of RUN is known to have been appended; run 0 stands for none. */
bool shipper_has_spooled(const struct shipper *shipper, uint64_t run, uint64_t seq);

/* Spools the open window as one batch when it holds anything.  With IS_FINAL the run's books are
   closed, also by an empty batch.  Returns 0, or -errno when it is lost; that is already counted.
   Sweeps processes and modules. */
int shipper_close_window(struct shipper *shipper, bool is_final);

/* TARGET has ended, all that is known of it is in the open window: it may be forgotten. */
void shipper_end_target(struct shipper *shipper, uint32_t target);
/* Closes the window when that is due because of those that have ended.  Returns whether it was. */
bool shipper_ship_ends(struct shipper *shipper);

/* Spools BATCH, which is none of the window's but of a ring that was left, and books its records as
   produced and shipped; the window must be closed.  Returns 0, or -errno: then nothing is booked.
 */
int shipper_ship_apart(struct shipper *shipper, struct batch *batch);

/* Of a batch that was shipped apart: whose it was is known now. */
void shipper_tell_batch(const struct shipper *shipper);

/* Closes the books of an earlier run, in OLD and with an empty final batch; doing it again says the
   same again.  Returns 0 or -errno. */
int shipper_close_old_run(struct shipper *shipper, struct counter_page *old);

#endif
