/* SPDX-License-Identifier: Apache-2.0 */
/* A file with call frame information is scanned as if it had none, and each instruction's rule is
   compared with that information. */
#ifndef TESTS_UNIT_TABLES_SCAN_FIXTURE_H
#define TESTS_UNIT_TABLES_SCAN_FIXTURE_H

#include "common/span.h"

#include <stdio.h>

struct scan_question {
  struct span truth; /* a file with call frame information for all its code but trifles */
  struct span file;  /* the same, or the same stripped */
  bool has_index;    /* ARM's index is read, too */
  FILE *wrong;       /* where to list wrong results; NULL: nowhere */
};

struct scan_counts {
  size_t instructions;
  size_t right;                      /* frame and return address are */
  size_t all_right;                  /* and the tracked registers */
  size_t in_bodies, right_in_bodies; /* where a function's most frequent rule holds */
  size_t in_leaves, right_in_leaves; /* of functions that never move their return address */
  size_t untold;
  uint32_t index_functions; /* listed in the index */
  const char *refused;      /* the first thing in it that was, or NULL */
};

/* Returns 0 or the readers' error. */
int scan_judge_file(const struct scan_question *question, struct scan_counts *ret);

#endif
