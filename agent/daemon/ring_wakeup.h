/* SPDX-License-Identifier: Apache-2.0 */
/* Drains when a kernel ring is half full, whenever the next tick would be. */
#ifndef DAEMON_RING_WAKEUP_H
#define DAEMON_RING_WAKEUP_H

struct worker;

/* On WORKER's loop, once its rings are mapped.  Returns 0 or -ENOMEM.  Loop only. */
int ring_wakeup_start(struct worker *worker);

#endif
