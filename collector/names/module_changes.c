/* SPDX-License-Identifier: Apache-2.0 */
/* One number for all modules would make every file that arrives a reason to ask the database about
   every module anew: under a stream of uploads that is all that anybody does.  One number a module
   would need memory for as many modules as strangers care to invent.  So modules share a fixed
   number of counters, by a hash with a seed that strangers do not know: a change of one is, for one
   other in some thousands, a false alarm. */
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

/* Partner of module_changes_count's acquire: who reads the new number finds the change. */
void module_changes_add(struct module_changes *changes, struct span id) {
  atomic_fetch_add_explicit(&changes->counters[place(changes, id)], 1, memory_order_release);
}

uint64_t module_changes_count(const struct module_changes *changes, struct span id) {
  return atomic_load_explicit(&changes->counters[place(changes, id)], memory_order_acquire);
}
