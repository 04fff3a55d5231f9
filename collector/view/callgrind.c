/* SPDX-License-Identifier: Apache-2.0 */
/* callgrind's text: a function's own cost, and for each function that it calls what that cost,
   everything below included.  Stacks are freed of their recursion first (call_path.c), so that own
   costs and calls add up: no inclusive cost exceeds the total, whichever way a reader makes it.

   The format wants a number of calls.  A sampler does not know any: the number is of samples. */
#include "call_path.h"
#include "export.h"
#include "text_ids.h"

#include "common/arena.h"
#include "common/buf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A function as it is written: by its name, or entered again, NAME'LEVEL. */
struct entry {
  uint32_t function, level;
  bool is_written;
  uint64_t count, weight; /* its own */
};

struct edge {
  uint32_t caller, callee; /* entries */
  uint64_t count, weight;
};

struct callgrind {
  const struct view_tree *tree;
  struct call_path path;
  struct table by_level; /* (function, level) -> entry, from level 2 on */
  struct entry *entries; /* the functions, then those of the table */
  uint32_t entry_count, entry_room;
  struct table by_pair; /* (caller, callee) -> edge */
  struct edge *edges;
  uint32_t edge_count, edge_room;
  struct text_ids modules, files;
  struct buf *out;
};

/* Makes room in *ROWS for one more than COUNT of SIZE bytes. */
static int grow(void *rows, uint32_t count, uint32_t *room, size_t size) {
  void *old, *grown;
  if (count < *room) return 0;
  uint32_t more = *room > 0 ? *room * 2 : 256;
  memcpy(&old, rows, sizeof old);
  grown = reallocarray(old, more, size);
  if (grown == NULL) return -ENOMEM;
  memcpy(rows, &grown, sizeof grown);
  *room = more;
  return 0;
}

static int find_entry(struct callgrind *callgrind, const struct call_place *place, uint32_t *ret) {
  *ret = place->function;
  if (place->level == 1) return 0;
  uint64_t key = (uint64_t)place->function << 32 | place->level;
  uint32_t cursor, at = table_find(&callgrind->by_level, key, &cursor);
  if (at == TABLE_NONE) {
    at = callgrind->entry_count;
    int error = grow(&callgrind->entries, at, &callgrind->entry_room, sizeof *callgrind->entries);
    if (error == 0) error = table_add(&callgrind->by_level, key, at);
    if (error != 0) return error;
    callgrind->entries[callgrind->entry_count++] =
        (struct entry){.function = place->function, .level = place->level};
  }
  *ret = at;
  return 0;
}

static int add_edge(struct callgrind *callgrind, const struct edge *more) {
  uint64_t key = (uint64_t)more->caller << 32 | more->callee;
  uint32_t cursor, at = table_find(&callgrind->by_pair, key, &cursor);
  if (at != TABLE_NONE) {
    callgrind->edges[at].count += more->count;
    callgrind->edges[at].weight += more->weight;
    return 0;
  }
  int error = grow(&callgrind->edges, callgrind->edge_count, &callgrind->edge_room,
                   sizeof *callgrind->edges);
  if (error != 0) return error;
  callgrind->edges[callgrind->edge_count] = *more;
  return table_add(&callgrind->by_pair, key, callgrind->edge_count++);
}

static int add_stack(struct callgrind *callgrind, uint32_t leaf) {
  const struct view_node *own = &callgrind->tree->nodes[leaf];
  struct edge edge = {.count = own->self_count, .weight = own->self_weight};
  call_path_set(&callgrind->path, callgrind->tree, leaf);
  int error = 0;
  for (uint32_t i = 0; i < callgrind->path.count && error == 0; i++) {
    edge.caller = edge.callee;
    error = find_entry(callgrind, &callgrind->path.places[i], &edge.callee);
    if (error == 0 && i > 0) error = add_edge(callgrind, &edge);
  }
  if (error != 0) return error;
  callgrind->entries[edge.callee].count += own->self_count;
  callgrind->entries[edge.callee].weight += own->self_weight;
  return 0;
}

static int add_stacks(struct callgrind *callgrind, struct arena *arena) {
  const struct view_tree *tree = callgrind->tree;
  uint32_t functions = tree->function_count;
  int error = call_path_init(&callgrind->path, tree, arena);
  callgrind->entries = calloc(functions, sizeof *callgrind->entries);
  if (callgrind->entries == NULL) return -ENOMEM;
  callgrind->entry_count = callgrind->entry_room = functions;
  for (uint32_t i = 0; i < functions; i++)
    callgrind->entries[i] = (struct entry){.function = i, .level = 1};
  for (uint32_t i = 1; i < tree->node_count && error == 0; i++)
    if (tree->nodes[i].self_weight > 0) error = add_stack(callgrind, i);
  return error;
}

