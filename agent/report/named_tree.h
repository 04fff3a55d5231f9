/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a call tree with names from a profile of addresses. */
#ifndef REPORT_NAMED_TREE_H
#define REPORT_NAMED_TREE_H

#include "profile.h"
#include "view/view.h"

struct answer;
struct namer;

/* Names each frame of PROFILE, and merges its paths into RET, in ARENA.  A name comes from NAMES
   (the translator's answers, or NULL), else from NAMER (or NULL) and PROFILE (best_name.h).
   Otherwise it is module+0xaddress, with the address of its function if the bounds are known.
   Names are borrowed from NAMES, NAMER and PROFILE.  Returns 0, -EOVERFLOW if there are more nodes
   than a view holds, or -ENOMEM. */
int named_tree_build(struct profile *profile, struct namer *namer, const struct answer *names,
                     struct arena *arena, struct view_tree *ret);

#endif
