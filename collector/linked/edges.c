/* SPDX-License-Identifier: Apache-2.0 */
/* Two ways to the same answer.

   Stacks know.  The tree is walked once from the root down, and each node takes from its parent
   which edge is the last one on the way: into the function for its callers, out of it for its
   callees.

   Pairs are samples: of a function g with weight W, m are resolved and u are not (W = m + u).  Each
   caller c of the resolved ones, m(c), gets of the unresolved ones what it has of the others,

     e(c) = u m(c) / m,      so that c's share is m(c) / m of W,

   as long as at least EDGES_RESOLVABLE_MIN samples are resolved; else u stays apart.  Shares of u
   are rounded so that they add up to u: the running sum is rounded, not each.

   The interval of an edge is that of what was measured: an edge of k samples and of share s is
   known as well as k successes in k / s trials (docs/linked.md).  Where weight is unresolved, any
   caller may have all of it: the upper end is that much higher. */
#include "edges.h"

#include "common/arena.h"
#include "view/interval.h"

#include <errno.h>
#include <stdlib.h>

enum { NO_EDGE = UINT32_MAX - 3 };

struct sum {
  uint64_t measured, extrapolated, count;
  struct evidence evidence;
};

/* Of the pairs of one function, where it is not inlined. */
struct mix {
  uint64_t resolved, unresolved;
  uint64_t unresolved_leaf; /* of these its own code was running */
  uint64_t passed;          /* resolved weight of the callers that were looked at */
  struct evidence evidence; /* of the resolved ones */
};

struct finding {
  const struct edge_question *question;
  struct edge_answer answer;
  uint32_t function_count;
  struct sum *sums[EDGE_KINDS]; /* a function each, then the three that are none */
  struct mix *mixes;
};

static struct sum *sum_of(struct finding *finding, enum edge_kind kind, uint32_t function) {
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
  if (last == NULL) return -ENOMEM;
  last[0] = NO_EDGE;
  for (uint32_t i = 1; i < tree->node_count; i++) {
    const struct view_node *node = &tree->nodes[i];
    last[i] = question->side == EDGE_CALLERS ? last_into(finding, node, last)
                                             : last_out(finding, node, last);
    if (last[i] == NO_EDGE || node->self_weight == 0) continue;
    struct sum *sum = sum_of(finding, EDGE_STACK, last[i]);
    sum->measured += node->self_weight;
    sum->count += node->self_count;
    evidence_add(&sum->evidence, node->self_count, node->self_weight);
    part->weight += node->self_weight;
    part->count += node->self_count;
  }
  return 0;
}

/* ---- pairs ---- */

static void mix_up(struct finding *finding) {
  const struct pair_links *pairs = finding->question->pairs;
  for (uint32_t i = 0; i < pairs->count; i++) {
    const struct pair_link *link = &pairs->links[i];
    struct mix *mix = &finding->mixes[link->key.callee];
    if (link->key.is_inlined) continue;
    if (link->key.caller == PAIR_NO_CALLER) {
      mix->unresolved += link->weight;
      if (link->key.is_leaf) mix->unresolved_leaf += link->weight;
    } else {
      mix->resolved += link->weight;
      add_evidence(&mix->evidence, &link->evidence);
    }
  }
}

static bool is_refused(const struct mix *mix) {
  return mix->resolved == 0 || evidence_trials(&mix->evidence) < EDGES_RESOLVABLE_MIN;
}

/* WHOLE * PART / PARTS, rising with PART, and all of it in the end; products of two weights have no
   room in 64 bits. */
static uint64_t part_of(uint64_t whole, uint64_t part, uint64_t parts) {
  if (part >= parts) return whole;
  double share = (double)whole * ((double)part / (double)parts);
  return share < (double)whole ? (uint64_t)share : whole;
}

/* What LINK, of a known caller, gets of its function's unresolved weight. */
static uint64_t extrapolate(struct mix *mix, const struct pair_link *link) {
  if (link->key.is_inlined || is_refused(mix)) return 0;
  uint64_t before = part_of(mix->unresolved, mix->passed, mix->resolved);
  mix->passed += link->weight;
  return part_of(mix->unresolved, mix->passed, mix->resolved) - before;
}

static void note_rungs(struct finding *finding, const struct pair_link *link) {
  for (unsigned rung = 0; rung < PAIR_RUNGS; rung++)
    finding->answer.rung_weight[rung] += link->rung_weight[rung];
  finding->answer.outside_weight += link->outside_weight;
}

/* The edge of LINK; its other end is FUNCTION. */
static void add_link(struct finding *finding, const struct pair_link *link, uint32_t function,
                     uint64_t extrapolated) {
  struct sum *sum = sum_of(finding, EDGE_LR, function);
  struct edge_part *part = &finding->answer.parts[EDGE_LR];
  sum->measured += link->weight;
  sum->extrapolated += extrapolated;
  sum->count += link->count;
  add_evidence(&sum->evidence, &link->evidence);
  part->weight += link->weight + extrapolated;
}

