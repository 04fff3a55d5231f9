/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the change that decides a row's verdict, and names verdicts and doubts for answers,
   tables and the page. */
#include "diff.h"

const char *view_verdict_name(enum view_verdict verdict) {
  static const char *const names[] = {"changed", "same", "unclear", "new", "gone"};
  return names[verdict];
}

bool view_verdict_is_change(enum view_verdict verdict) {
  return verdict == VIEW_CHANGED || verdict == VIEW_NEW || verdict == VIEW_GONE;
}

const char *view_doubt_name(enum view_doubt doubt) {
  static const char *const names[] = {"",       "clocks", "apart",  "many",
                                      "unlike", "short",  "hidden", "runs"};
  return names[doubt];
}

const struct view_change *view_diff_change(const struct view_diff_options *options,
                                           const struct view_diff_row *row) {
  if (options->measure == VIEW_CPU) return &row->cpu;
  return options->of == VIEW_SELF ? &row->self : &row->total;
}
