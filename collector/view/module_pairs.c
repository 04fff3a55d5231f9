/* SPDX-License-Identifier: Apache-2.0 */
/* File names often contain versions, and a reader expects app-1.5's `parse` to be compared with
   app-1.4's. Whether two files are builds of one program is never certain, and a wrong pair hides a
   change in a sum. So similarity is not enough: both must be the program of one named service, or
   the names must be equal except for parts that can only be versions. A lone number is no version:
   worker-1 and worker-2 run at once, sha256sum is not sha512sum. Functions of one name in different
   source files stay separate in a pair too, as in any module (diff_rows.c).

   Modules on both sides are not paired: python3.10 and python3.11 that run side by side before and
   after are two programs. If the sides have different versions, there was an update. While it is
   incomplete, one side has both versions. Then only the sums of their functions matter, not that
   one version shrinks and the other grows. */
#include "module_pairs.h"

#include "common/arena.h"
#include "common/buf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum side { OF_A = 1, OF_B = 2, OF_BOTH = 3 };

struct paired_module {
  const char *name;
  const char *stem;  /* the name with a star for each version; NULL: it has no version */
  const char *shown; /* or NULL: its name */
  unsigned sides;    /* a bit set of enum side */
};

/* ---- names ---- */

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Returns the length in bytes of the version at AT in NAME; 0: none begins there. */
static size_t version_at(const char *name, size_t at) {
  bool has_dot = false, is_of_library = at >= 4 && memcmp(name + at - 4, ".so.", 4) == 0;
  if (!is_digit(name[at]) || (at > 0 && is_digit(name[at - 1]))) return 0;
  size_t end = at;
  while (is_digit(name[end]) || (name[end] == '.' && is_digit(name[end + 1]))) {
    has_dot |= name[end] == '.';
    end++;
  }
  if (!has_dot && !is_of_library) return 0;
  while (is_letter(name[end]) || is_digit(name[end])) end++; /* 1.1.1w, 2.0rc1 */
  return end - at;
}

/* Appends NAME with a star for each version to RET. Returns whether it has a version and also a
   letter. */
static bool print_stem(const char *name, struct buf *ret) {
  bool has_version = false, has_letter = false;
  for (size_t at = 0; name[at] != '\0';) {
    size_t len = version_at(name, at);
    has_version |= len > 0;
    has_letter |= len == 0 && is_letter(name[at]);
    buf_append_byte(ret, len > 0 ? '*' : (uint8_t)name[at]);
    at += len > 0 ? len : 1;
  }
  return has_version && has_letter;
}

/* ---- the modules of both trees ---- */

static struct paired_module *find(const struct module_pairs *pairs, const char *name) {
  uint64_t hash = table_hash(name, strlen(name), pairs->seed);
  uint32_t cursor, at = table_find(&pairs->by_name, hash, &cursor);
  while (at != TABLE_NONE && strcmp(pairs->modules[at].name, name) != 0)
    at = table_next(&pairs->by_name, hash, &cursor);
  return at != TABLE_NONE ? &pairs->modules[at] : NULL;
}

static int add(struct module_pairs *pairs, const char *name, enum side side, struct arena *arena) {
  struct paired_module *module = find(pairs, name);
  struct buf stem = {0};
  if (module != NULL) {
    module->sides |= side;
    return 0;
  }
  module = &pairs->modules[pairs->count];
  *module = (struct paired_module){.name = name, .sides = side};
  bool has_stem = print_stem(name, &stem);
  if (has_stem) module->stem = arena_string(arena, stem.data, stem.len);
  bool failed = stem.failed || (has_stem && module->stem == NULL);
  buf_fini(&stem);
  if (failed) return -ENOMEM;
  return table_add(&pairs->by_name, table_hash(name, strlen(name), pairs->seed), pairs->count++);
}

static int add_all(struct module_pairs *pairs, const struct view_tree *tree, enum side side,
                   struct arena *arena) {
  const char *last = ""; /* functions of one module are often adjacent */
  int error = 0;
  for (uint32_t i = 1; i < tree->function_count && error == 0; i++) {
    const char *name = tree->functions[i].module;
    if (strcmp(name, last) != 0) error = add(pairs, name, side, arena);
    last = name;
  }
  return error;
}

static const char *print_pair(const char *old, const char *new, struct arena *arena) {
  struct buf text = {0};
  buf_printf(&text, "%s -> %s", old, new);
  const char *copy = text.failed ? NULL : arena_string(arena, text.data, text.len);
  buf_fini(&text);
  return copy;
}

