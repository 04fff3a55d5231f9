/* SPDX-License-Identifier: Apache-2.0 */
/* Functions by name, interned.

   A tree may have millions of frames but some thousand functions, so each name is stored once and
   compared once for each new address. Hashes use a random seed: boards choose the hashed names and
   must not be able to construct collisions.

   A program may have several functions of one name in different source files; they are different
   rows. Two paths denote the same file if their last components are equal, and the folders before
   these without a version at the end. /build/redis-7.0.1/src/dict.c equals
   /usr/src/redis/src/dict.c, so a build elsewhere splits no row. drivers/usb/core.c differs from
   drivers/mmc/core.c.

   If the file is unknown (a symbol table only, another board or build), the function is the only
   one of its name; if there are several, it has a row of its own. If the file is found later, it is
   added to the row without a file.

   A function without a name is one function within its build and in no other (module_builds.c). */
#include "function_table.h"

#include "common/arena.h"
#include "common/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { FIRST_ROOM = 64 };

int function_table_init(struct function_table *functions, struct arena *arena) {
  *functions = (struct function_table){.arena = arena};
  if (getrandom(&functions->seed, sizeof functions->seed, 0) < 0) return -errno;
  module_builds_init(&functions->builds, arena, functions->seed);
  functions->functions = calloc(FIRST_ROOM, sizeof *functions->functions);
  if (functions->functions == NULL) return -ENOMEM;
  functions->room = FIRST_ROOM;
  functions->functions[functions->count++] = (struct view_function){.name = "root", .module = ""};
  return 0;
}

void function_table_fini(struct function_table *functions) {
  table_fini(&functions->by_name);
  table_fini(&functions->by_family);
  module_builds_fini(&functions->builds);
  free(functions->functions);
  free(functions->families);
}

uint64_t function_table_hash(const struct function_table *functions, const void *words,
                             size_t len) {
  return table_hash(words, len, functions->seed);
}

/* Functions of one name and module. */
struct function_family {
  uint32_t first;        /* function index */
  uint32_t without_file; /* function index, or 0: none */
  uint32_t file_count;   /* number of different files */
};

/* The significant parts of a source file's path. */
struct source {
  struct span folder, name;
};

static bool is_digit(uint8_t c) {
  return c >= '0' && c <= '9';
}

/* Returns FOLDER without a version: up to its first digit that begins it or follows '-', '_' or
   'v'. */
static struct span without_version(struct span folder) {
  for (size_t i = 0; i < folder.len; i++) {
    if (!is_digit(folder.data[i])) continue;
    if (i == 0 || strchr("-_v", folder.data[i - 1]) != NULL) return span_of(folder.data, i);
  }
  return folder;
}

static struct source source_of(const char *file) {
  const char *slash = strrchr(file, '/');
  if (slash == NULL) return (struct source){span_of(NULL, 0), span_of_string(file)};
  const char *start = slash;
  while (start > file && start[-1] != '/') start--;
  return (struct source){without_version(span_of((const uint8_t *)start, (size_t)(slash - start))),
                         span_of_string(slash + 1)};
}

static bool is_same_file(const char *a, const char *b) {
  if (a == b) return true;
  if (a == NULL || b == NULL) return false;
  struct source one = source_of(a), other = source_of(b);
  return span_is_equal(one.name, other.name) && span_is_equal(one.folder, other.folder);
}

static bool is_relative(const struct view_function *a, const struct view_function *b) {
  return a->end == b->end && strcmp(a->name, b->name) == 0 && strcmp(a->module, b->module) == 0 &&
         module_builds_are_same(a->of, b->of);
}

static uint64_t family_hash(const struct function_table *functions,
                            const struct view_function *wanted) {
  uint64_t hash = table_hash(wanted->name, strlen(wanted->name), functions->seed);
  hash = table_hash(wanted->module, strlen(wanted->module), hash);
  return wanted->of == NULL ? hash
                            : table_hash(wanted->of->build.id, wanted->of->build.id_len, hash);
}

static uint64_t hash_with_file(uint64_t hash, const char *file) {
  struct source source = source_of(file);
  hash = table_hash(source.name.data, source.name.len, hash);
  return source.folder.len > 0 ? table_hash(source.folder.data, source.folder.len, hash) : hash;
}

