/* SPDX-License-Identifier: Apache-2.0 */
/* Two sources for the same answer.

   Stacks give exact edges. The tree is walked once from the root down. Each node inherits from its
   parent the last edge on the path: into the function for its callers, out of it for its callees.

   Pairs are samples. Of a function g with weight W, m are resolved and u are not (W = m + u). Each
   caller c with resolved weight m(c) gets the same share of the unresolved weight,

     e(c) = u m(c) / m,      so that c's share is m(c) / m of W,

   if at least EDGES_RESOLVABLE_MIN samples are resolved; else u stays separate. Shares of u are
   rounded so that they add up to u: the running sum is rounded, not each share.

   The interval of an edge is the wider of two (docs/linked.md). One is of samples: an edge of k
   samples and share s is as certain as k successes in k / s trials. The other is of sampling units
   (edge_units.c). All unresolved weight may belong to any caller, so it raises the upper end. The
   same holds for stacks that begin with the function because they are truncated: their end mark
   stands in place of the caller. */
#include "edges.h"

#include "common/arena.h"
#include "finding.h"
#include "view/ratio.h"

#include <errno.h>
#include <stdlib.h>

enum { NO_EDGE = UINT32_MAX - 3 };

struct sum *finding_sum(const struct finding *finding, enum edge_kind kind, uint32_t function) {
  uint32_t at = function;
  if (function >= EDGE_ITSELF) at = finding->function_count + (EDGE_UNRESOLVED - function);
  return &finding->sums[kind][at];
}

static uint32_t function_at(const struct finding *finding, uint32_t at) {
  return at < finding->function_count ? at : EDGE_UNRESOLVED - (at - finding->function_count);
}

static void add_evidence(struct evidence *to, const struct evidence *more) {
  to->weight += more->weight;
  to->squares += more->squares;
}

/* ---- stacks ---- */

static uint32_t last_into(const struct finding *finding, const struct view_node *node,
                          const uint32_t *last) {
  const struct edge_question *question = finding->question;
  if (!question->is_asked[node->function]) return last[node->parent];
  return node->parent == 0 ? EDGE_NOBODY : question->tree->nodes[node->parent].function;
}

static uint32_t last_out(const struct finding *finding, const struct view_node *node,
                         const uint32_t *last) {
  const struct edge_question *question = finding->question;
  bool is_child =
      node->parent != 0 && question->is_asked[question->tree->nodes[node->parent].function];
  if (is_child) return node->function;
  if (last[node->parent] != NO_EDGE) return last[node->parent];
  return question->is_asked[node->function] ? EDGE_ITSELF : NO_EDGE;
}

static int find_in_stacks(struct finding *finding, struct arena *arena) {
  const struct edge_question *question = finding->question;
  const struct view_tree *tree = question->tree;
  struct edge_part *part = &finding->answer.parts[EDGE_STACK];
  uint32_t *last = arena_array(arena, (size_t)tree->node_count + 1, sizeof *last);
  finding->standing = arena_array(arena, (size_t)tree->node_count + 1, sizeof *finding->standing);
  if (last == NULL || finding->standing == NULL) return -ENOMEM;
  last[0] = NO_EDGE;
  for (uint32_t i = 1; i < tree->node_count; i++) {
    const struct view_node *node = &tree->nodes[i];
    last[i] = question->side == EDGE_CALLERS ? last_into(finding, node, last)
                                             : last_out(finding, node, last);
    if (last[i] == NO_EDGE || node->self_weight == 0) continue;
    struct sum *sum = finding_sum(finding, EDGE_STACK, last[i]);
    finding->standing[finding->standing_count++] = (struct standing){i, last[i]};
    sum->measured += node->self_weight;
    sum->count = sum_of(sum->count, node->self_count);
    evidence_add(&sum->evidence, node->self_count, node->self_weight);
    part->weight += node->self_weight;
    part->count = sum_of(part->count, node->self_count);
  }
  return 0;
}

