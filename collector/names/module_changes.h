/* SPDX-License-Identifier: Apache-2.0 */
/* How often what is known of each module has changed, in fixed memory.  Any thread. */
#ifndef NAMES_MODULE_CHANGES_H
#define NAMES_MODULE_CHANGES_H

#include "common/span.h"

struct module_changes;

struct module_changes *module_changes_new(void); /* or NULL */
void module_changes_free(struct module_changes *changes);

/* What is known of module ID is another thing from now on. */
void module_changes_add(struct module_changes *changes, struct span id);

/* Returns a number that grows with each change of module ID, and now and then without one: what was
   learnt while it was the same still holds. */
uint64_t module_changes_count(const struct module_changes *changes, struct span id);

#endif