static int add_function(struct function_table *functions, const struct view_function *wanted,
                        bool is_lasting, uint32_t *ret) {
  if (functions->count == VIEW_FUNCTIONS_MAX) return -EOVERFLOW;
  void *array = array_grow(functions->functions, functions->count, &functions->room, FIRST_ROOM,
                           sizeof *wanted);
  if (array == NULL) return -ENOMEM;
  functions->functions = array;
  struct view_function copy = *wanted;
  copy.module = arena_string(functions->arena, wanted->module, strlen(wanted->module));
  if (!is_lasting) copy.name = arena_string(functions->arena, wanted->name, strlen(wanted->name));
  if (copy.module == NULL || copy.name == NULL) return -ENOMEM;
  functions->functions[functions->count] = copy;
  *ret = functions->count++;
  return 0;
}

/* Returns the family of WANTED, or NULL. */
static struct function_family *find_family(const struct function_table *functions,
                                           const struct view_function *wanted, uint64_t hash) {
  uint32_t cursor;
  uint32_t at = table_find(&functions->by_family, hash, &cursor);
  for (; at != TABLE_NONE; at = table_next(&functions->by_family, hash, &cursor)) {
    struct function_family *family = &functions->families[at];
    if (is_relative(&functions->functions[family->first], wanted)) return family;
  }
  return NULL;
}

static int add_family(struct function_table *functions, uint32_t first, uint64_t hash) {
  bool has_file = functions->functions[first].file != NULL;
  void *array = array_grow(functions->families, functions->family_count, &functions->family_room,
                           FIRST_ROOM, sizeof *functions->families);
  if (array == NULL) return -ENOMEM;
  functions->families = array;
  functions->families[functions->family_count] =
      (struct function_family){first, has_file ? 0 : first, has_file};
  return table_add(&functions->by_family, hash, functions->family_count++);
}

/* Interns a function without a known file. */
static int intern_without_file(struct function_table *functions, const struct view_function *wanted,
                               bool is_lasting, uint32_t *ret) {
  uint64_t hash = family_hash(functions, wanted);
  struct function_family *family = find_family(functions, wanted, hash);
  if (family != NULL && (family->without_file != 0 || family->file_count == 1)) {
    *ret = family->without_file != 0 ? family->without_file : family->first;
    return 0;
  }
  int error = add_function(functions, wanted, is_lasting, ret);
  if (error != 0) return error;
  if (family == NULL) return add_family(functions, *ret, hash);
  family->without_file = *ret;
  return 0;
}

/* Adds a function of a new file: to FAMILY, or as the first of its name. */
static int add_with_file(struct function_table *functions, const struct view_function *wanted,
                         bool is_lasting, uint32_t *ret) {
  uint64_t hash = family_hash(functions, wanted);
  struct function_family *family = find_family(functions, wanted, hash);
  if (family != NULL && family->file_count == 0) {
    *ret = family->without_file;
    functions->functions[*ret].file = wanted->file;
    functions->functions[*ret].line = wanted->line;
    functions->functions[*ret].system_name = wanted->system_name;
    functions->functions[*ret].quality = wanted->quality;
    *family = (struct function_family){*ret, 0, 1};
    return 0;
  }
  int error = add_function(functions, wanted, is_lasting, ret);
  if (error != 0) return error;
  if (family == NULL) return add_family(functions, *ret, hash);
  family->file_count++;
  return 0;
}

int function_table_intern(struct function_table *functions, const struct view_function *wanted,
                          bool is_lasting, uint32_t *ret) {
  if (wanted->file == NULL) return intern_without_file(functions, wanted, is_lasting, ret);
  uint64_t hash = hash_with_file(family_hash(functions, wanted), wanted->file);
  uint32_t cursor;
  uint32_t at = table_find(&functions->by_name, hash, &cursor);
  for (; at != TABLE_NONE; at = table_next(&functions->by_name, hash, &cursor)) {
    const struct view_function *known = &functions->functions[at];
    if (!is_relative(known, wanted) || !is_same_file(known->file, wanted->file)) continue;
    *ret = at;
    return 0;
  }
  int error = add_with_file(functions, wanted, is_lasting, ret);
  return error != 0 ? error : table_add(&functions->by_name, hash, *ret);
}

int function_table_tell_builds(struct function_table *functions) {
  for (uint32_t i = 1; i < functions->count; i++) {
    struct view_function *function = &functions->functions[i];
    if (function->of == NULL || !function->of->has_others || function->is_apart) continue;
    function->name = module_builds_told(function->of, function->name, functions->arena);
    if (function->name == NULL) return -ENOMEM;
    function->is_apart = true;
  }
  return 0;
}
