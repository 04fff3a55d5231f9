/* SPDX-License-Identifier: Apache-2.0 */
/* Change counters of modules, in fixed memory. Any thread. */
#ifndef NAMES_MODULE_CHANGES_H
#define NAMES_MODULE_CHANGES_H

#include "common/span.h"

struct module_changes;

struct module_changes *module_changes_new(void); /* or NULL */
void module_changes_free(struct module_changes *changes);

/* Records a change of module ID. */
void module_changes_add(struct module_changes *changes, struct span id);

/* Returns a number that grows with each change of module ID, and sometimes without one. Cached data
   is valid while it stays the same. */
uint64_t module_changes_count(const struct module_changes *changes, struct span id);

#endif
