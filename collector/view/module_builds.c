/* SPDX-License-Identifier: Apache-2.0 */
/* A function without a name is called by its address, `app+0x1f40`. That is unique within one build
   only: in the next build the address may belong to another function, or the same function may have
   moved by sixteen bytes. So these functions are kept by build. If a module has several builds, the
   beginning of the build-id is shown with the address, as in a report of files.

   Only builds with samples are listed: no others make an address ambiguous. */
#include "module_builds.h"

#include "common/arena.h"
#include "common/array.h"
#include "common/hex_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64, TOLD_BYTES = 4, TOLD_TEXT_BYTES = sizeof " []" + 2 * TOLD_BYTES };

void module_builds_init(struct module_builds *builds, struct arena *arena, uint64_t seed) {
  *builds = (struct module_builds){.arena = arena, .seed = seed};
}

void module_builds_fini(struct module_builds *builds) {
  table_fini(&builds->by_build);
  table_fini(&builds->by_name);
  free(builds->modules);
}

static uint64_t name_hash(const struct module_builds *builds, const char *name) {
  return table_hash(name, strlen(name), builds->seed);
}

static struct view_module *first_of(const struct module_builds *builds, const char *name) {
  uint64_t hash = name_hash(builds, name);
  uint32_t cursor, at = table_find(&builds->by_name, hash, &cursor);
  while (at != TABLE_NONE && strcmp(builds->modules[at]->name, name) != 0)
    at = table_next(&builds->by_name, hash, &cursor);
  return at != TABLE_NONE ? builds->modules[at] : NULL;
}

static bool is_id(const struct view_build *build, struct span id) {
  return span_is_equal(span_of(build->id, build->id_len), id);
}

static struct view_module *known(const struct module_builds *builds, const char *name,
                                 struct span id, uint64_t hash) {
  uint32_t cursor, at = table_find(&builds->by_build, hash, &cursor);
  for (; at != TABLE_NONE; at = table_next(&builds->by_build, hash, &cursor)) {
    struct view_module *module = builds->modules[at];
    if (is_id(&module->build, id) && strcmp(module->name, name) == 0) return module;
  }
  return NULL;
}

static int make_room(struct module_builds *builds) {
  struct view_module **more = array_grow(builds->modules, builds->count, &builds->room, FIRST_ROOM,
                                         sizeof(struct view_module *));
  if (more == NULL) return -ENOMEM;
  builds->modules = more;
  return 0;
}

static int add(struct module_builds *builds, const char *name, struct span id, uint64_t hash,
               struct view_module **ret) {
  struct view_module *first = first_of(builds, name);
  struct view_module *module = arena_array(builds->arena, 1, sizeof *module);
  if (module == NULL || make_room(builds) != 0) return -ENOMEM;
  module->name = first != NULL ? first->name : arena_string(builds->arena, name, strlen(name));
  if (module->name == NULL) return -ENOMEM;
  module->build.id_len = (uint8_t)id.len;
  memcpy(module->build.id, id.data, id.len);
  builds->modules[builds->count] = module;
  int error = table_add(&builds->by_build, hash, builds->count);
  if (error == 0 && first == NULL)
    error = table_add(&builds->by_name, name_hash(builds, name), builds->count);
  if (error != 0) return error;
  builds->count++;
  if (first != NULL) first->has_others = module->has_others = true;
  *ret = module;
  return 0;
}

int module_builds_find(struct module_builds *builds, const char *name, struct span id,
                       const struct view_module **ret) {
  struct view_module *module = NULL;
  int error = 0;
  if (id.len > 0 && id.len <= LIMIT_MODULE_ID_BYTES) {
    uint64_t hash = table_hash(id.data, id.len, name_hash(builds, name));
    module = known(builds, name, id, hash);
    if (module == NULL) error = add(builds, name, id, hash, &module);
  }
  if (error == 0) *ret = module;
  return error;
}

bool module_builds_are_several(const struct module_builds *builds, const char *name) {
  const struct view_module *first = first_of(builds, name);
  return first != NULL && first->has_others;
}

bool module_builds_are_same(const struct view_module *a, const struct view_module *b) {
  if (a == b) return true;
  return a != NULL && b != NULL && is_id(&a->build, span_of(b->build.id, b->build.id_len));
}

/* " [01020304]" */
static void print_build(const struct view_module *module, char text[TOLD_TEXT_BYTES]) {
  char id[2 * TOLD_BYTES + 1];
  hex_text_print(span_of(module->build.id, module->build.id_len), id, sizeof id);
  snprintf(text, TOLD_TEXT_BYTES, " [%s]", id);
}

const char *module_builds_told(const struct view_module *module, const char *name,
                               struct arena *arena) {
  char build[TOLD_TEXT_BYTES];
  size_t len = strlen(name);
  print_build(module, build);
  char *told = arena_array(arena, len + sizeof build, 1);
  if (told == NULL) return NULL;
  memcpy(told, name, len);
  memcpy(told + len, build, strlen(build) + 1);
  return told;
}

bool module_builds_means(const struct view_function *function, const char *asked) {
  char build[TOLD_TEXT_BYTES];
  size_t len = strlen(function->name);
  print_build(function->of, build);
  if (function->is_apart) len -= strlen(build);
  if (strncmp(asked, function->name, len) != 0) return false;
  return asked[len] == '\0' || strcmp(asked + len, build) == 0;
}
