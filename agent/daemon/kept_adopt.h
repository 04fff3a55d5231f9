/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms and recorders that go on when their daemon ends have the next one's care. */
#ifndef DAEMON_KEPT_ADOPT_H
#define DAEMON_KEPT_ADOPT_H

#include "worker.h"

/* Makes a target of each file in the state directory that a program of an earlier daemon still
   writes into, under a name of this run.  What cannot be taken on stays as it is, and the log says
   why.  Once, after kept_ship_settle and before anybody else may register. */
void kept_adopt(struct worker *worker);

#endif
