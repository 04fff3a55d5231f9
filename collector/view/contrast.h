/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates how far two trees differ by chance, from the differences between their sampling units:
   boards, or stretches of time. */
#ifndef VIEW_CONTRAST_H
#define VIEW_CONTRAST_H

#include "ratio.h"

struct arena;
struct view_tree;

enum {
  CONTRAST_INDEPENDENT_MIN = 12, /* stretches of time; fewer do not show their variation */
  CONTRAST_BATCHES_MAX = 12,     /* batches of stretches (contrast.c) */
};

struct contrast_neighbours { /* in time: sums over functions and pairs of units */
  double squares, products;  /* of distances squared; of those of a unit and the next */
};

/* The distribution of each stratum's weight, or time, over stretches of time or batches of them. A
   stratum is a board (or boards of one hash) present in several batches. The last stratum is all
   boards together, and stands for the other boards. With one board it is the only stratum. */
struct contrast_spans {
  unsigned strata;
  double *parts;                 /* [unit * strata + stratum]; 1 is the whole stratum */
  double correction[GROUPS_MAX]; /* of each unit's distance, for the estimated means */
  double df;
};

struct contrast_side {
  const struct view_tree *tree;
  struct ratio ratio;
  unsigned unit[GROUPS_MAX]; /* of each group of the tree: its index in RATIO */
  uint64_t id[GROUPS_MAX];   /* of each unit */
  uint64_t paired;           /* one bit a unit: it is on both sides */
  double df_paired, df_alone;
  unsigned boards; /* units with weight, if units are boards or groups of them */

  /* If units are stretches of time: those with weight, in order, and the batches of them. */
  unsigned order[GROUPS_MAX], stretches, length; /* length: stretches in a batch */
  struct ratio batches;
  struct contrast_spans by_stretch, by_batch, by_time; /* by_time: of batches */
  unsigned stratum[GROUPS_MAX]; /* of each group of the tree's BOARDS, if there are any */
  double covered_s;             /* seconds of windows, by the board with most in each stretch */
  double *strata_wholes;        /* weight of each stratum */
  struct contrast_neighbours of_stretches, of_batches;

  /* If units are boards: each unit's part of all boards, and the sum of the squares. */
  double boards_part[GROUPS_MAX], boards_squares;
};

struct contrast {
  struct contrast_side a, b;
  unsigned pairs;
  double scale;    /* set by the caller: CPU time of b per unit, relative to that of a */
  bool is_of_runs; /* set by the caller: the sides are runs, with irrelevant durations */
};

/* Squared distances of one function from its mean, summed over units. */
struct contrast_spread {
  double pairs, a, b;             /* of shares: pairs of boards, and units on one side only */
  double a_batches, b_batches;    /* of shares of batches */
  double a_products, b_products;  /* of a batch's distance and the next batch's */
  double cpu_pairs, cpu_a, cpu_b; /* of CPU time: of boards, or of batches */
};

struct contrast_error { /* a difference / sqrt(VARIANCE) is a t of DF degrees of freedom */
  double variance, df;
};

/* Finds the units of A and B. Borrows A and B; memory is in ARENA. Returns 0 or -ENOMEM. */
int contrast_init(struct contrast *contrast, const struct view_tree *a, const struct view_tree *b,
                  struct arena *arena);

bool contrast_is_of_boards(const struct contrast *contrast); /* units of A and B are */

/* Returns the unit of B that corresponds to A's UNIT, or GROUPS_MAX. */
unsigned contrast_partner(const struct contrast *contrast, unsigned unit);

/* Returns the distance of PART of unit UNIT of RATIO from SHARE, weighted by the unit's
   influence. */
double contrast_distance(const struct ratio *ratio, unsigned unit, uint64_t part, double share);

/* Returns the distance of PART, of a function with SHARE, from its mean CPU time in UNIT, a board,
   relative to all CPU time of SIDE. */
double contrast_cpu_distance(const struct contrast_side *side, unsigned unit, uint64_t part,
                             double share);

/* The same for UNIT, a stretch or a batch, from the expectation by SPANS for a function with weight
   OF_STRATA in each stratum. */
double contrast_time_distance(const struct contrast_side *side, const struct contrast_spans *spans,
                              unsigned unit, uint64_t part, const double *of_strata);

/* Returns the number of independent stretches of time equivalent to those of SIDE. Needs the sums
   over neighbours. Returns 0 if stretches have no length, INFINITY if units are not stretches. */
double contrast_independent(const struct contrast_side *side);

/* The same for one function with SPREAD, which may have longer phases than others. A variance of at
   most HARMLESS is no sign of phases. */
double contrast_independent_of(const struct contrast *contrast,
                               const struct contrast_spread *spread, double harmless);

/* Return the seconds of one independent stretch, and of the longest phases that both sides cover
   often enough. Return 0 and NAN if units are not stretches. */
double contrast_seconds(const struct contrast_side *side);
double contrast_phase_seconds(const struct contrast *contrast);

/* Returns the error of the difference of two shares with SPREAD. */
struct contrast_error contrast_shares_error(const struct contrast *contrast,
                                            const struct contrast_spread *spread);

/* The same for their CPU times per unit, relative to all CPU time of side a. */
struct contrast_error contrast_cpu_error(const struct contrast *contrast,
                                         const struct contrast_spread *spread);

/* Returns the error of ln(b / a) for the total CPU times per unit. For runs there is no error. */
struct contrast_error contrast_whole_error(const struct contrast *contrast);

#endif
