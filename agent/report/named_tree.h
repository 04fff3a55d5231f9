/* SPDX-License-Identifier: Apache-2.0 */
/* From a profile in addresses to a call tree with names. */
#ifndef REPORT_NAMED_TREE_H
#define REPORT_NAMED_TREE_H

#include "profile.h"
#include "view/view.h"

struct answer;
struct namer;

/* Names each frame of PROFILE: by NAMES (what a translator said of each; or NULL), else by NAMER
   (or NULL) and what PROFILE keeps (best_name.h), else module+0xaddress, of its function where only
   its bounds are known; and merges its paths into RET, in ARENA.  Names stay where they are,
   NAMES', NAMER's and PROFILE's. Returns 0, -EOVERFLOW when there are more nodes than a view holds,
   or -ENOMEM. */
int named_tree_build(struct profile *profile, struct namer *namer, const struct answer *names,
                     struct arena *arena, struct view_tree *ret);

#endif