/* ---- pairs ---- */

void finding_mix(struct mix *mix, const struct pair_link *link, wide_sum weight) {
  if (link->key.is_inlined) return;
  if (link->key.caller != PAIR_NO_CALLER) {
    mix->resolved += weight;
    return;
  }
  mix->unresolved += weight;
  if (link->key.is_leaf) mix->unresolved_leaf += weight;
}

static void mix_up(struct finding *finding) {
  const struct pair_links *pairs = finding->question->pairs;
  for (uint32_t i = 0; i < pairs->count; i++) {
    const struct pair_link *link = &pairs->links[i];
    struct mixed *mixed = &finding->mixed[link->key.callee];
    finding_mix(&mixed->all, link, link->weight);
    if (!link->key.is_inlined && link->key.caller != PAIR_NO_CALLER)
      add_evidence(&mixed->evidence, &link->evidence);
  }
}

static bool is_refused(const struct mixed *mixed) {
  return mixed->all.resolved == 0 || evidence_trials(&mixed->evidence) < EDGES_RESOLVABLE_MIN;
}

static struct route route_of_caller(const struct finding *finding, const struct pair_link *link) {
  bool is_whole = link->key.is_inlined || is_refused(&finding->mixed[link->key.callee]);
  bool is_unresolved = link->key.caller == PAIR_NO_CALLER;
  if (!finding->question->is_asked[link->key.callee]) return (struct route){false, 0, POOL_NONE};
  if (is_unresolved) return (struct route){is_whole, EDGE_UNRESOLVED, POOL_NONE};
  return (struct route){true, link->key.caller, is_whole ? POOL_NONE : POOL_ALL};
}

static struct route route_of_callee(const struct finding *finding, const struct pair_link *link) {
  const bool *is_asked = finding->question->is_asked;
  const struct pair_call_key *key = &link->key;
  bool is_called = key->caller != PAIR_NO_CALLER && is_asked[key->caller];
  if (!is_called)
    return (struct route){key->is_leaf && is_asked[key->callee], EDGE_ITSELF, POOL_NONE};
  struct route route = {key->is_last, key->callee, is_asked[key->callee] ? POOL_LEAF : POOL_ALL};
  if (key->is_inlined || is_refused(&finding->mixed[key->callee])) route.pool = POOL_NONE;
  return route;
}

struct route finding_route(const struct finding *finding, const struct pair_link *link) {
  bool are_callers = finding->question->side == EDGE_CALLERS;
  return are_callers ? route_of_caller(finding, link) : route_of_callee(finding, link);
}

/* Returns WHOLE * PART / PARTS, monotonic in PART and exact at the end. Products of two weights
   would overflow 64 bits. */
static wide_sum part_of(wide_sum whole, wide_sum part, wide_sum parts) {
  if (part >= parts) return whole;
  double share = (double)whole * ((double)part / (double)parts);
  return share < (double)whole ? (wide_sum)share : whole;
}

/* Returns the part of POOL for LINK, whose caller is known. Call it once for each link. */
static wide_sum extrapolate(struct mixed *mixed, const struct pair_link *link, enum pool pool) {
  const struct mix *mix = &mixed->all;
  if (link->key.is_inlined || is_refused(mixed)) return 0;
  wide_sum before = part_of(mix->unresolved, mixed->passed, mix->resolved);
  mixed->passed += link->weight;
  if (pool == POOL_NONE) return 0;
  if (pool == POOL_LEAF) return part_of(mix->unresolved_leaf, link->weight, mix->resolved);
  return part_of(mix->unresolved, mixed->passed, mix->resolved) - before;
}

