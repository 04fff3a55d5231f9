/* SPDX-License-Identifier: Apache-2.0 */
/* Judges a stored pair of PC and link register by the rules of pair_rule. */
#ifndef QUERY_PAIR_JUDGE_H
#define QUERY_PAIR_JUDGE_H

#include "linked/pair_rule.h"
#include "store/store_read.h"

struct symbolizer;

struct pair_view {
  struct symbolizer *symbolizer; /* or NULL */
  const char *board;
  const char *arch; /* the board's label, or NULL */
  const struct store_forest *forest;
};

struct pair_verdict {
  enum pair_rung rung;
  bool is_outside, is_refuted, is_unseen, is_tangled;
};

/* Judges the pair with the leaf NODE of the forest. */
struct pair_verdict pair_judge(const struct pair_view *view, uint32_t node);

#endif
