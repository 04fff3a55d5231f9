/* SPDX-License-Identifier: Apache-2.0 */
/* The variance of edges between sampling units (groups.h).

   An edge's weight is the measured weight plus the weight extrapolated by the callee's mix,

     E = m(c) + u m(c) / m

   which is not a sum over units: its second part is a product of sums. To first order it changes
   with unit i's part of each sum,

     z_i = m_i(c) + u_i R + (u / m) (m_i(c) - R m_i),     R = m(c) / m,

   and these add up to E. So z_i is unit i's part of the edge. T_i, the sum of z_i over all edges,
   is its part of the whole. The variance is that of any ratio of sums (ratio.c). For one function's
   callers z_i - E / T T_i is (W / m) (m_i(c) - R m_i): only resolved pairs contribute.

   The sums are computed for each unit twice: for the wholes, which are the units' weights, and for
   the variances.

   For one board the units are stretches of time, and they are used only if something is
   extrapolated. All of its time was selected, so its shares vary by samples alone. But which
   samples are resolved depends on the program's phase, and so does the mix of the resolved ones. */
#include "finding.h"

#include "view/ratio.h"

#include <math.h>

static const double whole_max = 9e18; /* below SUM_MAX, as units' weights are */

static void mix_in_unit(struct finding *finding, unsigned unit) {
  const struct pair_links *pairs = finding->question->pairs;
  for (uint32_t i = 0; i < finding->link_count; i++)
    finding->mixed[pairs->links[finding->links[i]].key.callee].in_unit =
        (struct mix){.resolved = 0};
  for (uint32_t i = 0; i < finding->link_count; i++) {
    const struct pair_link *link = &pairs->links[finding->links[i]];
    finding_mix(&finding->mixed[link->key.callee].in_unit, link,
                groups_weight(&pairs->units, unit, finding->links[i]));
  }
}

static void add_link(struct finding *finding, const struct pair_link *link, double weight) {
  const struct route route = finding_route(finding, link);
  const struct mixed *mixed = &finding->mixed[link->key.callee];
  double extrapolated = 0;
  if (!route.is_any) return;
  if (route.pool != POOL_NONE) {
    double resolved = (double)mixed->all.resolved, part = (double)link->weight / resolved;
    double pool = (double)finding_pool(&mixed->all, route.pool);
    extrapolated = (double)finding_pool(&mixed->in_unit, route.pool) * part +
                   pool / resolved * (weight - part * (double)mixed->in_unit.resolved);
  }
  finding_sum(finding, EDGE_LR, route.end)->in_unit += weight + extrapolated;
  if (route.pool == POOL_LEAF) finding_sum(finding, EDGE_LR, EDGE_ITSELF)->in_unit -= extrapolated;
}

/* Returns UNIT's part of all edges. */
static double weigh(struct finding *finding, unsigned unit) {
  const struct edge_question *question = finding->question;
  const struct edge_answer *answer = &finding->answer;
  double whole = 0;
  for (uint32_t i = 0; i < answer->edge_count; i++)
    finding_sum(finding, answer->edges[i].kind, answer->edges[i].function)->in_unit = 0;
  mix_in_unit(finding, unit);
  for (uint32_t i = 0; i < finding->link_count; i++)
    add_link(finding, &question->pairs->links[finding->links[i]],
             (double)groups_weight(&question->pairs->units, unit, finding->links[i]));
  for (uint32_t i = 0; i < finding->standing_count; i++) {
    const struct standing *standing = &finding->standing[i];
    finding_sum(finding, EDGE_STACK, standing->end)->in_unit +=
        (double)groups_weight(&question->tree->groups, unit, standing->node);
  }
  for (uint32_t i = 0; i < answer->edge_count; i++)
    whole += finding_sum(finding, answer->edges[i].kind, answer->edges[i].function)->in_unit;
  return whole;
}

static void add_variances(struct finding *finding, const struct ratio *ratio, unsigned unit) {
  const struct edge_answer *answer = &finding->answer;
  double whole = weigh(finding, unit), all = (double)answer->total_weight;
  for (uint32_t i = 0; i < answer->edge_count; i++) {
    const struct edge *edge = &answer->edges[i];
    struct sum *sum = finding_sum(finding, edge->kind, edge->function);
    double share = (double)(edge->measured + edge->extrapolated) / all;
    double distance = (sum->in_unit - share * whole) / ratio->wholes[unit];
    sum->variance += ratio->influence[unit] * distance * distance;
  }
}

static bool is_extrapolated(const struct edge_answer *answer) {
  for (uint32_t i = 0; i < answer->edge_count; i++)
    if (answer->edges[i].extrapolated > 0) return true;
  return false;
}

void edge_units_spread(struct finding *finding, struct ratio *ratio) {
  const struct groups *stacks = &finding->question->tree->groups;
  const struct groups *units = &finding->question->pairs->units;
  uint64_t wholes[GROUPS_MAX];
  bool are_units = groups_are_alike(stacks, units);
  enum groups_kind kind =
      is_extrapolated(&finding->answer) ? units->kind : ratio_kind_of_shares(units);
  unsigned count = are_units ? units->count : 0;
  for (unsigned i = 0; i < count; i++)
    wholes[i] = (uint64_t)fmin(fmax(weigh(finding, i), 0), whole_max);
  ratio_init(ratio, are_units ? kind : GROUPS_NONE, count, wholes,
             evidence_trials(&finding->answer.evidence));
  for (unsigned i = 0; i < count && ratio->is_grouped; i++)
    if (ratio->wholes[i] > 0) add_variances(finding, ratio, i);
}
