/* SPDX-License-Identifier: Apache-2.0 */
/* A module is (path, id, kind). Every batch names its ten or twenty again, so recent modules are
   cached in front of the index, with their full names. A lookup compares every byte, so that a hash
   collision cannot confuse modules of two boards.

   As in node_table.c, cells form sets, with the most recently used first. */
#include "module_table.h"

#include "db.h"
#include "proto/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
  CACHE_SETS = 256,
  CACHE_WAYS = 4, /* 1024 modules: some 100 KiB, or 4 MiB if all paths had the greatest length */
  NAME_BYTES = 1 + 1 + LIMIT_MODULE_ID_BYTES + LIMIT_PATH_BYTES,
};

struct module_cell {
  struct module_ref ref;
  size_t name_len;
  uint8_t *name; /* made by name_of; NULL: a free cell */
};

static const char *const module_sql[MODULE_STATEMENTS] = {
    [MODULE_FIND] = "SELECT m FROM module WHERE path=? AND id=? AND kind=?",
    [MODULE_ADD] = "INSERT INTO module(path,id,kind) VALUES(?,?,?)",
};

int module_table_open(sqlite3 *db, const uint8_t key[SIPHASH_KEY_BYTES], struct module_table *ret) {
  ret->db = db;
  memcpy(ret->key, key, SIPHASH_KEY_BYTES);
  ret->cells = calloc((size_t)CACHE_SETS * CACHE_WAYS, sizeof *ret->cells);
  if (ret->cells == NULL) return -ENOMEM;
  return db_prepare_all(db, module_sql, MODULE_STATEMENTS, ret->statements);
}

void module_table_close(struct module_table *table) {
  db_finalize_all(table->statements, MODULE_STATEMENTS);
  for (size_t i = 0; table->cells != NULL && i < (size_t)CACHE_SETS * CACHE_WAYS; i++)
    free(table->cells[i].name);
  free(table->cells);
}

/* Writes all identifying parts of MODULE as one string of bytes. Returns its length. */
static size_t name_of(const struct batch_module *module, uint8_t name[NAME_BYTES]) {
  size_t id_len = module->id.len < LIMIT_MODULE_ID_BYTES ? module->id.len : LIMIT_MODULE_ID_BYTES;
  size_t path_len = strnlen(module->path, LIMIT_PATH_BYTES);
  name[0] = (uint8_t)module->kind;
  name[1] = (uint8_t)id_len;
  if (id_len > 0) memcpy(name + 2, module->id.data, id_len);
  memcpy(name + 2 + id_len, module->path, path_len);
  return 2 + id_len + path_len;
}

/* Moves the cell at index AT of SET to the front; those before it move back by one. */
static void to_front(struct module_cell *set, uint32_t at) {
  struct module_cell cell = set[at];
  memmove(&set[1], &set[0], at * sizeof *set);
  set[0] = cell;
}

/* Returns whether the module NAME is cached, and moves it to the front. */
static bool find_cached(struct module_cell *set, struct span name, uint64_t hash) {
  for (uint32_t i = 0; i < CACHE_WAYS && set[i].name != NULL; i++) {
    if (set[i].ref.hash != hash || !span_is_equal(span_of(set[i].name, set[i].name_len), name))
      continue;
    if (i > 0) to_front(set, i);
    return true;
  }
  return false;
}

/* Caches the module in place of the least recently used; skipped if memory is short. */
static void keep(struct module_cell *set, struct span name, struct module_ref ref) {
  uint8_t *copy = malloc(name.len);
  if (copy == NULL) return;
  memcpy(copy, name.data, name.len);
  to_front(set, CACHE_WAYS - 1);
  free(set[0].name);
  set[0] = (struct module_cell){ref, name.len, copy};
}

static void bind_module(sqlite3_stmt *statement, const struct batch_module *module) {
  db_bind_text(statement, 1, module->path);
  db_bind_span(statement, 2, module->id);
  db_bind_u64(statement, 3, module->kind);
}

static int find_or_add_row(struct module_table *table, const struct batch_module *module,
                           uint32_t *ret) {
  sqlite3_stmt *find = table->statements[MODULE_FIND], *add = table->statements[MODULE_ADD];
  bind_module(find, module);
  int row = db_step(find);
  uint64_t m = row == 1 ? db_u64(find, 0) : 0;
  sqlite3_reset(find);
  if (row < 0) return row;
  if (row == 0) {
    bind_module(add, module);
    int error = db_run(add);
    if (error != 0) return error;
    m = (uint64_t)sqlite3_last_insert_rowid(table->db);
  }
  if (m == 0 || m >= UINT32_MAX) return -EUCLEAN;
  *ret = (uint32_t)m;
  return 0;
}

int module_table_map(struct module_table *table, const struct batch_module *module,
                     struct module_ref *ret) {
  uint8_t bytes[NAME_BYTES];
  struct span name = span_of(bytes, name_of(module, bytes));
  struct module_ref ref = {.hash = siphash(table->key, name)};
  struct module_cell *set = &table->cells[ref.hash % CACHE_SETS * CACHE_WAYS];
  if (find_cached(set, name, ref.hash)) {
    *ret = set[0].ref;
    return 0;
  }
  int error = find_or_add_row(table, module, &ref.m);
  if (error != 0) return error;
  keep(set, name, ref);
  *ret = ref;
  return 0;
}
