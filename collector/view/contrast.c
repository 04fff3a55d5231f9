/* SPDX-License-Identifier: Apache-2.0 */
/* The variance of a difference D = R_b - R_a; docs/statistics.md derives it.

   Each unit (a board, one of 32 groups of them, a stretch of one board's time) pushes R_a by
   a_i = w_i (p_i - R_a), corrected as ratio.c says, and R_b by b_i.  Units are independent of each
   other, so the variance of D is the sum of what each pushes it by, squared:

     v = sum over units on both sides (b_i - a_i)^2 + sum over A's others a_i^2 + over B's b_i^2

   What sets a board apart from others stands on both sides and falls out of b_i - a_i: the same
   boards before and after an update are compared as pairs, boards of their own as two samples of
   unequal variances, and what is mixed as what it is.  Each of the three sums has degrees of
   freedom of its own, and v those of Satterthwaite (Biometrics Bulletin 2, 1946).

   One board against several: nothing on its side shows how boards differ.  It is taken for one more
   of them, with their variance and besides that of its own time or samples. */
#include "contrast.h"

#include "view.h"

#include <math.h>
#include <string.h>

static bool is_of_boards(const struct contrast_side *side) {
  return side->ratio.is_grouped && side->ratio.kind != GROUPS_TIMES;
}

bool contrast_is_of_boards(const struct contrast *contrast) {
  return is_of_boards(&contrast->a) && is_of_boards(&contrast->b);
}

/* Groups whose ids are the same modulo MODULUS (0: the same) are one unit. */
static void find_units(struct contrast_side *side, const struct view_tree *tree, uint64_t modulus) {
  const struct groups *groups = &tree->groups;
  uint64_t wholes[GROUPS_MAX] = {0};
  unsigned count = 0;
  side->tree = tree;
  for (unsigned i = 0; i < groups->count; i++) {
    uint64_t id = modulus > 0 ? groups->group[i].id % modulus : groups->group[i].id;
    unsigned at = 0;
    while (at < count && side->id[at] != id) at++;
    if (at == count) side->id[count++] = id;
    side->unit[i] = at;
    wholes[at] += groups->group[i].weight;
  }
  ratio_init(&side->ratio, groups->kind, count, wholes, evidence_trials(&tree->evidence));
}

/* What ids of both trees are comparable by, where boards are HASHED on one side at least. */
static uint64_t modulus_of(const struct groups *a, const struct groups *b) {
  uint64_t of_a = a->kind == GROUPS_HASHED ? a->modulus : 0;
  uint64_t of_b = b->kind == GROUPS_HASHED ? b->modulus : 0;
  if (a->kind == GROUPS_TIMES || b->kind == GROUPS_TIMES) return 0;
  return of_a == 0 || (of_b != 0 && of_b < of_a) ? of_b : of_a; /* powers of two */
}

static void find_pairs(struct contrast *contrast) {
  struct contrast_side *a = &contrast->a, *b = &contrast->b;
  if (!contrast_is_of_boards(contrast)) return;
  for (unsigned i = 0; i < a->ratio.count; i++)
    for (unsigned j = 0; j < b->ratio.count; j++) {
      if (a->id[i] != b->id[j]) continue;
      if (!(a->ratio.wholes[i] > 0) || !(b->ratio.wholes[j] > 0)) continue;
      a->paired |= UINT64_C(1) << i;
      b->paired |= UINT64_C(1) << j;
      contrast->pairs++;
    }
}

void contrast_init(struct contrast *contrast, const struct view_tree *a,
                   const struct view_tree *b) {
  uint64_t modulus = modulus_of(&a->groups, &b->groups);
  memset(contrast, 0, sizeof *contrast);
  find_units(&contrast->a, a, modulus);
  find_units(&contrast->b, b, modulus);
  find_pairs(contrast);
  contrast->a.df_paired = ratio_df(&contrast->a.ratio, contrast->a.paired);
  contrast->b.df_paired = ratio_df(&contrast->b.ratio, contrast->b.paired);
  contrast->a.df_alone = ratio_df(&contrast->a.ratio, ~contrast->a.paired);
  contrast->b.df_alone = ratio_df(&contrast->b.ratio, ~contrast->b.paired);
}

unsigned contrast_partner(const struct contrast *contrast, unsigned unit) {
  const struct contrast_side *a = &contrast->a, *b = &contrast->b;
  if ((a->paired >> unit & 1) == 0) return GROUPS_MAX;
  unsigned at = 0;
  while (b->id[at] != a->id[unit]) at++;
  return at;
}

double contrast_distance(const struct contrast_side *side, unsigned unit, uint64_t part,
                         double share) {
  const struct ratio *ratio = &side->ratio;
  if (!ratio->is_grouped || !(ratio->wholes[unit] > 0)) return 0;
  return sqrt(ratio->influence[unit]) * ((double)part / ratio->wholes[unit] - share);
}

/* Adds an independent part of the variance; DF stays a sum until the last one is there. */
static void add(struct contrast_error *error, double variance, double df) {
  error->variance += variance;
  error->df += variance * variance / df;
}

/* Adds what the units of SIDE alone have, and where OTHER is a single board what it may have, too.
 */
static void add_side(struct contrast_error *error, const struct contrast_side *side,
                     const struct contrast_side *other, double share, double spread) {
  bool is_measure = is_of_boards(side) && !is_of_boards(other);
  double factor = is_measure ? 1 + 1 / side->ratio.squares : 1;
  if (side->ratio.is_grouped)
    add(error, spread * factor, side->df_alone);
  else if (side->ratio.trials > 0 && share > 0 && share < 1)
    add(error, share * (1 - share) / side->ratio.trials, INFINITY);
}

struct contrast_error contrast_error(const struct contrast *contrast, double a, double b,
                                     const struct contrast_spread *spread) {
  const struct contrast_side *of_a = &contrast->a, *of_b = &contrast->b;
  struct contrast_error error = {0, 0};
  if (!of_a->ratio.is_grouped && !of_b->ratio.is_grouped) return error;
  add(&error, spread->pairs, fmin(of_a->df_paired, of_b->df_paired));
  add_side(&error, of_a, of_b, a, spread->a);
  add_side(&error, of_b, of_a, b, spread->b);
  error.df = error.df > 0 ? error.variance * error.variance / error.df : INFINITY;
  return error;
}
