/* SPDX-License-Identifier: Apache-2.0 */
/* The mappings of a profile.proto: one for each build of each module. */
#ifndef VIEW_PPROF_MAPPINGS_H
#define VIEW_PPROF_MAPPINGS_H

#include "text_ids.h"

struct pprof_mapping {
  const char *module;
  uint32_t build; /* of the tree; 0: unknown */
  uint32_t has;   /* enum pprof_has, of all its locations; set by the caller */
};

/* All-zero is empty. */
struct pprof_mappings {
  struct text_ids modules;
  struct table by_build;
  struct pprof_mapping *mappings; /* number 0 is unused */
  uint32_t count, room;
  bool failed; /* memory was short; every later result is 0 */
};

/* Returns the number, from 1, of BUILD of MODULE. Borrows MODULE. Returns 0 if memory is short. */
uint32_t pprof_mappings_of(struct pprof_mappings *mappings, const char *module, uint32_t build);
void pprof_mappings_fini(struct pprof_mappings *mappings);

#endif
