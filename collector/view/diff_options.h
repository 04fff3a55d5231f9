/* SPDX-License-Identifier: Apache-2.0 */
/* What a difference is asked for. */
#ifndef VIEW_DIFF_OPTIONS_H
#define VIEW_DIFF_OPTIONS_H

enum view_measure {
  VIEW_SHARES, /* of each side's own CPU time */
  VIEW_CPU,    /* CPU time per unit, as a part of what all of a takes per unit */
};

enum view_of { VIEW_TOTAL, VIEW_SELF, VIEW_OF_COUNT };

/* What CPU time is divided by: runs, boards times hours, or a unit that the user names. */
struct view_units {
  const char *name; /* "run", "board-hour", "request" */
  double a, b;      /* how many; more than 0 */
};

struct view_diff_options {
  enum view_measure measure; /* rows are ordered by it; one row has one verdict, that of it */
  enum view_of of;
  struct view_units units;
  double a_runs, b_runs; /* of sides that are runs; 0: as UNITS says */
};

#endif
