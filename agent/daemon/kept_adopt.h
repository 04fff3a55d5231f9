/* SPDX-License-Identifier: Apache-2.0 */
/* Adopts histograms and recorders that outlived their daemon. */
#ifndef DAEMON_KEPT_ADOPT_H
#define DAEMON_KEPT_ADOPT_H

#include "worker.h"

/* Makes a target of each file in the state directory that a program of an earlier daemon still
   writes, under a name of this run.  Files that cannot be adopted are left, and the reason is
   logged.  Call once, after kept_ship_settle and before any registration. */
void kept_adopt(struct worker *worker);

#endif
