/* SPDX-License-Identifier: Apache-2.0 */
/* Node identity.

   A node is (parent, module, address). In the file it has a small number n, ascending from 1, so
   that a parent's n is always below its children's and columns of n compress well. It is found by a
   chained 64-bit hash: H(parent's hash, module's hash, address), SipHash under the fleet's key,
   equal on all collectors that share the key. Boards do not have the key. An accidental collision
   is harmless: a hit is compared with the row, and different content gets a row of its own.

   A window's nodes are mostly those of the last window, so a cache in front of the index finds
   nearly all of them without SQL. Its lookup key is (parent's row, module's row, address), which is
   equivalent within this file. It yields row and hash, so a hash is computed only after a miss.
   Each set has a few cells, the most recently used first. With one cell for each hash, a half full
   cache answered 70 % (measured: a third of a collector's time then was index lookups for the
   rest).

   The cache exceeds a CPU's own caches, and most of the time was spent waiting for its cells. So a
   node's place depends only on the path to it, not on any row. The places of all nodes of a window
   are computed first, and their cells prefetched. The mixing function starts with a seed that
   boards do not have.

   At the limit no node is added: a frame without a row is cut and its weight is added to its
   parent. A stack without any row is counted as "[other]". */
#include "node_table.h"

#include "db.h"
#include "proto/limits.h"

#include <errno.h>
#include <stdlib.h>

enum {
  CACHE_SETS = 1 << 13,
  CACHE_WAYS = 8,    /* 2 MiB: windows of some 150 programs */
  FETCHED_AHEAD = 8, /* nodes prefetched */
  LINE_BYTES = 64,   /* of a CPU cache line */
};

struct node_cell {
  uint64_t hash, address;
  uint32_t n, parent, module; /* rows */
};

#define CACHE_BYTES ((size_t)CACHE_SETS * CACHE_WAYS * sizeof(struct node_cell))

static const char *const node_sql[NODE_STATEMENTS] = {
    [NODE_FIND] = "SELECT n,parent,module,address FROM node WHERE hash=?",
    [NODE_ADD] = "INSERT INTO node(n,hash,parent,module,address) VALUES(?,?,?,?,?)",
};

int node_table_open(sqlite3 *db, const uint8_t key[SIPHASH_KEY_BYTES], uint32_t max,
                    struct node_table *ret) {
  ret->db = db;
  ret->max = max;
  memcpy(ret->key, key, SIPHASH_KEY_BYTES);
  ret->seed = siphash(key, span_of_string("places"));
  ret->room = calloc(1, CACHE_BYTES + LINE_BYTES); /* pages are allocated as they are used */
  if (ret->room == NULL) return -ENOMEM;
  ret->cells = (void *)((char *)ret->room + LINE_BYTES - (uintptr_t)ret->room % LINE_BYTES);
  uint64_t count = 0;
  int error = db_number(db, "SELECT ifnull(max(n),0) FROM node", 0, &count);
  if (error == 0 && count >= UINT32_MAX) error = -EUCLEAN;
  ret->count = (uint32_t)count;
  if (error == 0) error = module_table_open(db, key, &ret->modules);
  return error != 0 ? error : db_prepare_all(db, node_sql, NODE_STATEMENTS, ret->statements);
}

void node_table_close(struct node_table *table) {
  db_finalize_all(table->statements, NODE_STATEMENTS);
  module_table_close(&table->modules);
  free(table->room);
}

static uint64_t hash_node(const struct node_table *table, uint64_t parent, uint64_t module,
                          uint64_t address) {
  const uint64_t words[3] = {parent, module, address};
  uint8_t bytes[sizeof words];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(words[i / 8] >> (8 * (i % 8)));
  return siphash(table->key, span_of(bytes, sizeof bytes));
}

static bool is_same(const struct node_cell *a, const struct node_cell *b) {
  return a->address == b->address && a->parent == b->parent && a->module == b->module;
}

/* Returns the place of the node of MODULE (a row) and ADDRESS below the place ABOVE. */
static uint64_t place_of(uint64_t above, uint32_t module, uint64_t address) {
  uint64_t bits = (above ^ address) * UINT64_C(0x9e3779b97f4a7c15) + module;
  return (bits ^ (bits >> 32)) * UINT64_C(0xd6e8feb86659fd93);
}

/* The set of PLACE. */
static struct node_cell *set_of(const struct node_table *table, uint64_t place) {
  return &table->cells[(place ^ (place >> 32)) % CACHE_SETS * CACHE_WAYS];
}

static void fetch(const struct node_table *table, uint64_t place) {
  const char *set = (const char *)set_of(table, place);
  __builtin_prefetch(set);
  __builtin_prefetch(set + LINE_BYTES);
}

