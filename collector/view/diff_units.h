/* SPDX-License-Identifier: Apache-2.0 */
/* A user-defined unit for CPU time, for example requests or frames. */
#ifndef VIEW_DIFF_UNITS_H
#define VIEW_DIFF_UNITS_H

#include "diff_options.h"

enum { DIFF_UNITS_NAME_MAX = 32 };

/* Its three settings; also the index of a table of error messages. */
enum diff_units_part { DIFF_UNITS_NAME, DIFF_UNITS_A, DIFF_UNITS_B, DIFF_UNITS_PARTS };

/* Parses TEXTS, indexed by enum diff_units_part, NULL if missing. If all are missing, RET is
   unchanged. RET borrows the name. Returns NULL, or a message about the part RET_PART. */
const char *diff_units_parse(const char *const texts[DIFF_UNITS_PARTS], struct view_units *ret,
                             enum diff_units_part *ret_part);

#endif
