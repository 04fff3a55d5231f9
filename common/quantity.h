/* SPDX-License-Identifier: Apache-2.0 */
/* A number with a unit, as users write it: 512K, 1.5h, 0.5%; and the printing of a rate. */
#ifndef COMMON_QUANTITY_H
#define COMMON_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

struct quantity_unit {
  const char *name; /* "" if the number may stand alone */
  uint64_t factor;
};

/* Reads TEXT completely as digits, up to three decimals, and the name of one of UNITS. Returns 0
   with number times factor in RET, -EINVAL for other text, -EOVERFLOW if the result does not fit.
   Any thread. */
int quantity_parse(const char *text, const struct quantity_unit *units, size_t unit_count,
                   uint64_t *ret);

enum { QUANTITY_TEXT_BYTES = 24 };

/* Writes NUMBER (a rate, 0.1 or more) for display into TEXT, which is returned: four digits, or all
   before the point; no exponent.  Any thread. */
const char *quantity_print(double number, char text[QUANTITY_TEXT_BYTES]);

/* Reads decimal digits at *TEXT and advances it. Returns 0, -EINVAL if there are none, -EOVERFLOW.
   Any thread. */
int quantity_parse_digits(const char **text, uint64_t *ret);

#endif
