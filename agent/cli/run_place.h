/* SPDX-License-Identifier: Apache-2.0 */
/* Which of several runs of one name at once a run is. */
#ifndef CLI_RUN_PLACE_H
#define CLI_RUN_PLACE_H

#include <stddef.h>

enum { RUN_PLACES = 64 }; /* of one name at once; each but the first is a series of its own */

/* Takes the first place from 1 to RUN_PLACES that no run of this machine holds whose daemon
   (SOCKET), SERVICE and LABELS are the same, until this process ends.  Returns it, or 0 when all
   are taken or it cannot be told. */
unsigned run_place_take(const char *socket, const char *service, const char *labels);

/* Writes LABELS ("k=v", one a line, LEN bytes of room with the NUL) with the label that says PLACE:
   none of the first, so that a run alone is what it was given.  Where no room is left it is not
   said. */
void run_place_label(unsigned place, char *labels, size_t len);

#endif
