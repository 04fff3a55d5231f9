/* SPDX-License-Identifier: Apache-2.0 */
/* The unit that a user names for CPU time: requests, frames. */
#ifndef VIEW_DIFF_UNITS_H
#define VIEW_DIFF_UNITS_H

#include "diff_options.h"

enum { DIFF_UNITS_NAME_MAX = 32 };

/* Its three settings, and as a table's index of what is wrong. */
enum diff_units_part { DIFF_UNITS_NAME, DIFF_UNITS_A, DIFF_UNITS_B, DIFF_UNITS_PARTS };

/* Reads TEXTS, by enum diff_units_part, NULL where one is not given; without any RET is left as it
   is.  RET borrows the name.  Returns NULL; or what is wrong with the part RET_PART. */
const char *diff_units_parse(const char *const texts[DIFF_UNITS_PARTS], struct view_units *ret,
                             enum diff_units_part *ret_part);

#endif
