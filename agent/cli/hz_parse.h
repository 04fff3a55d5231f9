/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a sampling rate. */
#ifndef CLI_HZ_PARSE_H
#define CLI_HZ_PARSE_H

#include <stdint.h>

enum { HZ_MHZ_MIN = 100, HZ_MAX = 10000 };

#define HZ_WANTED "a number between 0.1 and 10000"

/* "99" or "99.5" -> thousandths of a hertz; 0 if TEXT is not a number in range.  Pure. */
uint32_t hz_parse(const char *text);

#endif