/* ---- programs of services ---- */

/* Returns the only file that SERVICE ran in TREE; NULL: none, or several. */
static const char *only_program(const struct view_tree *tree, const char *service) {
  const char *found = NULL;
  for (uint32_t i = 0; i < tree->program_count; i++) {
    if (strcmp(tree->programs[i].service, service) != 0) continue;
    if (found != NULL) return NULL;
    found = tree->programs[i].exe;
  }
  return found;
}

static int pair_service(struct module_pairs *pairs, const struct view_tree *a,
                        const struct view_tree *b, const char *service, struct arena *arena) {
  const char *old = only_program(a, service), *new = only_program(b, service);
  if (old == NULL || new == NULL) return 0;
  struct paired_module *from = find(pairs, old), *to = find(pairs, new);
  if (from == NULL || to == NULL || from->sides != OF_A || to->sides != OF_B) return 0;
  if (from->shown != NULL || to->shown != NULL) return 0;
  from->shown = to->shown = print_pair(old, new, arena);
  return from->shown != NULL ? 0 : -ENOMEM;
}

static int pair_services(struct module_pairs *pairs, const struct view_tree *a,
                         const struct view_tree *b, struct arena *arena) {
  int error = 0;
  for (uint32_t i = 0; i < a->program_count && error == 0; i++)
    error = pair_service(pairs, a, b, a->programs[i].service, arena);
  return error;
}

/* ---- versions of one name ---- */

static int by_stem(const void *left, const void *right) {
  const struct paired_module *a = *(struct paired_module *const *)left;
  const struct paired_module *b = *(struct paired_module *const *)right;
  int order = strcmp(a->stem, b->stem);
  return order != 0 ? order : strcmp(a->name, b->name);
}

/* Pairs the COUNT modules of one stem if the sides have different ones. */
static int pair_versions(struct paired_module *const *modules, uint32_t count,
                         struct arena *arena) {
  const char *old = NULL, *new = NULL, *shown;
  uint32_t of_a = 0, of_b = 0, of_both = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (modules[i]->sides & OF_A) of_a++, old = modules[i]->name;
    if (modules[i]->sides & OF_B) of_b++, new = modules[i]->name;
    of_both += modules[i]->sides == OF_BOTH;
  }
  if (of_a == 0 || of_b == 0 || of_both == count) return 0;
  shown = of_a == 1 && of_b == 1 ? print_pair(old, new, arena) : modules[0]->stem;
  for (uint32_t i = 0; i < count; i++) modules[i]->shown = shown;
  return shown != NULL ? 0 : -ENOMEM;
}

static int pair_all_versions(struct module_pairs *pairs, struct arena *arena) {
  struct paired_module **sorted = arena_array(arena, (size_t)pairs->count + 1, sizeof(void *));
  uint32_t count = 0;
  int error = 0;
  if (sorted == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < pairs->count; i++) {
    struct paired_module *module = &pairs->modules[i];
    if (module->stem != NULL && module->shown == NULL) sorted[count++] = module;
  }
  qsort(sorted, count, sizeof *sorted, by_stem);
  for (uint32_t first = 0, end; first < count && error == 0; first = end) {
    end = first + 1;
    while (end < count && strcmp(sorted[end]->stem, sorted[first]->stem) == 0) end++;
    error = pair_versions(&sorted[first], end - first, arena);
  }
  return error;
}

int module_pairs_init(struct module_pairs *pairs, const struct view_tree *a,
                      const struct view_tree *b, struct arena *arena) {
  *pairs = (struct module_pairs){.count = 0};
  if (getrandom(&pairs->seed, sizeof pairs->seed, 0) < 0) return -errno;
  size_t room = (size_t)a->function_count + b->function_count + 1;
  pairs->modules = arena_array(arena, room, sizeof *pairs->modules);
  int error = pairs->modules != NULL ? add_all(pairs, a, OF_A, arena) : -ENOMEM;
  if (error == 0) error = add_all(pairs, b, OF_B, arena);
  if (error == 0) error = pair_services(pairs, a, b, arena);
  if (error == 0) error = pair_all_versions(pairs, arena);
  return error;
}

void module_pairs_fini(struct module_pairs *pairs) {
  table_fini(&pairs->by_name);
}

const char *module_pairs_shown(const struct module_pairs *pairs, const char *module) {
  const struct paired_module *found = find(pairs, module);
  return found != NULL && found->shown != NULL ? found->shown : module;
}
