/* SPDX-License-Identifier: Apache-2.0 */
/* The modules with a translator, one entry for each file and rule. One thread at a time. */
#ifndef TRANSLATORS_MODULE_LIST_H
#define TRANSLATORS_MODULE_LIST_H

#include "translator_pool.h"

#include "proto/limits.h"

enum {
  MODULE_ID_TEXT_BYTES = 2 * LIMIT_MODULE_ID_BYTES + 1,
  LISTED_VARIABLES = 5, /* MODULE BUILD_ID ARCH QUALITY DEBUG_FILE */
};

struct listed_module {
  uint32_t number, rule;
  uint8_t id[LIMIT_MODULE_ID_BYTES];
  size_t id_len;
  char build_id[MODULE_ID_TEXT_BYTES];
  uint8_t sha256[32]; /* zeros: no file */
  char quality[16];
  char *variables[LISTED_VARIABLES]; /* "NAME=value" */
  bool is_asked;                     /* a job of it waits or runs */
  bool is_full;                      /* its share of the cache is used up: no more requests */
  bool is_refuted;                   /* its own files have contradicted an answer */
  unsigned failures;                 /* consecutive failures */
  uint64_t retry_ns, told;
  char why[256];
};

/* All-zero is a valid empty list. */
struct module_list {
  struct listed_module *modules[TRANSLATOR_MODULES_MAX];
  uint32_t count;
};

void module_list_fini(struct module_list *list);

/* Finds or adds MODULE with RULE. Returns it, valid until module_list_fini, or NULL: no memory, or
   the list is full. */
struct listed_module *module_list_add(struct module_list *list,
                                      const struct translator_module *module, uint32_t rule,
                                      const char *arch);

/* Returns the entry last added for module ID, or NULL. */
const struct listed_module *module_list_find_id(const struct module_list *list, struct span id);

/* Writes ID in hexadecimal. */
void module_list_print_id(struct span id, char ret[MODULE_ID_TEXT_BYTES]);

#endif
