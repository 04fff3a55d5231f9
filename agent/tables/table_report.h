/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics from making a table; `status` shows sums of those that the tables contain. */
#ifndef TABLES_TABLE_REPORT_H
#define TABLES_TABLE_REPORT_H

#include <stddef.h>
#include <stdint.h>

/* The reason why an address is UNWIND_CFA_UNTOLD. */
enum table_untold {
  TABLE_UNTOLD_CFA_REGISTER,   /* relative to an untracked register */
  TABLE_UNTOLD_CFA_EXPRESSION, /* computed in a way that no rule can express */
  TABLE_UNTOLD_RETURN_ADDRESS, /* not in memory at the CFA, nor in the link register */
  TABLE_UNTOLD_SAVED,          /* the same for a tracked register */
  TABLE_UNTOLD_FAR,            /* an offset that does not fit */
  TABLE_UNTOLDS,
};

struct table_report {
  uint32_t functions;             /* begun by any source, including omitted and rejected ones */
  uint32_t functions_left;        /* overlapping ones, which a better or an earlier source has */
  uint32_t functions_refused;     /* malformed: their unwind data is contradictory */
  uint32_t untold[TABLE_UNTOLDS]; /* addresses, before equal neighbors are merged into one row */
  const char *why;                /* the first reason of a rejection, in words, or NULL */
};

static inline void table_report_refuse(struct table_report *report, const char *why) {
  report->functions_refused++;
  if (report->why == NULL) report->why = why;
}

#endif
