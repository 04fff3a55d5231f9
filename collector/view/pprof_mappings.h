/* SPDX-License-Identifier: Apache-2.0 */
/* The mappings of a profile.proto: each build of each module once. */
#ifndef VIEW_PPROF_MAPPINGS_H
#define VIEW_PPROF_MAPPINGS_H

#include "text_ids.h"

struct pprof_mapping {
  const char *module;
  uint32_t build; /* of the tree; 0: not known */
  uint32_t has;   /* enum pprof_has, of all its locations; the caller's */
};

/* All-zero is empty. */
struct pprof_mappings {
  struct text_ids modules;
  struct table by_build;
  struct pprof_mapping *mappings; /* number 0 is none */
  uint32_t count, room;
  bool failed; /* memory ran out: what was returned since then is 0 */
};

/* Returns the number of MODULE, borrowed, as BUILD has it: from 1 on. */
uint32_t pprof_mappings_of(struct pprof_mappings *mappings, const char *module, uint32_t build);
void pprof_mappings_fini(struct pprof_mappings *mappings);

#endif
