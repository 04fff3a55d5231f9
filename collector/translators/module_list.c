/* SPDX-License-Identifier: Apache-2.0 */
/* A translator's answers depend on its file, and a file from one board counts only for that board.
   So the key is (build-id, file, rule). Boards that may see another file, or none, get another
   number. */
#include "module_list.h"

#include "common/hex_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void module_list_print_id(struct span id, char ret[MODULE_ID_TEXT_BYTES]) {
  hex_text_print(id, ret, MODULE_ID_TEXT_BYTES);
}

static void free_module(struct listed_module *module) {
  for (int i = 0; i < LISTED_VARIABLES; i++) free(module->variables[i]);
  free(module);
}

void module_list_fini(struct module_list *list) {
  for (uint32_t i = 0; i < list->count; i++) free_module(list->modules[i]);
  list->count = 0;
}

static char *print_variable(const char *name, const char *value) {
  size_t len = strlen(name) + strlen(value) + 2;
  char *text = malloc(len);
  if (text != NULL) snprintf(text, len, "%s=%s", name, value);
  return text;
}

static bool set_variables(const struct translator_module *module, const char *arch,
                          struct listed_module *ret) {
  const char *const values[LISTED_VARIABLES][2] = {{"MODULE", module->path},
                                                   {"BUILD_ID", ret->build_id},
                                                   {"ARCH", arch},
                                                   {"QUALITY", module->quality},
                                                   {"DEBUG_FILE", module->debug_path}};
  bool are_set = true;
  for (int i = 0; i < LISTED_VARIABLES; i++) {
    ret->variables[i] = print_variable(values[i][0], values[i][1]);
    are_set = are_set && ret->variables[i] != NULL;
  }
  return are_set;
}

static bool is_id(const struct listed_module *module, struct span id) {
  return span_is_equal(span_of(module->id, module->id_len), id);
}

struct listed_module *module_list_add(struct module_list *list,
                                      const struct translator_module *module, uint32_t rule,
                                      const char *arch) {
  static const uint8_t no_file[32];
  const uint8_t *sha256 = module->sha256 != NULL ? module->sha256 : no_file;
  if (module->id.len > LIMIT_MODULE_ID_BYTES) return NULL;
  for (uint32_t i = 0; i < list->count; i++) {
    struct listed_module *known = list->modules[i];
    if (known->rule == rule && is_id(known, module->id) && memcmp(known->sha256, sha256, 32) == 0)
      return known;
  }
  if (list->count == TRANSLATOR_MODULES_MAX) return NULL;
  struct listed_module *fresh = calloc(1, sizeof *fresh);
  if (fresh == NULL) return NULL;
  fresh->number = list->count;
  fresh->rule = rule;
  fresh->id_len = module->id.len;
  memcpy(fresh->id, module->id.data, module->id.len);
  memcpy(fresh->sha256, sha256, sizeof fresh->sha256);
  module_list_print_id(module->id, fresh->build_id);
  snprintf(fresh->quality, sizeof fresh->quality, "%s", module->quality);
  if (!set_variables(module, arch, fresh)) {
    free_module(fresh);
    return NULL;
  }
  list->modules[list->count++] = fresh;
  return fresh;
}

const struct listed_module *module_list_find_id(const struct module_list *list, struct span id) {
  for (uint32_t i = list->count; i-- > 0;)
    if (is_id(list->modules[i], id)) return list->modules[i];
  return NULL;
}
