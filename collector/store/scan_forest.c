/* SPDX-License-Identifier: Apache-2.0 */
/* Each file numbers its own nodes, and days have most stacks in common. With one number for a
   node, its rows of a month are summed before names are looked up, and each node is named once.

   The first file's nodes keep their numbers. They are put into the tables only for a second
   file, because most queries read one file.

   Both tables are seeded, because programs choose addresses and paths: a program cannot
   construct colliding keys. */
#include "scan_forest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { FOREST_BYTES_MAX = 768 << 20 }; /* texts of modules */

struct scan_forest *scan_forest_new(void) {
  struct scan_forest *forest = calloc(1, sizeof *forest);
  if (forest == NULL) return NULL;
  arena_init(&forest->arena, FOREST_BYTES_MAX);
  if (getrandom(&forest->seed, sizeof forest->seed, 0) == (ssize_t)sizeof forest->seed &&
      getrandom(&forest->epoch, sizeof forest->epoch, 0) == (ssize_t)sizeof forest->epoch)
    return forest;
  free(forest);
  return NULL;
}

static void fini(struct scan_forest *forest) {
  arena_fini(&forest->arena);
  table_fini(&forest->by_module);
  table_fini(&forest->by_node);
  free(forest->modules);
  free(forest->nodes);
}

void scan_forest_free(struct scan_forest *forest) {
  if (forest != NULL) fini(forest);
  free(forest);
}

void scan_forest_clear(struct scan_forest *forest) {
  struct scan_forest empty = {
      .seed = forest->seed, .epoch = forest->epoch + 1, .whole.id = forest->whole.id};
  fini(forest);
  *forest = empty;
  arena_init(&forest->arena, FOREST_BYTES_MAX);
}

static uint64_t module_key(const struct scan_forest *forest, const struct store_module *module) {
  uint64_t hash = table_hash(module->id.data, module->id.len, forest->seed ^ module->kind);
  return table_hash(module->path, strlen(module->path), hash);
}

static uint64_t node_key(const struct scan_forest *forest, const struct store_node *node) {
  const uint64_t words[2] = {(uint64_t)node->parent << 32 | node->module, node->address};
  return table_hash(words, sizeof words, forest->seed);
}

static bool is_same_module(const struct store_module *a, const struct store_module *b) {
  return a->kind == b->kind && a->id.len == b->id.len &&
         (a->id.len == 0 || memcmp(a->id.data, b->id.data, a->id.len) == 0) &&
         strcmp(a->path, b->path) == 0;
}

static bool is_same_node(const struct store_node *a, const struct store_node *b) {
  return a->parent == b->parent && a->module == b->module && a->address == b->address;
}

/* Puts the nodes present into the tables. */
static int make_index(struct scan_forest *forest) {
  const struct store_forest *whole = &forest->whole;
  int error = 0;
  for (uint32_t i = 0; i < whole->module_count && error == 0; i++)
    error = table_add(&forest->by_module, module_key(forest, &forest->modules[i]), i);
  for (uint32_t i = 0; i < whole->node_count && error == 0; i++)
    error = table_add(&forest->by_node, node_key(forest, &forest->nodes[i]), i);
  forest->is_indexed = error == 0;
  return error;
}

/* Makes room for MORE entries of ENTRY_BYTES after COUNT in *ARRAY. */
static int make_room(void **array, uint32_t *room, uint32_t count, uint32_t more,
                     size_t entry_bytes) {
  size_t wanted = (size_t)count + more;
  if (wanted >= BATCH_NONE) return -ENOMEM;
  if (wanted <= *room && *array != NULL) return 0;
  if (wanted < (size_t)*room * 3 / 2) wanted = (size_t)*room * 3 / 2;
  if (wanted >= BATCH_NONE) wanted = BATCH_NONE - 1;
  void *larger = reallocarray(*array, wanted + 1, entry_bytes);
  if (larger == NULL) return -ENOMEM;
  *array = larger;
  *room = (uint32_t)wanted;
  return 0;
}

static int make_all_room(struct scan_forest *forest, const struct store_forest *file) {
  struct store_forest *whole = &forest->whole;
  void *modules = forest->modules, *nodes = forest->nodes;
  int error = make_room(&modules, &forest->module_room, whole->module_count, file->module_count,
                        sizeof *forest->modules);
  forest->modules = modules;
  if (error == 0)
    error = make_room(&nodes, &forest->node_room, whole->node_count, file->node_count,
                      sizeof *forest->nodes);
  forest->nodes = nodes;
  whole->modules = forest->modules;
  whole->nodes = forest->nodes;
  return error;
}

