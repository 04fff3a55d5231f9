/* SPDX-License-Identifier: Apache-2.0 */
/* Hints for time in a pseudo function: [kernel], [unsampled] or [rest]. */
#ifndef VIEW_PSEUDO_HINTS_H
#define VIEW_PSEUDO_HINTS_H

#include "view.h"

/* Rows of weight in no function: measured by clocks alone. */
#define PSEUDO_KERNEL "[kernel]"
#define PSEUDO_UNSAMPLED "[unsampled]"
#define PSEUDO_REST "[rest]" /* samples of the lightest nodes, beyond an answer's limit */

/* Whether the weight of the row NAME may belong to any function: [unsampled], samples without a
   known place, samples for which a full window had no room, and samples missing from the answer. */
bool pseudo_is_placeless(const char *name);

/* Returns the weight of [kernel] measured by a clock, without samples, if there are samples of
   [kernel] too. Any function of TREE may have called it. */
wide_sum pseudo_kernel_weight(const struct view_tree *tree);

/* Sets of samplers; 0: unknown. */
enum { HINT_PERF = 1, HINT_TIMER = 2, HINT_SAMPLERS = 4 };

/* One line on how to see the functions behind [kernel], or NULL: [kernel] is less than a tenth
   of TREE's time, or is only the rest beside the kernel's functions. */
const char *pseudo_hints_kernel(const struct view_tree *tree);

/* One line on the content of [rest] and how to see it; NULL if TREE has no [rest]. */
const char *pseudo_hints_rest_meaning(void);
const char *pseudo_hints_rest(const struct view_tree *tree);

/* One line on why time is in [unsampled] with SAMPLERS and on the remedy, or NULL: it is less
   than a tenth of TREE's time. */
const char *pseudo_hints_unsampled(const struct view_tree *tree, unsigned samplers);

#endif
