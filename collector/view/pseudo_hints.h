/* SPDX-License-Identifier: Apache-2.0 */
/* What helps where time is in a pseudo function: [kernel], [unsampled] or [rest]. */
#ifndef VIEW_PSEUDO_HINTS_H
#define VIEW_PSEUDO_HINTS_H

#include "view.h"

/* Rows of weight that is in no function: by clocks alone. */
#define PSEUDO_KERNEL "[kernel]"
#define PSEUDO_UNSAMPLED "[unsampled]"
#define PSEUDO_REST "[rest]" /* samples at the lightest of more nodes than an answer reads */

/* Whether the weight of the row NAME may belong to any function: [unsampled], samples without a
   known place, those that a full window had no room for, and those that an answer has not. */
bool pseudo_is_placeless(const char *name);

/* Returns the weight of [kernel] that a clock measured, without samples, beside samples of [kernel]
   too.  Any function of TREE may have called it. */
wide_sum pseudo_kernel_weight(const struct view_tree *tree);

/* Sets of samplers; an empty one: not known. */
enum { HINT_PERF = 1, HINT_TIMER = 2, HINT_SAMPLERS = 4 };

/* One line on how the functions behind [kernel] can be seen, or NULL: [kernel] is less than a tenth
   of TREE's time, or is what remains beside the kernel's functions. */
const char *pseudo_hints_kernel(const struct view_tree *tree);

/* One line on what is in [rest] and how it can be seen; NULL where TREE has none. */
const char *pseudo_hints_rest_meaning(void);
const char *pseudo_hints_rest(const struct view_tree *tree);

/* One line on what hides the time in [unsampled] from SAMPLERS and what helps, or NULL: it is less
   than a tenth of TREE's time. */
const char *pseudo_hints_unsampled(const struct view_tree *tree, unsigned samplers);

#endif
