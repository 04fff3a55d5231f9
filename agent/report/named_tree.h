/* SPDX-License-Identifier: Apache-2.0 */
/* From a profile in addresses to a call tree with names. */
#ifndef REPORT_NAMED_TREE_H
#define REPORT_NAMED_TREE_H

#include "profile.h"
#include "view/view.h"

struct namer;

/* What a translator said of the frames of a profile. */
struct frame_name {
  const char *name; /* NULL: nothing */
  const char *file; /* or NULL */
  uint32_t line;
};

/* Names each frame of PROFILE: by NAMES (one a frame, or NULL),  else by NAMER (or NULL)
   and what PROFILE keeps (best_name.h), else module+0xaddress, of its function where only its
   bounds are known; and merges its paths into RET, in ARENA.  Names stay NAMER's and PROFILE's.
   Returns 0, -EOVERFLOW when there are more nodes than a view holds, or -ENOMEM. */
int named_tree_build(struct profile *profile, struct namer *namer, const struct frame_name *names,
                     struct arena *arena, struct view_tree *ret);

#endif