static void add_link(struct finding *finding, const struct pair_link *link,
                     const struct route *route, wide_sum extrapolated) {
  struct sum *sum = finding_sum(finding, EDGE_LR, route->end);
  struct edge_part *part = &finding->answer.parts[EDGE_LR];
  sum->measured += link->weight;
  sum->extrapolated += extrapolated;
  sum->count = sum_of(sum->count, link->count);
  add_evidence(&sum->evidence, &link->evidence);
  part->weight += link->weight + extrapolated;
  if (route->pool != POOL_LEAF) return;
  finding_sum(finding, EDGE_LR, EDGE_ITSELF)->measured -= extrapolated;
  part->weight -= extrapolated;
}

/* For callers all pairs in the function count; for callees those that are its calls. */
static void note_rungs(struct finding *finding, const struct pair_link *link,
                       const struct route *route, wide_sum extrapolated) {
  struct edge_answer *answer = &finding->answer;
  bool are_callers = finding->question->side == EDGE_CALLERS;
  bool is_told = are_callers ? finding->question->is_asked[link->key.callee]
                             : route->is_any && route->end != EDGE_ITSELF;
  uint64_t *count = &answer->parts[EDGE_LR].count;
  if (are_callers ? is_told : route->is_any) *count = sum_of(*count, link->count);
  if (!is_told) return;
  for (unsigned rung = 0; rung < PAIR_RUNGS; rung++)
    answer->rung_weight[rung] += link->rung_weight[rung];
  answer->outside_weight += link->outside_weight;
  answer->refuted_weight += link->refuted_weight;
  answer->unseen_weight += link->unseen_weight;
  answer->tangled_weight += link->tangled_weight;
  if (!are_callers) answer->rung_weight[PAIR_UNRESOLVED] += extrapolated;
}

/* A callee's mix needs all its links, routed or not. */
static int choose_links(struct finding *finding, struct arena *arena) {
  const struct pair_links *pairs = finding->question->pairs;
  finding->links = arena_array(arena, (size_t)pairs->count + 1, sizeof *finding->links);
  if (finding->links == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < pairs->count; i++)
    if (finding_route(finding, &pairs->links[i]).is_any)
      finding->mixed[pairs->links[i].key.callee].has_route = true;
  for (uint32_t i = 0; i < pairs->count; i++)
    if (finding->mixed[pairs->links[i].key.callee].has_route)
      finding->links[finding->link_count++] = i;
  return 0;
}

/* Weight subtracted from EDGE_ITSELF must have been added before, in the first round. */
static void add_links(struct finding *finding, bool is_to_itself) {
  const struct pair_links *pairs = finding->question->pairs;
  for (uint32_t i = 0; i < pairs->count; i++) {
    const struct pair_link *link = &pairs->links[i];
    struct mixed *mixed = &finding->mixed[link->key.callee];
    const struct route route = finding_route(finding, link);
    bool is_known = link->key.caller != PAIR_NO_CALLER;
    if ((route.is_any && route.end == EDGE_ITSELF) != is_to_itself) continue;
    wide_sum extrapolated = is_known ? extrapolate(mixed, link, route.pool) : 0;
    note_rungs(finding, link, &route, extrapolated);
    if (route.is_any) add_link(finding, link, &route, extrapolated);
    if (route.is_any && route.end == EDGE_UNRESOLVED)
      finding->answer.refused_weight += link->weight;
  }
}

/* ---- the answer ---- */

static double fraction(wide_sum part, wide_sum whole) {
  return whole > 0 ? (double)part / (double)whole : 0;
}

/* Whether the caller at the other end is unknown. */
static bool is_open(const struct finding *finding, uint32_t function) {
  const struct view_tree *tree = finding->question->tree;
  if (finding->question->side != EDGE_CALLERS) return function == EDGE_UNRESOLVED;
  return function == EDGE_UNRESOLVED ||
         (function < tree->function_count && tree->functions[function].end != STACK_UNTOLD);
}

