/* SPDX-License-Identifier: Apache-2.0 */
/* Functions by name, interned.

   A tree may hold millions of frames and has some thousand functions, so a name is stored once and
   compared once for each new address.  Hashes carry a random seed: a board chooses the names that
   are hashed here, and must not be able to make them all collide. */
#include "function_table.h"

#include "common/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { FIRST_ROOM = 64 };

int function_table_init(struct function_table *functions, struct arena *arena) {
  *functions = (struct function_table){.arena = arena};
  if (getrandom(&functions->seed, sizeof functions->seed, 0) < 0) return -errno;
  functions->functions = calloc(FIRST_ROOM, sizeof *functions->functions);
  if (functions->functions == NULL) return -ENOMEM;
  functions->room = FIRST_ROOM;
  functions->functions[functions->count++] = (struct view_function){.name = "root", .module = ""};
  return 0;
}

void function_table_fini(struct function_table *functions) {
  table_fini(&functions->by_name);
  free(functions->functions);
}

uint64_t function_table_hash(const struct function_table *functions, const void *words,
                             size_t len) {
  return table_hash(words, len, functions->seed);
}

static bool is_same_text(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool is_same(const struct view_function *a, const struct view_function *b) {
  return is_same_text(a->name, b->name) && is_same_text(a->module, b->module) &&
         is_same_text(a->file, b->file) && a->end == b->end;
}

static uint64_t hash_of(const struct function_table *functions,
                        const struct view_function *wanted) {
  uint64_t hash = table_hash(wanted->name, strlen(wanted->name), functions->seed);
  hash = table_hash(wanted->module, strlen(wanted->module), hash);
  return wanted->file != NULL ? table_hash(wanted->file, strlen(wanted->file), hash) : hash;
}

static int grow(struct function_table *functions) {
  if (functions->count == VIEW_FUNCTIONS_MAX) return -EOVERFLOW;
  if (functions->count < functions->room) return 0;
  uint32_t room = functions->room * 2;
  struct view_function *more = reallocarray(functions->functions, room, sizeof *more);
  if (more == NULL) return -ENOMEM;
  functions->functions = more;
  functions->room = room;
  return 0;
}

static int add(struct function_table *functions, const struct view_function *wanted,
               bool is_lasting, uint64_t hash) {
  int error = grow(functions);
  if (error != 0) return error;
  struct view_function copy = *wanted;
  copy.module = arena_string(functions->arena, wanted->module, strlen(wanted->module));
  if (!is_lasting) copy.name = arena_string(functions->arena, wanted->name, strlen(wanted->name));
  if (copy.module == NULL || copy.name == NULL) return -ENOMEM;
  functions->functions[functions->count] = copy;
  return table_add(&functions->by_name, hash, functions->count++);
}

int function_table_intern(struct function_table *functions, const struct view_function *wanted,
                          bool is_lasting, uint32_t *ret) {
  uint64_t hash = hash_of(functions, wanted);
  uint32_t cursor;
  uint32_t at = table_find(&functions->by_name, hash, &cursor);
  while (at != TABLE_NONE && !is_same(&functions->functions[at], wanted))
    at = table_next(&functions->by_name, hash, &cursor);
  if (at == TABLE_NONE) {
    int error = add(functions, wanted, is_lasting, hash);
    if (error != 0) return error;
    at = functions->count - 1;
  }
  *ret = at;
  return 0;
}
