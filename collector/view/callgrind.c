/* SPDX-License-Identifier: Apache-2.0 */
/* callgrind's text: a function's own cost, and for each function that it calls what that cost,
   everything below included.

   Readers add the two up to a function's inclusive cost, so the calls have to be chosen such that
   the sum is right even when functions recurse.  Take one stack.  For each function in it the
   innermost occurrence decides: when that is the leaf, the stack is the function's own cost;
   otherwise the stack is counted once, for the call to the frame below.

     main > walk > walk > read      main -> walk   walk -> read   read: own cost

   So every function gets each stack that it is in exactly once, and no inclusive cost exceeds the
   total.  Calls within a recursion vanish, as they must.

   The format wants a number of calls.  A sampler does not know any: the number is of samples. */
#include "export.h"
#include "text_ids.h"

#include "common/arena.h"
#include "common/buf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct edge {
  uint32_t caller, callee; /* functions */
  uint64_t count, weight;
};

struct callgrind {
  const struct view_tree *tree;
  struct table by_pair;
  struct edge *edges;
  uint32_t edge_count, edge_room;
  uint32_t *seen;                     /* per function: the last leaf in whose stack it was met */
  uint64_t *self_count, *self_weight; /* per function */
  struct text_ids modules, files;
  struct buf *out;
};

static int add_edge(struct callgrind *callgrind, const struct edge *more) {
  uint64_t key = (uint64_t)more->caller << 32 | more->callee;
  uint32_t cursor, at = table_find(&callgrind->by_pair, key, &cursor);
  if (at != TABLE_NONE) {
    callgrind->edges[at].count += more->count;
    callgrind->edges[at].weight += more->weight;
    return 0;
  }
  if (callgrind->edge_count == callgrind->edge_room) {
    uint32_t room = callgrind->edge_room > 0 ? callgrind->edge_room * 2 : 256;
    struct edge *grown = reallocarray(callgrind->edges, room, sizeof *grown);
    if (grown == NULL) return -ENOMEM;
    callgrind->edges = grown;
    callgrind->edge_room = room;
  }
  callgrind->edges[callgrind->edge_count] = *more;
  return table_add(&callgrind->by_pair, key, callgrind->edge_count++);
}

/* Counts the stack of LEAF once for each function in it, from the leaf up. */
static int add_stack(struct callgrind *callgrind, uint32_t leaf) {
  const struct view_node *nodes = callgrind->tree->nodes;
  const struct view_node *own = &nodes[leaf];
  struct edge edge = {
      .callee = own->function, .count = own->self_count, .weight = own->self_weight};
  callgrind->seen[own->function] = leaf;
  callgrind->self_count[own->function] += own->self_count;
  callgrind->self_weight[own->function] += own->self_weight;
  for (uint32_t at = own->parent; at != 0; at = nodes[at].parent) {
    edge.caller = nodes[at].function;
    if (callgrind->seen[edge.caller] != leaf) {
      callgrind->seen[edge.caller] = leaf;
      int error = add_edge(callgrind, &edge);
      if (error != 0) return error;
    }
    edge.callee = nodes[at].function;
  }
  return 0;
}

static int add_stacks(struct callgrind *callgrind, struct arena *arena) {
  const struct view_tree *tree = callgrind->tree;
  uint32_t functions = tree->function_count;
  callgrind->seen = arena_array(arena, functions, sizeof *callgrind->seen);
  callgrind->self_count = arena_array(arena, functions, sizeof *callgrind->self_count);
  callgrind->self_weight = arena_array(arena, functions, sizeof *callgrind->self_weight);
  if (!callgrind->seen || !callgrind->self_count || !callgrind->self_weight) return -ENOMEM;
  int error = 0;
  for (uint32_t i = 1; i < tree->node_count && error == 0; i++)
    if (tree->nodes[i].self_weight > 0) error = add_stack(callgrind, i);
  return error;
}

static int by_caller(const void *left, const void *right) {
  const struct edge *a = left, *b = right;
  if (a->caller != b->caller) return a->caller < b->caller ? -1 : 1;
  return a->callee < b->callee ? -1 : a->callee > b->callee;
}

/* One line of text whatever is in it. */
static void put_line(struct buf *out, const char *text) {
  for (; *text != '\0'; text++)
    buf_append_byte(out, *text == '\n' || *text == '\r' ? ' ' : (uint8_t)*text);
  buf_append_byte(out, '\n');
}