static wide_sum open_weight(const struct finding *finding) {
  const struct edge_answer *answer = &finding->answer;
  wide_sum weight = answer->refused_weight;
  for (uint32_t i = 0; i < answer->edge_count; i++) {
    const struct edge *edge = &answer->edges[i];
    if (edge->kind == EDGE_STACK && is_open(finding, edge->function)) weight += edge->measured;
  }
  return weight;
}

static struct view_share share_of(const struct finding *finding, const struct edge *edge,
                                  double open) {
  const struct edge_answer *answer = &finding->answer;
  const struct sum *sum = finding_sum(finding, edge->kind, edge->function);
  double share = fraction(edge->measured + edge->extrapolated, answer->total_weight);
  struct ratio ratio = answer->basis;
  ratio.trials = share > 0 ? evidence_trials(&sum->evidence) / share : 0;
  struct view_share ret = ratio_interval(&ratio, share, sum->variance);
  if (!is_open(finding, edge->function)) ratio_raise(&ret, open);
  return ret;
}

static int heaviest_first(const void *left, const void *right) {
  const struct edge *a = left, *b = right;
  wide_sum weight = a->measured + a->extrapolated, other = b->measured + b->extrapolated;
  if (weight != other) return weight > other ? -1 : 1;
  if (a->function != b->function) return a->function < b->function ? -1 : 1;
  return (int)a->kind - (int)b->kind;
}

static int list(struct finding *finding, struct arena *arena) {
  struct edge_answer *answer = &finding->answer;
  uint32_t ends = finding->function_count + 3, count = 0;
  for (unsigned kind = 0; kind < EDGE_KINDS; kind++) {
    answer->total_weight += answer->parts[kind].weight;
    answer->total_count = sum_of(answer->total_count, answer->parts[kind].count);
    for (uint32_t i = 0; i < ends; i++) {
      const struct sum *sum = &finding->sums[kind][i];
      count += sum->measured + sum->extrapolated > 0;
      add_evidence(&answer->evidence, &sum->evidence);
    }
  }
  answer->edges = arena_array(arena, (size_t)count + 1, sizeof *answer->edges);
  if (answer->edges == NULL) return -ENOMEM;
  for (unsigned kind = 0; kind < EDGE_KINDS; kind++) {
    for (uint32_t i = 0; i < ends; i++) {
      const struct sum *sum = &finding->sums[kind][i];
      if (sum->measured + sum->extrapolated == 0) continue;
      uint32_t function = function_at(finding, i);
      answer->edges[answer->edge_count++] = (struct edge){.function = function,
                                                          .kind = (enum edge_kind)kind,
                                                          .measured = sum->measured,
                                                          .extrapolated = sum->extrapolated,
                                                          .count = sum->count};
    }
  }
  edge_units_spread(finding, &answer->basis);
  double open = fraction(open_weight(finding), answer->total_weight);
  for (uint32_t i = 0; i < count; i++)
    answer->edges[i].share = share_of(finding, &answer->edges[i], open);
  qsort(answer->edges, count, sizeof *answer->edges, heaviest_first);
  return 0;
}

int edges_find(const struct edge_question *question, struct arena *arena, struct edge_answer *ret) {
  struct finding finding = {.question = question, .function_count = question->tree->function_count};
  for (unsigned kind = 0; kind < EDGE_KINDS; kind++) {
    finding.sums[kind] =
        arena_array(arena, (size_t)finding.function_count + 3, sizeof *finding.sums[kind]);
    if (finding.sums[kind] == NULL) return -ENOMEM;
  }
  finding.mixed = arena_array(arena, (size_t)finding.function_count + 1, sizeof *finding.mixed);
  if (finding.mixed == NULL) return -ENOMEM;
  int error = find_in_stacks(&finding, arena);
  if (error != 0) return error;
  mix_up(&finding);
  error = choose_links(&finding, arena);
  if (error != 0) return error;
  add_links(&finding, true);
  add_links(&finding, false);
  error = list(&finding, arena);
  if (error == 0) *ret = finding.answer;
  return error;
}
