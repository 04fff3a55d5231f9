/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a pair of PC and link register tells a caller. */
#ifndef REPORT_PAIR_CALLER_H
#define REPORT_PAIR_CALLER_H

#include "profile.h"

struct namer;

/* For NODE of PROFILE, a pair; what NAMER (or NULL) has loaded is asked. */
bool pair_caller_is_told(const struct profile *profile, struct namer *namer,
                         const struct profile_node *node);

#endif
