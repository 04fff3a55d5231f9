/* SPDX-License-Identifier: Apache-2.0 */
/* In profile.proto a mapping is the address range of a file in a process. A sum over processes has
   no address range, and addresses are those of the file's own symbols. So a mapping stands for a
   build of a module. */
#include "pprof_mappings.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64 };

static bool grow(struct pprof_mappings *mappings) {
  struct pprof_mapping *more =
      array_grow(mappings->mappings, mappings->count, &mappings->room, FIRST_ROOM, sizeof *more);
  if (more == NULL) return false;
  if (mappings->count == 0) more[mappings->count++] = (struct pprof_mapping){.module = ""};
  mappings->mappings = more;
  return true;
}

uint32_t pprof_mappings_of(struct pprof_mappings *mappings, const char *module, uint32_t build) {
  uint32_t text = text_ids_of(&mappings->modules, module, NULL);
  uint64_t key = (uint64_t)text << 32 | build;
  uint32_t cursor, at = table_find(&mappings->by_build, key, &cursor);
  for (; at != TABLE_NONE; at = table_next(&mappings->by_build, key, &cursor))
    if (mappings->mappings[at].build == build && strcmp(mappings->mappings[at].module, module) == 0)
      return at;
  if (!grow(mappings) || table_add(&mappings->by_build, key, mappings->count) != 0) {
    mappings->failed = true;
    return 0;
  }
  mappings->mappings[mappings->count] = (struct pprof_mapping){module, build, 0};
  return mappings->count++;
}

void pprof_mappings_fini(struct pprof_mappings *mappings) {
  text_ids_fini(&mappings->modules);
  table_fini(&mappings->by_build);
  free(mappings->mappings);
}
