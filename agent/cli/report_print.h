/* SPDX-License-Identifier: Apache-2.0 */
/* A report in the form that was asked for. */
#ifndef CLI_REPORT_PRINT_H
#define CLI_REPORT_PRINT_H

#include "report/profile.h"
#include "report_settings.h"
#include "view/view.h"

struct buf;

/* One sum of files. */
struct report_side {
  struct profile profile;
  struct view_tree tree;
};

/* Appends what SETTINGS ask for to RET: of SIDES[0], or, with --diff, of both; it may use ARENA.
   Returns 0 or -errno. */
int report_print(const struct report_settings *settings, const struct report_side sides[2],
                 struct arena *arena, struct buf *ret);

#endif
