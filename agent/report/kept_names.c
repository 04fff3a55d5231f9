/* SPDX-License-Identifier: Apache-2.0 */
/* The same library is in every file of a sum, each time with the functions that were sampled then:

     id ─▶ lists, one of each payload ─▶ when there are LISTS_MAX: one of each quality

   so that a search asks few lists however many files there are.  What merging takes is taken from
   the arena, whose limit therefore bounds the time as well.

   Functions may lie within each other (an assembler's label, a part that was moved), so the nearest
   start below an address need not be its function: the innermost that holds it is.  How far that
   search goes back is bounded, because a stranger wrote the file: beyond that a name is not found,
   which costs that name. */
#include "kept_names.h"

#include "common/buf.h"
#include "symbol/symbol_index.h"

#include <errno.h>
#include <stdlib.h>

#define NAMES_BYTES_MAX ((size_t)64 << 20)

enum {
  FIRST_ROOM = 64,
  LISTS_MAX = 8,   /* of one module: more than there are qualities */
  NESTED_MAX = 32, /* functions that begin between one and an address in it */
};

struct kept_module {
  struct span id;
  uint32_t count;
  struct module_names *lists; /* LISTS_MAX */
};

void kept_names_init(struct kept_names *kept, uint64_t seed) {
  *kept = (struct kept_names){.seed = seed};
  arena_init(&kept->arena, NAMES_BYTES_MAX);
}

void kept_names_fini(struct kept_names *kept) {
  table_fini(&kept->by_id);
  free(kept->modules);
  arena_fini(&kept->arena);
}

static int out_of_room(const struct kept_names *kept, size_t len) {
  return arena_is_over(&kept->arena, len) ? -EOVERFLOW : -ENOMEM;
}

/* ---- modules ---- */

static struct kept_module *find_module(const struct kept_names *kept, struct span id) {
  uint64_t hash = table_hash(id.data, id.len, kept->seed);
  uint32_t cursor, at = table_find(&kept->by_id, hash, &cursor);
  while (at != TABLE_NONE && !span_is_equal(kept->modules[at].id, id))
    at = table_next(&kept->by_id, hash, &cursor);
  return at != TABLE_NONE ? &kept->modules[at] : NULL;
}

static int make_room(struct kept_names *kept) {
  if (kept->count < kept->room) return 0;
  if (kept->count == KEPT_NAMES_MODULES_MAX) return -EOVERFLOW;
  uint32_t room = kept->room > 0 ? kept->room * 2 : FIRST_ROOM;
  struct kept_module *modules = reallocarray(kept->modules, room, sizeof *modules);
  if (modules == NULL) return -ENOMEM;
  kept->modules = modules;
  kept->room = room;
  return 0;
}

static int add_module(struct kept_names *kept, struct span id, struct kept_module **ret) {
  int error = make_room(kept);
  if (error != 0) return error;
  char *copy = arena_string(&kept->arena, id.data, id.len);
  struct kept_module module = {.id = span_of(copy, id.len)};
  module.lists = arena_array(&kept->arena, LISTS_MAX, sizeof *module.lists);
  if (copy == NULL || module.lists == NULL)
    return out_of_room(kept, id.len + 1 + LISTS_MAX * sizeof *module.lists);
  error = table_add(&kept->by_id, table_hash(id.data, id.len, kept->seed), kept->count);
  if (error != 0) return error;
  kept->modules[kept->count] = module;
  *ret = &kept->modules[kept->count++];
  return 0;
}

/* ---- lists ---- */

/* By start, the longer first, and of two of the same the one with a name. */
static int by_place(const void *left, const void *right) {
  const struct function_name *a = left, *b = right;
  if (a->start != b->start) return a->start < b->start ? -1 : 1;
  if (a->size != b->size) return a->size > b->size ? -1 : 1;
  return (a->name[0] == '\0') - (b->name[0] == '\0');
}

static uint32_t drop_doubles(struct function_name *functions, uint32_t count) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++)
    if (kept == 0 || functions[kept - 1].start != functions[i].start ||
        functions[kept - 1].size != functions[i].size)
      functions[kept++] = functions[i];
  return kept;
}

/* Makes one list of those of MODULE that have QUALITY. */
static int merge(struct kept_names *kept, const struct kept_module *module,
                 enum names_quality quality, struct module_names *ret) {
  size_t room = 1;
  uint32_t count = 0;
  for (uint32_t i = 0; i < module->count; i++)
    if (module->lists[i].quality == quality) room += module->lists[i].count;
  struct function_name *functions = arena_array(&kept->arena, room, sizeof *functions);
  if (functions == NULL) return out_of_room(kept, room * sizeof *functions);
  for (uint32_t i = 0; i < module->count; i++)
    for (uint32_t f = 0; module->lists[i].quality == quality && f < module->lists[i].count; f++)
      functions[count++] = module->lists[i].functions[f];
  qsort(functions, count, sizeof *functions, by_place);
  *ret = (struct module_names){
      .quality = quality, .count = drop_doubles(functions, count), .functions = functions};
  return 0;
}

static int merge_lists(struct kept_names *kept, struct kept_module *module) {
  struct module_names merged[2];
  int error = merge(kept, module, NAMES_EXPORTED, &merged[0]);
  if (error == 0) error = merge(kept, module, NAMES_ALL, &merged[1]);
  if (error != 0) return error;
  memcpy(module->lists, merged, sizeof merged);
  module->count = 2;
  return 0;
}

static int add_list(struct kept_names *kept, const struct module_names *list) {
  int error = 0;
  struct kept_module *module = find_module(kept, list->id);
  if (module == NULL) error = add_module(kept, list->id, &module);
  if (error == 0 && module->count == LISTS_MAX) error = merge_lists(kept, module);
  if (error == 0) module->lists[module->count++] = *list;
  return error;
}

int kept_names_add(struct kept_names *kept, struct span payload) {
  struct module_names *lists;
  uint32_t count;
  int error = function_names_decode(payload, &kept->arena, &lists, &count);
  for (uint32_t i = 0; error == 0 && i < count; i++) error = add_list(kept, &lists[i]);
  return error;
}

/* ---- finding ---- */

/* The innermost function of LIST that holds ADDRESS, or NULL. */
static const struct function_name *find_function(const struct module_names *list,
                                                 uint64_t address) {
  uint32_t low = 0, high = list->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (list->functions[middle].start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  for (uint32_t back = 0; back < NESTED_MAX && back < low; back++) {
    const struct function_name *function = &list->functions[low - 1 - back];
    if (address - function->start < function->size) return function;
  }
  return NULL;
}

int kept_names_find(const struct kept_names *kept, struct span id, uint64_t address,
                    struct symbol_match *ret, enum names_quality *ret_quality) {
  const struct kept_module *module = find_module(kept, id);
  int best = 0;
  for (uint32_t i = 0; module != NULL && i < module->count; i++) {
    const struct module_names *list = &module->lists[i];
    const struct function_name *found = find_function(list, address);
    if (found == NULL) continue;
    int rank = found->name[0] == '\0' ? 1 : list->quality == NAMES_EXPORTED ? 2 : 3;
    if (rank <= best) continue;
    best = rank;
    *ret = (struct symbol_match){.name = found->name, .start = found->start, .size = found->size};
    *ret_quality = list->quality;
  }
  return best > 0 ? 0 : -ENOENT;
}
