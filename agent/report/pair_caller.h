/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether the link register of a (PC, link register) pair is a caller. */
#ifndef REPORT_PAIR_CALLER_H
#define REPORT_PAIR_CALLER_H

#include "profile.h"

struct namer;

/* For NODE of PROFILE, a pair.  Uses the modules that NAMER (or NULL) has loaded. */
bool pair_caller_is_told(const struct profile *profile, struct namer *namer,
                         const struct profile_node *node);

#endif
