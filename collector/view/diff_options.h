/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a comparison. */
#ifndef VIEW_DIFF_OPTIONS_H
#define VIEW_DIFF_OPTIONS_H

enum view_measure {
  VIEW_SHARES, /* shares of each side's own CPU time */
  VIEW_CPU,    /* CPU time per unit, relative to the total of a per unit */
};

enum view_of { VIEW_TOTAL, VIEW_SELF, VIEW_OF_COUNT };

/* The divisor of CPU time: runs, boards times hours, or a unit that the user names. */
struct view_units {
  const char *name; /* "run", "board-hour", "request" */
  double a, b;      /* the number of units; above 0 */
};

struct view_diff_options {
  enum view_measure measure; /* orders the rows, and gives each row its verdict */
  enum view_of of;
  struct view_units units;
  double a_runs, b_runs; /* of sides that are runs; 0: UNITS applies */
};

#endif
