/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a pair of PC and link register tells a caller. */
#ifndef REPORT_PAIR_CALLER_H
#define REPORT_PAIR_CALLER_H

#include "profile.h"

struct namer;

/* For NODE of PROFILE, a pair whose frames have their functions; NAMER may be NULL. */
bool pair_caller_is_told(const struct profile *profile, const struct namer *namer,
                         const struct profile_node *node);

#endif
