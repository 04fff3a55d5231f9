/* SPDX-License-Identifier: Apache-2.0 */
/* The best names that can be had for a frame: of this machine's files, or of those that the profile
   brought along. */
#ifndef REPORT_BEST_NAME_H
#define REPORT_BEST_NAME_H

#include "profile.h"

#include <stdbool.h>

struct namer;
struct symbol_frame;

/* Finds the functions at FRAME, one of PROFILE's, those that were inlined there too, into FRAMES of
   SYMBOL_CHAIN_MAX, innermost first.  NAMER may be NULL: only what the profile keeps is asked.
   Texts ("" for a name: only its bounds are known) live as long as NAMER and PROFILE.  Returns
   their number with RET_QUALITY, or -ENOENT. */
int best_name_chain(const struct profile *profile, struct namer *namer,
                    const struct profile_frame *frame, struct symbol_frame *frames,
                    enum names_quality *ret_quality);

/* Whether FRAME's function has a name there, not only bounds. */
bool best_name_is_there(const struct profile *profile, struct namer *namer,
                        const struct profile_frame *frame);

#endif
