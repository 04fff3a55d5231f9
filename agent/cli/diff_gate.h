/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a difference stops a release. */
#ifndef CLI_DIFF_GATE_H
#define CLI_DIFF_GATE_H

#include "view/diff.h"

struct buf;
struct json;

enum {
  DIFF_GATE_ROWS_MAX = 64, /* failures whose callers are found; more are counted */
  DIFF_GATE_NAMED_MAX = 5,
};

/* How a command speaks of its gate. */
struct diff_gate_voice {
  const char *command;
  const char *symbols; /* what to do for names */
  const char *how;     /* by what */
};

/* The largest of some rows, and how many there are. */
struct diff_gate_list {
  const struct view_diff_row *rows[DIFF_GATE_NAMED_MAX];
  unsigned count;
};

/* The parts of a difference that are beyond the threshold, by verdict. */
struct diff_gate {
  const struct view_diff *diff;
  double threshold;      /* percent */
  bool is_both;          /* a decrease counts, too */
  const char *undecided; /* why nothing can be judged, or NULL */
  bool is_whole_changed, is_whole_unclear;
  const struct view_diff_row *failed[DIFF_GATE_ROWS_MAX]; /* the largest first */
  unsigned through[DIFF_GATE_ROWS_MAX]; /* which of them explains each; itself: it is no caller */
  unsigned changed;                     /* how many there are, beyond those in FAILED, too */
  struct diff_gate_list unclear[VIEW_RUNS + 1]; /* by their doubt */
  struct diff_gate_list diluted;                /* whose share alone has changed */
  struct diff_gate_list cpu_unclear; /* whose share has changed, and CPU time may have, too */
  struct diff_gate_list moved;       /* whose time was another function's before */
  double a_dark, b_dark; /* shares of all that is apart or unlike, beyond the threshold or not */
  const struct view_diff_row *hardest; /* with the largest detectable increase, or NULL */
  unsigned blind;                      /* rows in which no increase would have been found */
};

/* Sets RET to what of DIFF has increased by more than THRESHOLD percent, or decreased where
   IS_BOTH: all CPU time by that part of itself, a function by that part of all (or of shares, that
   many points).  UNDECIDED: why the sides cannot be judged at all, or NULL.  Borrows DIFF.  Pure.
 */
void diff_gate_read(const struct view_diff *diff, double threshold, bool is_both,
                    const char *undecided, struct diff_gate *ret);

/* Returns the exit status: 3 when the whole or a function has changed by more; 1 when nothing can
   be judged; else 0.  Pure. */
int diff_gate_status(const struct diff_gate *gate);

/* Says on stderr, in VOICE, what speaks against the release, or what could not be judged and what
   helps. */
void diff_gate_report(const struct diff_gate *gate, const struct diff_gate_voice *voice);

/* Appends one line: passed or failed, and which increase would have been found. */
void diff_gate_print(const struct diff_gate *gate, struct buf *ret);

/* Writes the member `gate` of the object that is open in JSON.  Pure. */
void diff_gate_write(const struct diff_gate *gate, struct json *json);

#endif
