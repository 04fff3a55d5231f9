/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether a difference stops a release. */
#ifndef CLI_DIFF_GATE_H
#define CLI_DIFF_GATE_H

#include "view/diff.h"

struct buf;
struct json;

enum {
  DIFF_GATE_ROWS_MAX = 64, /* failures with callers; further failures are only counted */
  DIFF_GATE_NAMED_MAX = 5,
};

/* The wording of a command's gate. */
struct diff_gate_voice {
  const char *command;
  const char *symbols; /* the remedy for missing names */
  const char *how;     /* the tool for it */
};

/* The largest of a class of rows, and their number. */
struct diff_gate_list {
  const struct view_diff_row *rows[DIFF_GATE_NAMED_MAX];
  unsigned count;
};

/* The parts of a difference that are beyond the threshold, by verdict. */
struct diff_gate {
  const struct view_diff *diff;
  double threshold;      /* percent */
  bool is_both;          /* a decrease fails, too */
  const char *undecided; /* why no decision is possible, or NULL */
  bool is_whole_changed, is_whole_unclear;
  const struct view_diff_row *failed[DIFF_GATE_ROWS_MAX]; /* the largest first */
  unsigned through[DIFF_GATE_ROWS_MAX]; /* index of the failure that explains each; its own index if
                                           none does */
  unsigned changed;                     /* number of failures, including those beyond FAILED */
  struct diff_gate_list unclear[VIEW_RUNS + 1]; /* by the reason of the doubt */
  struct diff_gate_list diluted;                /* only the share has changed */
  struct diff_gate_list cpu_unclear;            /* the share has changed, and CPU time may have */
  struct diff_gate_list moved;                  /* the time was another function's before */
  double a_dark, b_dark; /* shares of all rows that are apart or unlike, whatever the threshold */
  const struct view_diff_row *hardest; /* the row with the largest detectable increase, or NULL */
  unsigned blind;                      /* rows in which no increase could be detected */
};

/* Finds the changes of DIFF that exceed THRESHOLD percent, and decreases too if IS_BOTH.  For the
   whole, the percentage is of its own CPU time; for a function, of all CPU time.  With shares it is
   percentage points.  UNDECIDED: why no decision is possible, or NULL.  Borrows DIFF.  Pure. */
void diff_gate_read(const struct view_diff *diff, double threshold, bool is_both,
                    const char *undecided, struct diff_gate *ret);

/* Returns the exit status: 3 if the whole or a function has changed by more than the threshold, 1
   if no decision is possible, else 0.  Pure. */
int diff_gate_status(const struct diff_gate *gate);

/* Prints on stderr, in the wording of VOICE, the failures, and the undecided changes with their
   remedies. */
void diff_gate_report(const struct diff_gate *gate, const struct diff_gate_voice *voice);

/* Appends one line: passed or failed, and the smallest increase that the gate would have found. */
void diff_gate_print(const struct diff_gate *gate, struct buf *ret);

/* Writes the member `gate` of the object that is open in JSON.  Pure. */
void diff_gate_write(const struct diff_gate *gate, struct json *json);

#endif
