/* SPDX-License-Identifier: Apache-2.0 */
/* The programs in a daemon's status, for people. */
#ifndef CLI_STATUS_PROGRAMS_H
#define CLI_STATUS_PROGRAMS_H

#include <stdio.h>

struct cJSON;

/* Prints one row a program that is sampled, then one for each that `run` chose a sampler for and
   that is not sampled now. */
void status_programs_print(const struct cJSON *status, FILE *out);

#endif
