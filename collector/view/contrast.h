/* SPDX-License-Identifier: Apache-2.0 */
/* How far two trees differ by chance, seen in how their sampling units differ: boards, or stretches
   of time. */
#ifndef VIEW_CONTRAST_H
#define VIEW_CONTRAST_H

#include "ratio.h"

struct arena;
struct view_tree;

enum {
  CONTRAST_INDEPENDENT_MIN = 12, /* stretches of time; fewer tell too little of how they differ */
  CONTRAST_BATCHES_MAX = 12,     /* that they are joined into (contrast.c) */
};

struct contrast_neighbours { /* in time: sums over functions and pairs of units */
  double squares, products;  /* of distances; of those of a unit and the next */
};

/* How weight, or time, of each stratum is distributed over stretches of time or batches of them.  A
   stratum is a board (or boards of one hash) that is in several batches; the last one is all boards
   together, which stands for the others.  With one board it is the only stratum. */
struct contrast_spans {
  unsigned strata;
  double *parts;                 /* [unit * strata + stratum]: 1 is all of it */
  double correction[GROUPS_MAX]; /* of each unit's distance, for the means that were estimated */
  double df;
};

struct contrast_side {
  const struct view_tree *tree;
  struct ratio ratio;
  unsigned unit[GROUPS_MAX]; /* of each group of the tree: its number in RATIO */
  uint64_t id[GROUPS_MAX];   /* of each unit */
  uint64_t paired;           /* one bit a unit: it is on the other side, too */
  double df_paired, df_alone;
  unsigned boards; /* units with weight, where these are boards or groups of them */

  /* Where units are stretches of time: those with weight, in order, and the batches of them. */
  unsigned order[GROUPS_MAX], stretches, length; /* length: stretches a batch */
  struct ratio batches;
  struct contrast_spans by_stretch, by_batch, by_time; /* by_time: of batches */
  unsigned stratum[GROUPS_MAX]; /* of each group of the tree's BOARDS, where there are some */
  double covered_s;             /* of time by windows, of the board with most in each stretch */
  double *strata_wholes;        /* weight of each stratum */
  struct contrast_neighbours of_stretches, of_batches;

  /* Where units are boards: each unit's part of all boards, and the sum of the squares. */
  double boards_part[GROUPS_MAX], boards_squares;
};

struct contrast {
  struct contrast_side a, b;
  unsigned pairs;
  double scale;    /* set by the caller: CPU time of b per unit, as a part of that of a */
  bool is_of_runs; /* set by the caller: each side is a run, whose length says nothing */
};

/* Squared distances of one function from its mean, summed up over units. */
struct contrast_spread {
  double pairs, a, b;             /* of shares: pairs of boards, and units on one side alone */
  double a_batches, b_batches;    /* of shares of batches */
  double a_products, b_products;  /* of a batch's distance and the next one's */
  double cpu_pairs, cpu_a, cpu_b; /* of CPU time: of boards, or of batches */
};

struct contrast_error { /* a difference / sqrt(VARIANCE) is a t of DF degrees of freedom */
  double variance, df;
};

/* Finds the units of A and B; borrows both, and takes memory in ARENA.  Returns 0 or -ENOMEM. */
int contrast_init(struct contrast *contrast, const struct view_tree *a, const struct view_tree *b,
                  struct arena *arena);

bool contrast_is_of_boards(const struct contrast *contrast); /* whether both sides' units are */

/* Returns the unit of B that is A's UNIT, or GROUPS_MAX. */
unsigned contrast_partner(const struct contrast *contrast, unsigned unit);

/* Returns how far PART of unit UNIT of RATIO is from SHARE, in its weight on the sum. */
double contrast_distance(const struct ratio *ratio, unsigned unit, uint64_t part, double share);

/* Returns how far PART of a function with SHARE is from its mean CPU time in UNIT, a board, as a
   part of all CPU time of SIDE. */
double contrast_cpu_distance(const struct contrast_side *side, unsigned unit, uint64_t part,
                             double share);

/* The same from what SPANS lets expect in UNIT, a stretch or a batch, of a function with the weight
   OF_STRATA in each stratum. */
double contrast_time_distance(const struct contrast_side *side, const struct contrast_spans *spans,
                              unsigned unit, uint64_t part, const double *of_strata);

/* How many independent stretches of time tell as much as those of SIDE, once
   its neighbours were summed up; 0 where they have no length, INFINITY where they are no units. */
double contrast_independent(const struct contrast_side *side);

/* The same of one function with SPREAD, which may go in longer phases than others.  A variance of
   HARMLESS or less is no sign of phases. */
double contrast_independent_of(const struct contrast *contrast,
                               const struct contrast_spread *spread, double harmless);

/* Seconds of one of them, and of the longest phases that both sides saw often enough.  Where
   stretches are not the units these are 0 and NAN. */
double contrast_seconds(const struct contrast_side *side);
double contrast_phase_seconds(const struct contrast *contrast);

/* The error of the difference of two shares with SPREAD. */
struct contrast_error contrast_shares_error(const struct contrast *contrast,
                                            const struct contrast_spread *spread);

/* The same of their CPU times per unit, as parts of all that side a takes. */
struct contrast_error contrast_cpu_error(const struct contrast *contrast,
                                         const struct contrast_spread *spread);

/* The error of ln(b / a) of what both take per unit altogether; of runs none is seen. */
struct contrast_error contrast_whole_error(const struct contrast *contrast);

#endif
