/* SPDX-License-Identifier: Apache-2.0 */
/* Ships what recorders and histograms kept of processes that are gone, each once. */
#ifndef DAEMON_KEPT_SHIP_H
#define DAEMON_KEPT_SHIP_H

#include "shipper.h"

/* What became of one. */
struct kept_shipped {
  uint64_t records, weight_ns; /* 0: it kept nothing, or was shipped before */
};

/* Ships what the recorder or histogram in FD kept, in a batch of its own, after the open window;
   what was shipped already, also by a worker that was killed right then, is not shipped again.
   Returns 0, -EBADMSG or -EPROTO for what cannot be read, or -errno when the spool took nothing. */
int kept_ship(struct shipper *shipper, int fd, struct kept_shipped *ret);

/* The same for the recorder TARGET, whose program is gone, once; its file is removed.  What the
   spool did not take stays for kept_ship_left when it is a file, else it is lost and counted. */
void kept_ship_target(struct shipper *shipper, const char *state_dir, struct target *target);

/* Finds out which batches that dead daemons had announced came to be.  Once, before anything is
   spooled or sent: the spool knows it only until then. */
void kept_ship_settle(struct shipper *shipper, const char *state_dir);

/* Ships and removes the files in STATE_DIR of programs that no target stands for any more: of other
   boots, of daemons that are gone.  Those whose program still lives wait. */
void kept_ship_left(struct shipper *shipper, const char *state_dir);

#endif
