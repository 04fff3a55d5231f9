/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers concurrent runs of one name. */
#ifndef CLI_RUN_PLACE_H
#define CLI_RUN_PLACE_H

#include <stddef.h>

enum { RUN_PLACES = 64 }; /* concurrent runs of a name; each but the first is its own series */

/* Takes the lowest free place from 1 to RUN_PLACES until this process ends.  Places are shared by
   this machine's runs with the same daemon (SOCKET), SERVICE and LABELS.  Returns it, or 0 if all
   are taken or it cannot be determined. */
unsigned run_place_take(const char *socket, const char *service, const char *labels);

/* Appends the label of PLACE to LABELS ("k=v", one a line, LEN bytes of room with the NUL).  The
   first place has no label, so that a single run keeps its own labels.  The label is omitted if
   there is no room. */
void run_place_label(unsigned place, char *labels, size_t len);

#endif