static void add_callers(struct finding *finding) {
  const struct edge_question *question = finding->question;
  struct edge_part *part = &finding->answer.parts[EDGE_LR];
  for (uint32_t i = 0; i < question->pairs->count; i++) {
    const struct pair_link *link = &question->pairs->links[i];
    if (!question->is_asked[link->key.callee]) continue;
    struct mix *mix = &finding->mixes[link->key.callee];
    note_rungs(finding, link);
    part->count += link->count;
    if (link->key.caller != PAIR_NO_CALLER) {
      add_link(finding, link, link->key.caller, extrapolate(mix, link));
    } else if (is_refused(mix)) {
      add_link(finding, link, EDGE_UNRESOLVED, 0);
      finding->answer.refused_weight += link->weight;
    }
  }
}

static void add_callee(struct finding *finding, const struct pair_link *link) {
  const bool *is_asked = finding->question->is_asked;
  struct mix *mix = &finding->mixes[link->key.callee];
  uint64_t extrapolated = extrapolate(mix, link);
  if (!is_asked[link->key.caller] || !link->key.is_last) return;
  if (is_asked[link->key.callee] && extrapolated > 0) {
    extrapolated = part_of(mix->unresolved_leaf, link->weight, mix->resolved);
    struct sum *itself = sum_of(finding, EDGE_LR, EDGE_ITSELF);
    itself->measured -= extrapolated; /* all of it has been added */
    finding->answer.parts[EDGE_LR].weight -= extrapolated;
  }
  note_rungs(finding, link);
  finding->answer.rung_weight[PAIR_UNRESOLVED] += extrapolated;
  add_link(finding, link, link->key.callee, extrapolated);
  finding->answer.parts[EDGE_LR].count += link->count;
}

static void add_callees(struct finding *finding) {
  const struct pair_links *pairs = finding->question->pairs;
  const bool *is_asked = finding->question->is_asked;
  for (uint32_t i = 0; i < pairs->count; i++) {
    const struct pair_call_key *key = &pairs->links[i].key;
    bool is_own = key->is_leaf && is_asked[key->callee];
    if (!is_own || (key->caller != PAIR_NO_CALLER && is_asked[key->caller])) continue;
    add_link(finding, &pairs->links[i], EDGE_ITSELF, 0);
    finding->answer.parts[EDGE_LR].count += pairs->links[i].count;
  }
  for (uint32_t i = 0; i < pairs->count; i++)
    if (pairs->links[i].key.caller != PAIR_NO_CALLER) add_callee(finding, &pairs->links[i]);
}

/* ---- the answer ---- */

static double fraction(uint64_t part, uint64_t whole) {
  return whole > 0 ? (double)part / (double)whole : 0;
}

static struct view_share share_of(const struct finding *finding, const struct sum *sum,
                                  bool is_known) {
  const struct edge_answer *answer = &finding->answer;
  double share = fraction(sum->measured + sum->extrapolated, answer->total_weight);
  double trials = share > 0 ? evidence_trials(&sum->evidence) / share : 0;
  struct view_share ret = interval_wilson(share, trials);
  if (is_known) ret.high += fraction(answer->refused_weight, answer->total_weight);
  if (ret.high > 1) ret.high = 1;
  return ret;
}

static int heaviest_first(const void *left, const void *right) {
  const struct edge *a = left, *b = right;
  uint64_t weight = a->measured + a->extrapolated, other = b->measured + b->extrapolated;
  if (weight != other) return weight > other ? -1 : 1;
  if (a->function != b->function) return a->function < b->function ? -1 : 1;
  return (int)a->kind - (int)b->kind;
}

static int list(struct finding *finding, struct arena *arena) {
  struct edge_answer *answer = &finding->answer;
  uint32_t ends = finding->function_count + 3, count = 0;
  for (unsigned kind = 0; kind < EDGE_KINDS; kind++) {
    answer->total_weight += answer->parts[kind].weight;
    answer->total_count += answer->parts[kind].count;
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
      answer->edges[answer->edge_count++] =
          (struct edge){.function = function,
                        .kind = (enum edge_kind)kind,
                        .measured = sum->measured,
                        .extrapolated = sum->extrapolated,
                        .count = sum->count,
                        .share = share_of(finding, sum, function != EDGE_UNRESOLVED)};
    }
  }
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
  finding.mixes = arena_array(arena, (size_t)finding.function_count + 1, sizeof *finding.mixes);
  if (finding.mixes == NULL) return -ENOMEM;
  int error = find_in_stacks(&finding, arena);
  if (error != 0) return error;
  mix_up(&finding);
  if (question->side == EDGE_CALLERS)
    add_callers(&finding);
  else
    add_callees(&finding);
  error = list(&finding, arena);
  if (error == 0) *ret = finding.answer;
  return error;
}