/* `KEY=(id) name`, the name the first time only. */
static void put_name(struct callgrind *callgrind, const char *key, struct text_ids *ids,
                     const char *name) {
  bool is_new;
  uint32_t id = text_ids_of(ids, name, &is_new) + 1;
  buf_printf(callgrind->out, "%s=(%u)%s", key, id, is_new ? " " : "");
  put_line(callgrind->out, is_new ? name : "");
}

/* Functions have numbers already; SEEN now says which were written out. */
static void put_function(struct callgrind *callgrind, const char *key, uint32_t at) {
  bool is_new = callgrind->seen[at] != UINT32_MAX;
  callgrind->seen[at] = UINT32_MAX;
  buf_printf(callgrind->out, "%s=(%u)%s", key, at, is_new ? " " : "");
  put_line(callgrind->out, is_new ? callgrind->tree->functions[at].name : "");
}

static const char *file_of(const struct view_function *function) {
  return function->file != NULL ? function->file : "???";
}

static void put_costs(struct callgrind *callgrind, uint32_t line, const uint64_t costs[2]) {
  buf_printf(callgrind->out, "%u %llu %llu\n", line, (unsigned long long)costs[0],
             (unsigned long long)costs[1]);
}

static void put_edge(struct callgrind *callgrind, const struct edge *edge) {
  const struct view_function *callee = &callgrind->tree->functions[edge->callee];
  put_name(callgrind, "cob", &callgrind->modules, callee->module);
  put_name(callgrind, "cfi", &callgrind->files, file_of(callee));
  put_function(callgrind, "cfn", edge->callee);
  buf_printf(callgrind->out, "calls=%llu %u\n", (unsigned long long)edge->count, callee->line);
  put_costs(callgrind, callgrind->tree->functions[edge->caller].line,
            (uint64_t[2]){edge->count, edge->weight});
}

static void put_functions(struct callgrind *callgrind) {
  const struct edge *edge = callgrind->edges, *end = edge + callgrind->edge_count;
  for (uint32_t i = 1; i < callgrind->tree->function_count; i++) {
    const struct view_function *function = &callgrind->tree->functions[i];
    bool is_caller = edge < end && edge->caller == i;
    if (callgrind->self_weight[i] == 0 && !is_caller) continue;
    buf_append_byte(callgrind->out, '\n');
    put_name(callgrind, "ob", &callgrind->modules, function->module);
    put_name(callgrind, "fl", &callgrind->files, file_of(function));
    put_function(callgrind, "fn", i);
    if (callgrind->self_weight[i] > 0)
      put_costs(callgrind, function->line,
                (uint64_t[2]){callgrind->self_count[i], callgrind->self_weight[i]});
    for (; edge < end && edge->caller == i; edge++) put_edge(callgrind, edge);
  }
}

static void put_all(struct callgrind *callgrind, const struct view_origin *origin) {
  uint64_t count = 0, weight = 0;
  for (uint32_t i = 1; i < callgrind->tree->function_count; i++) {
    count += callgrind->self_count[i];
    weight += callgrind->self_weight[i];
  }
  buf_append_string(callgrind->out, "# callgrind format\nversion: 1\n"
                                    "creator: fleetprof " FLEETPROF_VERSION "\ncmd: ");
  put_line(callgrind->out, origin->title != NULL ? origin->title : "");
  buf_printf(callgrind->out, "positions: line\nevents: Samples CPU_ns\nsummary: %llu %llu\n",
             (unsigned long long)count, (unsigned long long)weight);
  put_functions(callgrind);
  buf_printf(callgrind->out, "\ntotals: %llu %llu\n", (unsigned long long)count,
             (unsigned long long)weight);
}

int view_callgrind(const struct view_tree *tree, const struct view_origin *origin,
                   struct arena *arena, struct buf *ret) {
  struct callgrind callgrind = {.tree = tree, .out = ret};
  int error = add_stacks(&callgrind, arena);
  if (error == 0) {
    if (callgrind.edge_count > 0)
      qsort(callgrind.edges, callgrind.edge_count, sizeof *callgrind.edges, by_caller);
    memset(callgrind.seen, 0, tree->function_count * sizeof *callgrind.seen);
    put_all(&callgrind, origin);
    if (ret->failed || callgrind.modules.failed || callgrind.files.failed) error = -ENOMEM;
  }
  table_fini(&callgrind.by_pair);
  text_ids_fini(&callgrind.modules);
  text_ids_fini(&callgrind.files);
  free(callgrind.edges);
  return error;
}
