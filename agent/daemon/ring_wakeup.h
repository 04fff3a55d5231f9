/* SPDX-License-Identifier: Apache-2.0 */
/* Drains a kernel ring when it is half full, independent of the tick. */
#ifndef DAEMON_RING_WAKEUP_H
#define DAEMON_RING_WAKEUP_H

struct worker;

/* Starts it on WORKER's loop; its rings must be mapped.  Returns 0 or -ENOMEM.  Loop only. */
int ring_wakeup_start(struct worker *worker);

#endif
