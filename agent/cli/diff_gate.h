/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a difference stops a release. */
#ifndef CLI_DIFF_GATE_H
#define CLI_DIFF_GATE_H

struct cJSON;

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

/* Sets RET to what of ANSWER, the collector's about two selections, differs by more than THRESHOLD
   percent points, in either direction.  Pure. */
void diff_gate_read(const struct cJSON *answer, double threshold, struct diff_gate *ret);

/* Returns the exit status: 3 when a function has changed by more; 1 when most of a side is dark,
   so that nobody can judge; else 0.  Pure. */
int diff_gate_status(const struct diff_gate *gate);

/* Says on stderr what speaks against the release, or what could not be judged and what helps. */
void diff_gate_tell(const struct diff_gate *gate, double threshold);

#endif
