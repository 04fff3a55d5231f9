/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as people read them, rounded. */
#ifndef CLI_AMOUNT_H
#define CLI_AMOUNT_H

#include <stdio.h>

enum { AMOUNT_BYTES = 32 };

/* "3.4 MiB" and "12 min" in AMOUNT, which is returned. */
const char *amount_bytes(double bytes, char amount[AMOUNT_BYTES]);
const char *amount_time(double seconds, char amount[AMOUNT_BYTES]);

/* Prints "1 sample", "2 samples", "2 batches". */
void amount_print_count(double count, const char *noun, FILE *out);

#endif
