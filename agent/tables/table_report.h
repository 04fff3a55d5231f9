/* SPDX-License-Identifier: Apache-2.0 */
/* What was found while a table was made, for who wonders; `status` has sums of what the tables say
 * of it. */
#ifndef TABLES_TABLE_REPORT_H
#define TABLES_TABLE_REPORT_H

#include <stddef.h>
#include <stdint.h>

/* Why a place is UNWIND_CFA_UNTOLD. */
enum table_untold {
  TABLE_UNTOLD_CFA_REGISTER,   /* counted from a register that is not followed */
  TABLE_UNTOLD_CFA_EXPRESSION, /* computed in a way that no rule can hold */
  TABLE_UNTOLD_RETURN_ADDRESS, /* not in memory at the CFA, nor in the link register */
  TABLE_UNTOLD_SAVED,          /* so it is with a register that is followed */
  TABLE_UNTOLD_FAR,            /* an offset that does not fit */
  TABLE_UNTOLDS,
};

struct table_report {
  uint32_t functions;         /* begun by any source; what was left or refused among them */
  uint32_t functions_left;    /* overlapping ones, that a better or an earlier one had told of */
  uint32_t functions_refused; /* malformed: the unwind data of these says something impossible */
  uint32_t untold[TABLE_UNTOLDS]; /* places, before equal neighbours become one row */
  const char *why;                /* the first thing that was refused, in words, or NULL */
};

static inline void table_report_refuse(struct table_report *report, const char *why) {
  report->functions_refused++;
  if (report->why == NULL) report->why = why;
}

#endif
