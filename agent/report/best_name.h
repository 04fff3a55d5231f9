/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the best names of a frame, from local files or from the profile. */
#ifndef REPORT_BEST_NAME_H
#define REPORT_BEST_NAME_H

#include "profile.h"

#include <stdbool.h>

struct namer;
struct symbol_frame;

/* Finds the functions at FRAME of PROFILE, including inlined functions.  Writes them to FRAMES, of
   SYMBOL_CHAIN_MAX, innermost first.  NAMER may be NULL: then only the profile's names are used.
   The texts live as long as NAMER and PROFILE; a name "" means that only its bounds are known.
   Returns their number with RET_QUALITY, or -ENOENT. */
int best_name_chain(const struct profile *profile, struct namer *namer,
                    const struct profile_frame *frame, struct symbol_frame *frames,
                    enum names_quality *ret_quality);

/* Whether FRAME's function has a name there, not only bounds. */
bool best_name_is_there(const struct profile *profile, struct namer *namer,
                        const struct profile_frame *frame);

#endif
