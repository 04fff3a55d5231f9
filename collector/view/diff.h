/* SPDX-License-Identifier: Apache-2.0 */
/* The differences between two trees, by function and in total (docs/statistics.md). */
#ifndef VIEW_DIFF_H
#define VIEW_DIFF_H

#include "diff_moves.h"
#include "diff_options.h"
#include "view.h"

enum view_verdict {
  VIEW_CHANGED, /* by more than chance explains; at most one in twenty of them is wrong */
  VIEW_SAME,    /* the whole interval is within the least change that is worth a look */
  VIEW_UNCLEAR, /* neither */
  VIEW_NEW,     /* changed; side a has no time in it */
  VIEW_GONE,    /* changed; side b has no time in it */
};

/* Why a verdict is unclear, where an interval that leaves out 0 suggests otherwise. */
enum view_doubt {
  VIEW_NO_DOUBT,
  VIEW_CLOCKS, /* time that clocks measured, without samples: its variation is unknown */
  VIEW_APART,  /* a function without a name, of one build: it may have a counterpart */
  VIEW_MANY,   /* with so many functions, intervals like this one occur by chance */
  VIEW_UNLIKE, /* debug information names its module on one side alone */
  VIEW_SHORT,  /* too few independent stretches of time */
  VIEW_HIDDEN, /* time that nothing sampled may hide the difference, or be it */
  VIEW_RUNS,   /* runs of one program differ by that much */
};

/* The subject of the verdicts. */
enum view_scope {
  VIEW_THESE, /* these boards or runs: stretches of time are the sampling units */
  VIEW_FLEET, /* boards like these: boards are */
};

/* A weight with names, by where these come from. */
struct view_named {
  wide_sum by_debug, by_others; /* debug information; symbol tables, lists, translators */
};

/* One comparison of a function: of its self or total weight, in one measure. */
struct view_change {
  double a, b;                  /* parts of the whole: 0.2 is 20 % */
  double difference, low, high; /* b - a and its 95 % interval; NAN where units are too few */
  double p_alone;               /* the probability of this difference if there is no change */
  double p;                     /* the same, for all functions that were compared together */
  double detectable; /* the least increase that is called changed 4 times of 5, or INFINITY */
  enum view_verdict verdict;
  enum view_doubt doubt;
  bool is_tested;
};

struct view_diff_row {
  const char *name, *module;
  const char *file;            /* where a side has several of that name; else NULL */
  wide_sum a_weight, b_weight; /* self */
  wide_sum a_total, b_total;
  struct view_named a_named, b_named;
  struct view_change self, total; /* shares */
  struct view_change cpu;         /* of totals, or of self weights where that was asked for */
  bool is_apart;
  struct view_moved moved;   /* of the change that was asked for */
  struct view_other through; /* the callee that explains that change */
};

/* CPU time per unit of either side. */
struct view_whole {
  double a, b;             /* nanoseconds per unit */
  double ratio, low, high; /* b / a and its 95 % interval; NAN where a has none */
  double p;                /* NAN of runs: no probability stands behind their allowance */
  double detectable; /* the least increase, as a part of a, that is called changed 4 times of 5 */
  enum view_verdict verdict;
  enum view_doubt doubt;
};

/* The sampling units of a difference. */
struct view_diff_basis {
  struct view_basis a, b;
  double a_seconds, b_seconds; /* of stretches of time: how long each is; else 0 */
  unsigned pairs;              /* boards that both sides have */
  double phase_seconds;        /* longer phases were not seen often enough; NAN without stretches */
};

struct view_diff {
  struct view_diff_options options;
  struct view_diff_basis basis;
  enum view_scope scope;
  struct view_whole whole;
  struct view_diff_row *rows; /* the largest difference first, by OPTIONS */
  uint32_t count, tested;     /* rows; those that were compared */
};

/* Compares all functions of A and B.  RET points into ARENA, its texts into the trees.  Returns 0,
   -ENOMEM or -ETIMEDOUT. */
int view_diff(const struct view_tree *a, const struct view_tree *b,
              const struct view_diff_options *options, struct arena *arena, struct view_diff *ret);

/* The change of ROW that OPTIONS ask for. */
const struct view_change *view_diff_change(const struct view_diff_options *options,
                                           const struct view_diff_row *row);

const char *view_verdict_name(enum view_verdict verdict);
bool view_verdict_is_change(enum view_verdict verdict); /* changed, new or gone */
const char *view_doubt_name(enum view_doubt doubt);     /* a word for why; "" of no doubt */

#endif
