/* SPDX-License-Identifier: Apache-2.0 */
/* Two trees, function by function: what changed, what did not, what cannot be told. */
#ifndef VIEW_DIFF_H
#define VIEW_DIFF_H

#include "view.h"

enum view_verdict {
  VIEW_CHANGED, /* more than chance makes, with at most one in twenty of them wrong */
  VIEW_SAME,    /* the difference is less than a percent point, surely */
  VIEW_UNCLEAR, /* too few samples to tell */
};

/* Why a row is unclear that does not look so: its interval leaves out 0, or it is apart. */
enum view_doubt {
  VIEW_NO_DOUBT,
  VIEW_CLOCKS, /* clocks told it: no interval of samples holds for it */
  VIEW_APART,  /* a function without a name, of one build: it may have a counterpart */
  VIEW_MANY,   /* among so many functions chance makes such intervals */
  VIEW_UNLIKE, /* debug information names its module on one side alone */
};

/* A weight with names, by where these come from. */
struct view_named {
  uint64_t by_debug, by_others; /* debug information; symbol tables, lists, translators */
};

struct view_diff_row {
  const char *name, *module;
  const char *file;            /* where a side has several of that name; else NULL: whatever file */
  uint64_t a_weight, b_weight; /* self */
  struct view_named a_named, b_named;
  double a, b;                  /* self shares */
  double difference, low, high; /* b - a and its 95 % interval */
  double p_alone;               /* the chance of such a difference where there is none */
  double p;                     /* the same, for all that were compared together */
  enum view_verdict verdict;
  enum view_doubt doubt;
  bool is_apart, is_tested, is_unlike;
};

/* How many of the COUNT ROWS were compared: not those of clocks
   without boards, nor those apart. */
uint32_t view_diff_tested(const struct view_diff_row *rows, uint32_t count);

/* What the intervals and chances of a difference come from. */
struct view_diff_basis {
  struct view_basis a, b;
  unsigned pairs; /* boards that both sides have */
};

void view_diff_basis(const struct view_tree *a, const struct view_tree *b,
                     struct view_diff_basis *ret);

/* Compares the self shares of all functions of A and B, the largest difference first.  RET points
   into ARENA, texts into the trees.  Returns 0 or -ENOMEM. */
int view_diff(const struct view_tree *a, const struct view_tree *b, struct arena *arena,
              struct view_diff_row **ret, uint32_t *ret_count);

const char *view_verdict_name(enum view_verdict verdict);

/* A word for why: "" of no doubt. */
const char *view_doubt_name(enum view_doubt doubt);

#endif
