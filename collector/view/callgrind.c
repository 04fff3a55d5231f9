/* SPDX-License-Identifier: Apache-2.0 */
/* callgrind's text: a function's own cost, and for each function that it calls the inclusive
   cost of the calls. Recursion is removed from stacks first (call_path.c), so that own costs and
   calls add up: no inclusive cost exceeds the total, however a reader computes it.

   If the tree distinguishes lines, each line has its cost, and each call the line of the call.
   An inlined function is a function of its own, as in every other answer.

   The format requires a number of calls. A sampler does not measure calls, so the number is of
   samples. */
#include "call_path.h"
#include "common/array.h"
#include "export.h"
#include "text_ids.h"

#include "common/arena.h"
#include "common/buf.h"
#include "common/cutoff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
  NO_CALLEE = 0, /* the root, which has no caller */
  FIRST_ROOM = 256,
};

/* A function as written: by its name, or NAME'LEVEL when entered again. */
struct entry {
  uint32_t function, level;
  bool is_written;
};

/* The cost of a line of an entry, of its own or of calls to another entry. */
struct cost {
  uint32_t entry, callee; /* NO_CALLEE: by itself */
  uint32_t place;
  uint64_t count;
  wide_sum weight;
};

struct callgrind {
  const struct view_tree *tree;
  struct call_path path;
  struct table by_level; /* (function, level) -> entry, from level 2 on */
  struct entry *entries; /* the functions, then those of the table */
  uint32_t entry_count, entry_room;
  struct table by_line; /* (entry, callee, place) -> cost */
  struct cost *costs;
  uint32_t cost_count, cost_room;
  struct text_ids modules, files;
  const char *file; /* the file of the current lines */
  struct buf *out;
};

static int find_entry(struct callgrind *callgrind, const struct call_place *place, uint32_t *ret) {
  *ret = place->function;
  if (place->level == 1) return 0;
  uint64_t key = (uint64_t)place->function << 32 | place->level;
  uint32_t cursor, at = table_find(&callgrind->by_level, key, &cursor);
  if (at == TABLE_NONE) {
    at = callgrind->entry_count;
    void *entries = array_grow(callgrind->entries, at, &callgrind->entry_room, FIRST_ROOM,
                               sizeof *callgrind->entries);
    if (entries == NULL) return -ENOMEM;
    callgrind->entries = entries;
    int error = table_add(&callgrind->by_level, key, at);
    if (error != 0) return error;
    callgrind->entries[callgrind->entry_count++] =
        (struct entry){.function = place->function, .level = place->level};
  }
  *ret = at;
  return 0;
}

static int add_cost(struct callgrind *callgrind, const struct cost *more) {
  const uint32_t words[] = {more->entry, more->callee, more->place};
  uint64_t key = table_hash(words, sizeof words, 0);
  uint32_t cursor, at = table_find(&callgrind->by_line, key, &cursor);
  for (; at != TABLE_NONE; at = table_next(&callgrind->by_line, key, &cursor)) {
    struct cost *known = &callgrind->costs[at];
    if (known->entry != more->entry || known->callee != more->callee || known->place != more->place)
      continue;
    known->count = sum_of(known->count, more->count);
    known->weight += more->weight;
    return 0;
  }
  void *costs = array_grow(callgrind->costs, callgrind->cost_count, &callgrind->cost_room,
                           FIRST_ROOM, sizeof *callgrind->costs);
  if (costs == NULL) return -ENOMEM;
  callgrind->costs = costs;
  callgrind->costs[callgrind->cost_count] = *more;
  return table_add(&callgrind->by_line, key, callgrind->cost_count++);
}

static int add_stack(struct callgrind *callgrind, uint32_t leaf) {
  const struct view_node *nodes = callgrind->tree->nodes;
  const struct call_path *path = &callgrind->path;
  struct cost cost = {.count = nodes[leaf].self_count, .weight = nodes[leaf].self_weight};
  call_path_set(&callgrind->path, callgrind->tree, leaf);
  int error = find_entry(callgrind, &path->places[0], &cost.entry);
  for (uint32_t i = 0; i < path->count && error == 0; i++) {
    cost.callee = NO_CALLEE;
    cost.place = nodes[path->places[i].node].place;
    if (i + 1 < path->count) error = find_entry(callgrind, &path->places[i + 1], &cost.callee);
    if (error == 0) error = add_cost(callgrind, &cost);
    cost.entry = cost.callee;
  }
  return error;
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
  for (uint32_t i = 1; i < tree->node_count && error == 0; i++) {
    if (tree->nodes[i].self_weight > 0) error = add_stack(callgrind, i);
    if (cutoff_is_at(tree->cutoff, i)) error = -ETIMEDOUT;
  }
  return error;
}

