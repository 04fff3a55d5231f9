/* SPDX-License-Identifier: Apache-2.0 */
/* What would show the kernel's functions where [kernel] is one row. */
#ifndef VIEW_KERNEL_HINT_H
#define VIEW_KERNEL_HINT_H

#include "view.h"

/* One line on how the functions behind [kernel] can be seen, or NULL: [kernel] is less than a tenth
   of TREE's time, or is what remains beside the kernel's functions. */
const char *kernel_hint(const struct view_tree *tree);

#endif
