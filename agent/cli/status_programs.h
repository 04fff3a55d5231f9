/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the programs of a daemon's status. */
#ifndef CLI_STATUS_PROGRAMS_H
#define CLI_STATUS_PROGRAMS_H

#include <stdio.h>

struct cJSON;

/* Prints one row for each sampled program, then one for each launch record without a sampled
   program. */
void status_programs_print(const struct cJSON *status, FILE *out);

#endif
