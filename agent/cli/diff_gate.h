/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a difference stops a release. */
#ifndef CLI_DIFF_GATE_H
#define CLI_DIFF_GATE_H

struct cJSON;
struct view_diff_row;

/* The row of an option table whose settings, a SETTINGS, have a double MEMBER: percent points, less
   than 0 before options are read.  WHEN stands before its help. */
/* clang-format off */
#define DIFF_GATE_ROW(settings, member, when) \
    {"fail-over", 0, "PERCENT", NULL, "Gate", \
     when "exit 3 when the share of a function has changed by more points than this (2%), surely", \
     OPTION_PERCENT, offsetof(settings, member)}
/* clang-format on */

/* How a command speaks of its gate. */
struct diff_gate_voice {
  const char *command;
  const char *symbols; /* what to do for names */
  const char *how;     /* by what */
};

/* What is beyond the threshold, by what can be said of it. */
struct diff_gate {
  const char *name; /* of the largest that has changed; points into the answer */
  double points;    /* by which it has */
  unsigned changed;
  unsigned by_chance;    /* may be chance */
  unsigned apart;        /* no names, of builds that differ */
  unsigned unlike;       /* debug information names it on one side alone */
  unsigned by_clocks;    /* clocks told it */
  double a_dark, b_dark; /* shares of all that is apart or unlike, beyond the threshold or not */
};

/* Adds ROW of a difference to GATE, which is all zero but for a name of "" at first, where it
   differs by more than THRESHOLD percent points, in either direction.  Texts are ROW's.  Pure. */
void diff_gate_add(struct diff_gate *gate, const struct view_diff_row *row, double threshold);

/* Sets RET to what of ANSWER, the collector's about two selections, differs by more than THRESHOLD
   percent points, in either direction.  Pure. */
void diff_gate_read(const struct cJSON *answer, double threshold, struct diff_gate *ret);

/* Returns the exit status: 3 when a function has changed by more; 1 when most of a side is dark,
   so that nobody can judge; else 0.  Pure. */
int diff_gate_status(const struct diff_gate *gate);

/* Says on stderr, in VOICE, what speaks against the release, or what could not be judged and what
   helps. */
void diff_gate_tell(const struct diff_gate *gate, double threshold,
                    const struct diff_gate_voice *voice);

#endif