static int by_caller(const void *left, const void *right) {
  const struct edge *a = left, *b = right;
  if (a->caller != b->caller) return a->caller < b->caller ? -1 : 1;
  return a->callee < b->callee ? -1 : a->callee > b->callee;
}

/* Within one line, whatever is in it. */
static void put_text(struct buf *out, const char *text) {
  for (; *text != '\0'; text++)
    buf_append_byte(out, *text == '\n' || *text == '\r' ? ' ' : (uint8_t)*text);
}

/* `KEY=(id) name`, the name the first time only. */
static void put_name(struct callgrind *callgrind, const char *key, struct text_ids *ids,
                     const char *name) {
  bool is_new;
  uint32_t id = text_ids_of(ids, name, &is_new) + 1;
  buf_printf(callgrind->out, "%s=(%u)%s", key, id, is_new ? " " : "");
  if (is_new) put_text(callgrind->out, name);
  buf_append_byte(callgrind->out, '\n');
}

/* Entries have numbers already. */
static void put_function(struct callgrind *callgrind, const char *key, uint32_t at) {
  struct entry *entry = &callgrind->entries[at];
  buf_printf(callgrind->out, "%s=(%u)", key, at);
  if (!entry->is_written) {
    buf_append_byte(callgrind->out, ' ');
    put_text(callgrind->out, callgrind->tree->functions[entry->function].name);
    if (entry->level > 1) buf_printf(callgrind->out, "'%u", entry->level);
  }
  buf_append_byte(callgrind->out, '\n');
  entry->is_written = true;
}

static const char *file_of(const struct view_function *function) {
  return function->file != NULL ? function->file : "???";
}

static void put_costs(struct callgrind *callgrind, uint32_t line, const uint64_t costs[2]) {
  buf_printf(callgrind->out, "%u %llu %llu\n", line, (unsigned long long)costs[0],
             (unsigned long long)costs[1]);
}

static const struct view_function *function_of(const struct callgrind *callgrind, uint32_t entry) {
  return &callgrind->tree->functions[callgrind->entries[entry].function];
}

static void put_edge(struct callgrind *callgrind, const struct edge *edge) {
  const struct view_function *callee = function_of(callgrind, edge->callee);
  put_name(callgrind, "cob", &callgrind->modules, callee->module);
  put_name(callgrind, "cfi", &callgrind->files, file_of(callee));
  put_function(callgrind, "cfn", edge->callee);
  buf_printf(callgrind->out, "calls=%llu %u\n", (unsigned long long)edge->count, callee->line);
  put_costs(callgrind, function_of(callgrind, edge->caller)->line,
            (uint64_t[2]){edge->count, edge->weight});
}

static void put_functions(struct callgrind *callgrind) {
  const struct edge *edge = callgrind->edges, *end = edge + callgrind->edge_count;
  for (uint32_t i = 0; i < callgrind->entry_count; i++) {
    const struct entry *entry = &callgrind->entries[i];
    const struct view_function *function = function_of(callgrind, i);
    bool is_caller = edge < end && edge->caller == i;
    if (entry->weight == 0 && !is_caller) continue;
    buf_append_byte(callgrind->out, '\n');
    put_name(callgrind, "ob", &callgrind->modules, function->module);
    put_name(callgrind, "fl", &callgrind->files, file_of(function));
    put_function(callgrind, "fn", i);
    if (entry->weight > 0)
      put_costs(callgrind, function->line, (uint64_t[2]){entry->count, entry->weight});
    for (; edge < end && edge->caller == i; edge++) put_edge(callgrind, edge);
  }
}

static void put_all(struct callgrind *callgrind, const struct view_origin *origin) {
  uint64_t count = 0, weight = 0;
  for (uint32_t i = 0; i < callgrind->entry_count; i++) {
    count += callgrind->entries[i].count;
    weight += callgrind->entries[i].weight;
  }
  buf_append_string(callgrind->out, "# callgrind format\nversion: 1\n"
                                    "creator: fleetprof " FLEETPROF_VERSION "\ncmd: ");
  put_text(callgrind->out, origin->title != NULL ? origin->title : "");
  buf_printf(callgrind->out, "\npositions: line\nevents: Samples CPU_ns\nsummary: %llu %llu\n",
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
    put_all(&callgrind, origin);
    if (ret->failed || callgrind.modules.failed || callgrind.files.failed) error = -ENOMEM;
  }
  table_fini(&callgrind.by_level);
  table_fini(&callgrind.by_pair);
  text_ids_fini(&callgrind.modules);
  text_ids_fini(&callgrind.files);
  free(callgrind.entries);
  free(callgrind.edges);
  return error;
}
