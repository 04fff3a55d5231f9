/* SPDX-License-Identifier: Apache-2.0 */
/* Room that the collector keeps for itself in its folder, as a file `reserve`: on a full disk it is
   given up, and a start can open its databases, which takes some pages, and delete what is old. */
#ifndef COLLECTOR_RESERVE_H
#define COLLECTOR_RESERVE_H

#include <stdbool.h>

/* Of a start: 32 KiB of WAL index for each database that is open, a dozen, and some pages of WAL.
   A 32nd of a small disk. */
enum { RESERVE_BYTES = 2 << 20, RESERVE_FRACTION = 32 };

/* Gives the reserve of DIR up when there is less room than it has.  Returns whether it did. */
bool reserve_release(const char *dir);

/* Makes the reserve of DIR when there is none and the room for it eight times over. */
void reserve_renew(const char *dir);

#endif
