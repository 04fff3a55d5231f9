/* SPDX-License-Identifier: Apache-2.0 */
/* With one number for all modules, every arriving file would force a database query for every
   module: under a stream of uploads nothing else would run. One number for each module would need
   memory for any number of invented modules. So modules share a fixed number of counters, by a hash
   with a secret seed. A change of one module is a false alarm for one other in some thousands. */
#include "module_changes.h"

#include "common/table.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/random.h>

enum { COUNTERS = 4096 };

struct module_changes {
  uint64_t seed;
  _Atomic uint64_t counters[COUNTERS];
};

struct module_changes *module_changes_new(void) {
  struct module_changes *changes = calloc(1, sizeof *changes);
  if (changes == NULL) return NULL;
  if (getrandom(&changes->seed, sizeof changes->seed, 0) == sizeof changes->seed) return changes;
  free(changes);
  return NULL;
}

void module_changes_free(struct module_changes *changes) {
  free(changes);
}

static size_t place(const struct module_changes *changes, struct span id) {
  return table_hash(id.data, id.len, changes->seed) % COUNTERS;
}

/* Pairs with the acquire in module_changes_count: a reader of the new number sees the change. */
void module_changes_add(struct module_changes *changes, struct span id) {
  atomic_fetch_add_explicit(&changes->counters[place(changes, id)], 1, memory_order_release);
}

uint64_t module_changes_count(const struct module_changes *changes, struct span id) {
  return atomic_load_explicit(&changes->counters[place(changes, id)], memory_order_acquire);
}