static int copy_module(struct scan_forest *forest, const struct store_module *module) {
  char *id = arena_string(&forest->arena, module->id.data, module->id.len);
  char *path = arena_string(&forest->arena, module->path, strlen(module->path));
  if (id == NULL || path == NULL) return -ENOMEM;
  forest->modules[forest->whole.module_count++] =
      (struct store_module){span_of(id, module->id.len), path, module->kind};
  return 0;
}

static int add_module(struct scan_forest *forest, const struct store_module *module,
                      uint32_t *ret) {
  uint64_t key = module_key(forest, module);
  uint32_t cursor, at = table_find(&forest->by_module, key, &cursor);
  while (at != TABLE_NONE && !is_same_module(&forest->modules[at], module))
    at = table_next(&forest->by_module, key, &cursor);
  *ret = at != TABLE_NONE ? at : forest->whole.module_count;
  if (at != TABLE_NONE) return 0;
  int error = copy_module(forest, module);
  return error != 0 ? error : table_add(&forest->by_module, key, *ret);
}

static int add_node(struct scan_forest *forest, const struct store_node *node, uint32_t *ret) {
  uint64_t key = node_key(forest, node);
  uint32_t cursor, at = table_find(&forest->by_node, key, &cursor);
  while (at != TABLE_NONE && !is_same_node(&forest->nodes[at], node))
    at = table_next(&forest->by_node, key, &cursor);
  *ret = at != TABLE_NONE ? at : forest->whole.node_count;
  if (at != TABLE_NONE) return 0;
  forest->nodes[forest->whole.node_count++] = *node;
  return table_add(&forest->by_node, key, *ret);
}

/* Adds FILE's missing nodes and modules; MODULES and MAP get the numbers. */
static int merge(struct scan_forest *forest, const struct store_forest *file, uint32_t *modules,
                 uint32_t *map) {
  int error = 0;
  for (uint32_t i = 0; i < file->module_count && error == 0; i++)
    error = add_module(forest, &file->modules[i], &modules[i]);
  for (uint32_t i = 0; i < file->node_count && error == 0; i++) {
    struct store_node node = file->nodes[i];
    node.module = modules[node.module];
    if (node.parent != BATCH_NONE) node.parent = map[node.parent];
    error = add_node(forest, &node, &map[i]);
  }
  return error;
}

static int copy_first(struct scan_forest *forest, const struct store_forest *file) {
  int error = 0;
  for (uint32_t i = 0; i < file->module_count && error == 0; i++)
    error = copy_module(forest, &file->modules[i]);
  if (error == 0 && file->node_count > 0)
    memcpy(forest->nodes, file->nodes, file->node_count * sizeof *forest->nodes);
  forest->whole.node_count = error == 0 ? file->node_count : 0;
  return error;
}

int scan_forest_add_rest(struct scan_forest *forest) {
  const struct store_module module = {.path = STORE_REST, .kind = MODULE_PSEUDO};
  const struct store_forest more = {.node_count = 1, .module_count = 1};
  struct store_forest *whole = &forest->whole;
  if (forest->whole.rest != 0) return 0;
  int error = make_all_room(forest, &more);
  if (error == 0) error = copy_module(forest, &module);
  if (error != 0) return error;
  const struct store_node node = {.parent = BATCH_NONE, .module = whole->module_count - 1};
  forest->nodes[whole->node_count++] = node;
  forest->whole.rest = whole->node_count;
  whole->id++;
  if (!forest->is_indexed) return 0;
  error = table_add(&forest->by_module, module_key(forest, &module), node.module);
  return error != 0 ? error
                    : table_add(&forest->by_node, node_key(forest, &node), forest->whole.rest - 1);
}

int scan_forest_add(struct scan_forest *forest, const struct store_forest *file, uint32_t **ret) {
  bool is_first = forest->whole.node_count == 0 && forest->whole.module_count == 0;
  int error = make_all_room(forest, file);
  if (error != 0) return error;
  forest->whole.id++;
  if (is_first) {
    error = copy_first(forest, file);
    if (error == 0) *ret = NULL;
    return error;
  }
  if (!forest->is_indexed && (error = make_index(forest)) != 0) return error;
  uint32_t *modules = calloc((size_t)file->module_count + 1, sizeof *modules);
  uint32_t *map = calloc((size_t)file->node_count + 1, sizeof *map);
  error = modules != NULL && map != NULL ? merge(forest, file, modules, map) : -ENOMEM;
  free(modules);
  if (error != 0)
    free(map);
  else
    *ret = map;
  return error;
}
