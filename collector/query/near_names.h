/* SPDX-License-Identifier: Apache-2.0 */
/* "There is no function of that name: did you mean...?"  Pure. */
#ifndef QUERY_NEAR_NAMES_H
#define QUERY_NEAR_NAMES_H

#include "view/view.h"

enum { NEAR_NAMES_MAX = 3 };

/* Fills RET with the names of FUNCTIONS (from index 1 on) that are most like WANTED, the best
   first, each once.  Returns how many there are; past CUTOFF (NULL: none) of those looked at. */
unsigned near_names_find(const struct view_function *functions, uint32_t count, const char *wanted,
                         const struct cutoff *cutoff, const char *ret[NEAR_NAMES_MAX]);

#endif