static int by_entry(const void *left, const void *right) {
  const struct cost *a = left, *b = right;
  if (a->entry != b->entry) return a->entry < b->entry ? -1 : 1;
  if (a->callee != b->callee) return a->callee < b->callee ? -1 : 1;
  return a->place < b->place ? -1 : a->place > b->place;
}

/* Writes TEXT within one line, whatever characters it has. */
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

/* The entry must have a number already. */
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

static const struct view_function *function_of(const struct callgrind *callgrind, uint32_t entry) {
  return &callgrind->tree->functions[callgrind->entries[entry].function];
}

/* Writes the line of COST: its function's declaration if the tree has no lines. If the line is
   in another file than the function, that file is written first. */
static void put_place(struct callgrind *callgrind, const struct cost *cost) {
  const struct view_function *function = function_of(callgrind, cost->entry);
  const struct view_place *place = &callgrind->tree->places[cost->place];
  const char *own = file_of(function), *file = place->file != NULL ? place->file : own;
  uint32_t line = place->line > 0 || place->file != NULL ? place->line : function->line;
  if (strcmp(file, callgrind->file) != 0)
    put_name(callgrind, strcmp(file, own) == 0 ? "fe" : "fi", &callgrind->files, file);
  callgrind->file = file;
  if (cost->callee != NO_CALLEE) {
    const struct view_function *callee = function_of(callgrind, cost->callee);
    put_name(callgrind, "cob", &callgrind->modules, callee->module);
    put_name(callgrind, "cfi", &callgrind->files, file_of(callee));
    put_function(callgrind, "cfn", cost->callee);
    buf_printf(callgrind->out, "calls=%llu %u\n", (unsigned long long)cost->count, callee->line);
  }
  char weight[WIDE_SUM_DIGITS + 1];
  wide_sum_print(cost->weight, weight);
  buf_printf(callgrind->out, "%u %llu %s\n", line, (unsigned long long)cost->count, weight);
}

static int put_functions(struct callgrind *callgrind) {
  uint32_t entry = NO_CALLEE;
  for (uint32_t i = 0; i < callgrind->cost_count; i++) {
    const struct cost *cost = &callgrind->costs[i];
    const struct view_function *function = function_of(callgrind, cost->entry);
    if (cutoff_is_at(callgrind->tree->cutoff, i)) return -ETIMEDOUT;
    if (cost->entry != entry) {
      entry = cost->entry;
      callgrind->file = file_of(function);
      buf_append_byte(callgrind->out, '\n');
      put_name(callgrind, "ob", &callgrind->modules, function->module);
      put_name(callgrind, "fl", &callgrind->files, callgrind->file);
      put_function(callgrind, "fn", entry);
    }
    put_place(callgrind, cost);
  }
  return 0;
}

static int put_all(struct callgrind *callgrind, const struct view_origin *origin) {
  char weight[WIDE_SUM_DIGITS + 1];
  wide_sum all = 0;
  uint64_t count = 0;
  for (uint32_t i = 0; i < callgrind->cost_count; i++) {
    if (callgrind->costs[i].callee != NO_CALLEE) continue;
    count = sum_of(count, callgrind->costs[i].count);
    all += callgrind->costs[i].weight;
  }
  wide_sum_print(all, weight);
  buf_append_string(callgrind->out, "# callgrind format\nversion: 1\n"
                                    "creator: fleetprof " FLEETPROF_VERSION "\ncmd: ");
  put_text(callgrind->out, origin->title != NULL ? origin->title : "");
  buf_printf(callgrind->out, "\npositions: line\nevents: Samples CPU_ns\nsummary: %llu %s\n",
             (unsigned long long)count, weight);
  int error = put_functions(callgrind);
  buf_printf(callgrind->out, "\ntotals: %llu %s\n", (unsigned long long)count, weight);
  return error;
}

int view_callgrind(const struct view_tree *tree, const struct view_origin *origin,
                   struct arena *arena, struct buf *ret) {
  struct callgrind callgrind = {.tree = tree, .out = ret};
  int error = add_stacks(&callgrind, arena);
  if (error == 0) {
    if (callgrind.cost_count > 0)
      qsort(callgrind.costs, callgrind.cost_count, sizeof *callgrind.costs, by_entry);
    error = put_all(&callgrind, origin);
    if (ret->failed || callgrind.modules.failed || callgrind.files.failed) error = -ENOMEM;
  }
  table_fini(&callgrind.by_level);
  table_fini(&callgrind.by_line);
  text_ids_fini(&callgrind.modules);
  text_ids_fini(&callgrind.files);
  free(callgrind.entries);
  free(callgrind.costs);
  return error;
}
