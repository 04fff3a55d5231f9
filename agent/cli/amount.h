/* SPDX-License-Identifier: Apache-2.0 */
/* Formats rounded numbers for display. */
#ifndef CLI_AMOUNT_H
#define CLI_AMOUNT_H

#include <stdio.h>

enum { AMOUNT_BYTES = 32 };

/* Write "3.4 MiB" or "12 min" to AMOUNT and return it. */
const char *amount_bytes(double bytes, char amount[AMOUNT_BYTES]);
const char *amount_time(double seconds, char amount[AMOUNT_BYTES]);

/* Prints "1 sample", "2 samples", "2 batches". */
void amount_print_count(double count, const char *noun, FILE *out);

#endif