/* Finds the row with the content of WANTED. n stays 0 if there is none. */
static int find_row(struct node_table *table, struct node_cell *wanted, bool *ret_collides) {
  sqlite3_stmt *find = table->statements[NODE_FIND];
  int row;
  db_bind_u64(find, 1, wanted->hash);
  while ((row = db_step(find)) == 1 && wanted->n == 0) {
    bool is_it = db_u64(find, 1) == wanted->parent && db_u64(find, 2) == wanted->module &&
                 db_u64(find, 3) == wanted->address;
    if (is_it) wanted->n = (uint32_t)db_u64(find, 0);
    *ret_collides |= !is_it;
  }
  sqlite3_reset(find);
  return row < 0 ? row : 0;
}

static int add_row(struct node_table *table, struct node_cell *cell) {
  sqlite3_stmt *add = table->statements[NODE_ADD];
  const uint64_t values[] = {table->count + 1, cell->hash, cell->parent, cell->module,
                             cell->address};
  for (int i = 0; i < 5; i++) db_bind_u64(add, i + 1, values[i]);
  int error = db_run(add);
  if (error == 0) cell->n = ++table->count;
  return error;
}

/* Puts CELL at the front of SET in place of the cell at AT; those before it move back by one. */
static void put_first(struct node_cell *set, uint32_t at, const struct node_cell *cell) {
  memmove(&set[1], &set[0], at * sizeof *set);
  set[0] = *cell;
}

/* Sets n and hash of CELL if it is cached. Returns whether it is. */
static bool find_cached(struct node_cell *set, struct node_cell *cell) {
  for (uint32_t i = 0; i < CACHE_WAYS && set[i].n != 0; i++) {
    if (!is_same(&set[i], cell)) continue;
    *cell = set[i];
    if (i > 0) put_first(set, i, cell);
    return true;
  }
  return false;
}

/* A node to look up, below PARENT. */
struct node_question {
  struct node_ref parent;
  struct module_ref module;
  uint64_t address, place;
};

/* Finds or adds the node of QUESTION. n is 0 if it is absent and there are MAX nodes. */
static int map_node(struct node_table *table, const struct node_question *question, uint32_t max,
                    struct node_ref *ret) {
  struct node_cell cell = {.parent = question->parent.n,
                           .module = question->module.m,
                           .address = question->address};
  struct node_cell *set = set_of(table, question->place);
  bool collides = false;
  if (!find_cached(set, &cell)) {
    cell.hash = hash_node(table, question->parent.hash, question->module.hash, cell.address);
    int error = find_row(table, &cell, &collides);
    if (error == 0 && cell.n == 0 && table->count < max) {
      table->collisions += collides;
      error = add_row(table, &cell);
    }
    if (error != 0) return error;
    if (cell.n != 0) put_first(set, CACHE_WAYS - 1, &cell);
  }
  *ret = (struct node_ref){cell.n, cell.hash};
  return 0;
}

/* Returns the node for stacks without any row. */
static int map_other(struct node_table *table, struct node_ref *ret) {
  static const struct batch_module other = {.path = "[other]", .kind = MODULE_PSEUDO};
  struct node_question question = {.address = 0};
  int error = module_table_map(&table->modules, &other, &question.module);
  if (error != 0) return error;
  question.place = place_of(table->seed, question.module.m, 0);
  return map_node(table, &question, UINT32_MAX - 1, ret);
}

/* Stores the place of each node in the field of its future hash. */
static void find_places(const struct node_table *table, const struct batch *batch,
                        const struct module_ref *modules, struct node_ref *refs) {
  for (uint32_t i = 0; i < batch->node_count; i++) {
    const struct batch_node *node = &batch->nodes[i];
    uint64_t above = node->parent != BATCH_NONE ? refs[node->parent].hash : table->seed;
    refs[i].hash = place_of(above, modules[node->module].m, node->address);
  }
}

int node_table_map(struct node_table *table, const struct batch *batch, struct module_ref *modules,
                   struct node_ref *refs) {
  int error = 0;
  for (uint32_t i = 0; i < batch->module_count && error == 0; i++)
    error = module_table_map(&table->modules, &batch->modules[i], &modules[i]);
  if (error == 0) find_places(table, batch, modules, refs);
  for (uint32_t i = 0; i < batch->node_count && error == 0; i++) {
    const struct batch_node *node = &batch->nodes[i];
    struct node_question question = {
        .module = modules[node->module], .address = node->address, .place = refs[i].hash};
    if (i + FETCHED_AHEAD < batch->node_count) fetch(table, refs[i + FETCHED_AHEAD].hash);
    if (node->parent != BATCH_NONE) question.parent = refs[node->parent];
    error = map_node(table, &question, table->max, &refs[i]);
    if (error != 0 || refs[i].n != 0) continue;
    table->cut++;
    refs[i] = question.parent;
    if (refs[i].n == 0) error = map_other(table, &refs[i]);
  }
  return error;
}
