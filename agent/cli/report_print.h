/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a report in the requested format. */
#ifndef CLI_REPORT_PRINT_H
#define CLI_REPORT_PRINT_H

#include "report/profile.h"
#include "report_settings.h"
#include "view/view.h"

struct buf;
struct diff_gate;
struct view_diff;

/* The sum of one side's files. */
struct report_side {
  struct profile profile;
  struct view_tree tree;
  int runs; /* files that contain data which no earlier file had */
};

/* For --diff. */
struct report_difference {
  const struct view_diff *diff;
  const struct diff_gate *gate; /* or NULL */
};

/* Appends the report of SETTINGS to RET: of SIDES[0], or the DIFFERENCE with --diff.  ARENA may be
   used.  Returns 0 or -errno. */
int report_print(const struct report_settings *settings, const struct report_side sides[2],
                 const struct report_difference *difference, struct arena *arena, struct buf *ret);

#endif
