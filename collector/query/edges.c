/* SPDX-License-Identifier: Apache-2.0 */
/* One scan gives both: stacks become the tree; pairs are judged and summed by the tree's
   functions (linked).

   A pair is a short stack. Several functions may be at its PC, inlined into each other. Then the
   innermost one's caller is known, and the link register belongs to the outermost. The verdict
   on a node's pair is kept while the board and the forest are the same, because blocks repeat
   the same nodes. */
#include "edges.h"

#include "asked_name.h"
#include "common/arena.h"
#include "naming.h"
#include "pair_judge.h"
#include "symbol/symbol_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct judged {
  bool is_known;
  struct pair_verdict verdict;
};

struct pairing {
  struct symbolizer *symbolizer;
  struct pair_links links;
  char *board; /* the board and forest of the verdicts */
  uint64_t forest_id;
  struct judged *judged; /* one for each node */
  uint32_t judged_room;
};

/* The functions of one pair: of the PC, outermost first, and the one that the link points into. */
struct way {
  uint32_t functions[SYMBOL_CHAIN_MAX];
  uint32_t count;
  uint32_t caller; /* PAIR_NO_CALLER */
};

static int turn_to(struct pairing *pairing, const char *board, const struct store_forest *forest) {
  bool is_same = pairing->board != NULL && strcmp(pairing->board, board) == 0;
  if (is_same && pairing->forest_id == forest->id) return 0;
  if (forest->node_count > pairing->judged_room) {
    struct judged *more = reallocarray(pairing->judged, forest->node_count, sizeof *more);
    if (more == NULL) return -ENOMEM;
    pairing->judged = more;
    pairing->judged_room = forest->node_count;
  }
  char *copy = is_same ? pairing->board : strdup(board);
  if (copy == NULL) return -ENOMEM;
  if (!is_same) free(pairing->board);
  pairing->board = copy;
  pairing->forest_id = forest->id;
  memset(pairing->judged, 0, forest->node_count * sizeof *pairing->judged);
  return 0;
}

static struct pair_verdict judge(struct pairing *pairing, const struct store_series *series,
                                 const struct store_forest *forest, uint32_t node) {
  struct judged *judged = &pairing->judged[node];
  if (!judged->is_known) {
    const struct pair_view view = {pairing->symbolizer, pairing->board,
                                   store_series_label(series, "arch"), forest};
    *judged = (struct judged){true, pair_judge(&view, node)};
  }
  return judged->verdict;
}

static int find_way(struct naming *naming, const struct store_forest *forest, uint32_t node,
                    bool is_resolved, struct way *ret) {
  struct naming_chain chain;
  const struct store_node *pc = &forest->nodes[node];
  int error = naming_chain(naming, forest, pc, &chain);
  if (error != 0) return error;
  ret->count = chain.count < SYMBOL_CHAIN_MAX ? chain.count : SYMBOL_CHAIN_MAX;
  for (uint32_t i = 0; i < ret->count; i++) ret->functions[i] = chain.steps[i].function;
  ret->caller = PAIR_NO_CALLER;
  if (!is_resolved) return 0;
  return naming_find(naming, forest, &forest->nodes[pc->parent], &ret->caller);
}

/* Whether FUNCTION is among WAY's functions from FROM up to, but not including, END. */
static bool has_between(const struct way *way, uint32_t function, uint32_t from, uint32_t end) {
  for (uint32_t i = from; i < end; i++)
    if (way->functions[i] == function) return true;
  return false;
}

/* Adds each function of WAY once, at its last occurrence. */
static int add_way(struct pairing *pairing, const struct way *way,
                   const struct pair_verdict *verdict, const struct store_row *row) {
  int error = 0;
  for (uint32_t i = 0; i < way->count && error == 0; i++) {
    uint32_t leaf = way->count - 1, callee = way->functions[i];
    uint32_t caller = i > 0 ? way->functions[i - 1] : way->caller;
    if (has_between(way, callee, i + 1, way->count)) continue;
    struct pair_sample sample = {
        .key = {.callee = callee,
                .caller = caller,
                .is_inlined = i > 0,
                .is_leaf = i == leaf,
                .is_last = caller != PAIR_NO_CALLER && !has_between(way, caller, i, leaf)},
        .rung = i > 0 ? PAIR_BY_INLINE : verdict->rung,
        .is_outside = i == 0 && verdict->is_outside,
        .is_refuted = i == 0 && verdict->is_refuted,
        .is_unseen = i == 0 && verdict->is_unseen,
        .is_tangled = i == 0 && verdict->is_tangled,
        .count = row->count,
        .weight = row->weight,
    };
    error = pair_links_add(&pairing->links, &sample);
  }
  return error;
}

static void turn_pairs(void *context, const char *board, uint64_t start_ms, uint64_t end_ms) {
  struct pairing *pairing = context;
  pair_links_turn(&pairing->links, board, start_ms, end_ms);
}

static int on_pair(void *context, struct naming *naming, const struct store_series *series,
                   const struct store_forest *forest, const struct store_row *row) {
  struct pairing *pairing = context;
  const char *board = store_series_label(series, "board");
  int error = turn_to(pairing, board != NULL ? board : "", forest);
  if (error != 0) return error;
  struct way way;
  struct pair_verdict verdict = judge(pairing, series, forest, row->node);
  error = find_way(naming, forest, row->node, verdict.rung != PAIR_UNRESOLVED, &way);
  return error != 0 ? error : add_way(pairing, &way, &verdict, row);
}

/* Marks the functions that QUESTION selects. Returns NULL without memory. */
static bool *choose(const struct view_tree *tree, const struct edges_question *question,
                    struct arena *arena, bool *ret_is_any) {
  bool *is_asked = arena_array(arena, (size_t)tree->function_count + 1, sizeof *is_asked);
  *ret_is_any = false;
  for (uint32_t i = 1; i < tree->function_count && is_asked != NULL; i++) {
    const struct view_function *function = &tree->functions[i];
    is_asked[i] = asked_function_is(question->function, function) &&
                  (question->module == NULL || strcmp(function->module, question->module) == 0);
    if (is_asked[i]) *ret_is_any = true;
  }
  return is_asked;
}

static int answer(const struct edges_question *question, const struct pair_links *pairs,
                  struct arena *arena, struct edges_result *ret) {
  bool is_any = false;
  const struct view_tree *tree = &ret->tree;
  const bool *is_asked = choose(tree, question, arena, &is_any);
  if (is_asked == NULL) return -ENOMEM;
  if (!is_any) {
    ret->near_count = near_names_find(tree->functions, tree->function_count, question->function,
                                      tree->cutoff, ret->near_names);
    return -ENOENT;
  }
  const struct edge_question asked = {tree, pairs, is_asked, question->side};
  return edges_find(&asked, arena, &ret->answer);
}

int edges_query(const struct query_source *source, const struct query_range *range,
                const struct edges_question *question, struct arena *arena,
                struct edges_result *ret) {
  struct pairing pairing = {.symbolizer = source->symbolizer};
  const struct query_pairs pairs = {turn_pairs, on_pair, &pairing};
  *ret = (struct edges_result){.near_count = 0};
  int error = query_tree_and_pairs(source, range, &pairs, arena, &ret->tree);
  if (error == 0) error = answer(question, &pairing.links, arena, ret);
  pair_links_fini(&pairing.links);
  free(pairing.board);
  free(pairing.judged);
  return error;
}
