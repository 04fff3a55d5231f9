/* SPDX-License-Identifier: Apache-2.0 */
/* Modules are sorted by displayed name and then by build-id, so that modules of one name are
   adjacent.  More than one id among them means more than one build.

   Only modules with frames count: a batch lists all mapped modules, and a library without samples
   makes nothing ambiguous. */
#include "module_labels.h"
#include "profile.h"

#include "common/hex_text.h"
#include "proto/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUILD_BYTES = 4, BUILD_TEXT_BYTES = 2 * BUILD_BYTES + 1 };

/* A sampled ELF module of either profile. */
struct member {
  struct profile *profile;
  struct profile_module *module;
};

struct members {
  struct member *members;
  uint32_t count;
};

static const char *shown_of(const struct profile_module *module) {
  return module->shown != NULL ? module->shown : profile_module_name(module);
}

static int by_id(const void *left, const void *right) {
  const struct span a = ((const struct member *)left)->module->id;
  const struct span b = ((const struct member *)right)->module->id;
  if (a.len != b.len) return a.len < b.len ? -1 : 1;
  return a.len > 0 ? memcmp(a.data, b.data, a.len) : 0;
}

static int by_name_and_id(const void *left, const void *right) {
  const struct profile_module *a = ((const struct member *)left)->module;
  const struct profile_module *b = ((const struct member *)right)->module;
  int by_name = strcmp(shown_of(a), shown_of(b));
  return by_name != 0 ? by_name : by_id(left, right);
}

static int collect(struct profile *profile, struct members *members) {
  bool *is_sampled = calloc((size_t)profile->module_count + 1, sizeof *is_sampled);
  size_t room = (size_t)members->count + profile->module_count + 1;
  struct member *more = reallocarray(members->members, room, sizeof *more);
  if (more != NULL) members->members = more;
  if (is_sampled == NULL || more == NULL) {
    free(is_sampled);
    return -ENOMEM;
  }
  for (uint32_t i = 0; i < profile->frame_count; i++) is_sampled[profile->frames[i].module] = true;
  for (uint32_t i = 0; i < profile->module_count; i++)
    if (is_sampled[i] && profile->modules[i].kind == MODULE_ELF)
      more[members->count++] = (struct member){profile, &profile->modules[i]};
  free(is_sampled);
  return 0;
}

/* ---- one file at several paths ---- */

static void link_twins(const struct members *members) {
  for (uint32_t first = 0, end; first < members->count; first = end) {
    struct profile_module *head = members->members[first].module;
    for (end = first + 1; end < members->count; end++) {
      if (head->id.len == 0 || !span_is_equal(members->members[end].module->id, head->id)) break;
      members->members[end - 1].module->twin = members->members[end].module;
    }
    if (end - first > 1) members->members[end - 1].module->twin = head;
  }
}

/* ---- one program under two file names ---- */

static const struct profile_module *main_of(const struct profile *profile) {
  if (profile->main_module == BATCH_NONE) return NULL;
  const struct profile_module *module = &profile->modules[profile->main_module];
  return module->kind == MODULE_ELF ? module : NULL;
}

static bool has_name(const struct member *member, const struct profile *profile, const char *name) {
  return member->profile == profile && strcmp(profile_module_name(member->module), name) == 0;
}

static const char *keep(struct profile *profile, const char *text) {
  return arena_string(&profile->arena, text, strlen(text));
}

static const char *print_pair(struct profile *a, const char *old, const char *new) {
  char text[2 * LIMIT_PATH_BYTES + 8];
  snprintf(text, sizeof text, "%s -> %s", old, new);
  return keep(a, text);
}

/* Shows the programs of A and B as one, if permitted. */
static int pair(struct profile *a, struct profile *b, const struct members *members) {
  const struct profile_module *from = main_of(a), *to = main_of(b);
  if (from == NULL || to == NULL) return 0;
  const char *old = profile_module_name(from), *new = profile_module_name(to);
  if (strcmp(old, new) == 0) return 0;
  for (uint32_t i = 0; i < members->count; i++)
    if (has_name(&members->members[i], b, old) || has_name(&members->members[i], a, new)) return 0;
  /* A copy is the same program, whatever its file name. */
  const char *shown = span_is_equal(from->id, to->id) ? old : print_pair(a, old, new);
  if (shown == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < members->count; i++) {
    const struct member *member = &members->members[i];
    if (has_name(member, a, old) || has_name(member, b, new)) member->module->shown = shown;
  }
  return 0;
}

/* ---- several builds under one name ---- */

static int tell_build(const struct member *member) {
  char text[BUILD_TEXT_BYTES];
  hex_text_print(member->module->id, text, sizeof text);
  member->module->build = keep(member->profile, text);
  return member->module->build != NULL ? 0 : -ENOMEM;
}

static int tell_builds(const struct members *members) {
  int error = 0;
  for (uint32_t first = 0, end; first < members->count && error == 0; first = end) {
    const struct member *group = &members->members[first];
    bool is_one = true;
    for (end = first; end < members->count; end++) {
      const struct profile_module *module = members->members[end].module;
      if (strcmp(shown_of(module), shown_of(group->module)) != 0) break;
      is_one = is_one && span_is_equal(module->id, group->module->id);
    }
    for (uint32_t i = first; !is_one && i < end && error == 0; i++)
      error = tell_build(&members->members[i]);
  }
  return error;
}

int module_labels_set(struct profile *a, struct profile *b) {
  struct members members = {NULL, 0};
  int error = collect(a, &members);
  if (error == 0 && b != NULL) error = collect(b, &members);
  if (error == 0 && b != NULL) error = pair(a, b, &members);
  if (error == 0) {
    qsort(members.members, members.count, sizeof *members.members, by_id);
    link_twins(&members);
    qsort(members.members, members.count, sizeof *members.members, by_name_and_id);
    error = tell_builds(&members);
  }
  free(members.members);
  return error;
}
