/* SPDX-License-Identifier: Apache-2.0 */
/* Ships the data of recorders and histograms of ended processes, each once. */
#ifndef DAEMON_KEPT_SHIP_H
#define DAEMON_KEPT_SHIP_H

#include "shipper.h"

/* The result for one file. */
struct kept_shipped {
  uint64_t records, weight_ns; /* 0: it was empty, or shipped before */
};

/* Ships the data of the recorder or histogram in FD in its own batch, after the open window.  Data
   that was already shipped is not shipped again, even if the worker was killed just then.  Returns
   0, -EBADMSG or -EPROTO if it is unreadable, or -errno if the spool rejected it. */
int kept_ship(struct shipper *shipper, int fd, struct kept_shipped *ret);

/* As kept_ship, once, for the recorder of TARGET after its program's end; removes its file.  Data
   that the spool rejects is left to kept_ship_left if it is in a file, else it is lost and
   counted. */
void kept_ship_target(struct shipper *shipper, const char *state_dir, struct target *target);

/* Determines which batches announced by earlier daemons were completed.  Call once, before anything
   is spooled or sent: only until then the spool can answer. */
void kept_ship_settle(struct shipper *shipper, const char *state_dir);

/* Ships and removes the files in STATE_DIR that have no target: of other boots, or of earlier
   daemons.  Files of live programs are skipped. */
void kept_ship_left(struct shipper *shipper, const char *state_dir);

#endif
