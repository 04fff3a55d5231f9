/* SPDX-License-Identifier: Apache-2.0 */
/* Finds changes that are time moved between functions, and the function that explains the change
   of its callers. */
#ifndef VIEW_DIFF_MOVES_H
#define VIEW_DIFF_MOVES_H

struct arena;
struct contrast;
struct diff_rows;
struct view_diff_options;

/* How time moved between functions. */
enum view_move {
  VIEW_CALLS,   /* the function makes calls that others made before */
  VIEW_RENAMED, /* it replaces a function that is gone */
  VIEW_SPLIT,   /* it does work that its caller did itself before */
  VIEW_INLINED, /* it does work itself that a callee did before */
};

/* A function besides the row's own. */
struct view_other {
  const char *name; /* NULL: none */
  const char *module, *file;
};

/* The part of a change that is not growth. */
struct view_moved {
  double amount; /* in the unit of the change; 0: none */
  double error;  /* half of the 95 % interval of the change less AMOUNT, by sampling alone */
  enum view_move how;
  struct view_other of;
};

enum {
  DIFF_MOVES_ROWS_MAX = 24,   /* the largest changes; each costs a pass over both trees */
  DIFF_MOVES_GONE_MAX = 1024, /* candidates for the former name of a new function, the largest
                                 first */
};

/* Sets `moved` and `through` of changed ROWS, by the kind of change that OPTIONS select, between
   the trees of CONTRAST. Returns 0, -ENOMEM or -ETIMEDOUT. */
int diff_moves_find(struct diff_rows *rows, const struct contrast *contrast,
                    const struct view_diff_options *options, struct arena *arena);

const char *view_move_name(enum view_move move);

#endif
