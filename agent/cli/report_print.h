/* SPDX-License-Identifier: Apache-2.0 */
/* A report in the form that was asked for. */
#ifndef CLI_REPORT_PRINT_H
#define CLI_REPORT_PRINT_H

#include "report/profile.h"
#include "report_settings.h"
#include "view/view.h"

struct buf;
struct diff_gate;
struct view_diff;

/* One sum of files. */
struct report_side {
  struct profile profile;
  struct view_tree tree;
  int runs; /* files with something in them that no earlier one had */
};

/* With --diff. */
struct report_difference {
  const struct view_diff *diff;
  const struct diff_gate *gate; /* or NULL */
};

/* Appends what SETTINGS ask for to RET: of SIDES[0], or, with --diff, DIFFERENCE of both; it may
   use ARENA.  Returns 0 or -errno. */
int report_print(const struct report_settings *settings, const struct report_side sides[2],
                 const struct report_difference *difference, struct arena *arena, struct buf *ret);

#endif
