/* SPDX-License-Identifier: Apache-2.0 */
/* The best name that can be had for a frame: of this machine's files, or of those that the profile
   brought along. */
#ifndef REPORT_BEST_NAME_H
#define REPORT_BEST_NAME_H

#include "profile.h"

#include <stdbool.h>

struct namer;
struct symbol_frame;
struct symbol_match;

/* Finds the function of FRAME, one of PROFILE's.  NAMER may be NULL: only what the profile keeps is
   asked.  RET's name ("": only its bounds are known) lives as long as NAMER and PROFILE.  Returns 0
   or -ENOENT. */
int best_name_find(const struct profile *profile, struct namer *namer,
                   const struct profile_frame *frame, struct symbol_match *ret);

/* The same with the functions that were inlined at FRAME, which only this machine's files tell,
   into FRAMES of SYMBOL_CHAIN_MAX, innermost first.  Returns their number or -ENOENT. */
int best_name_chain(const struct profile *profile, struct namer *namer,
                    const struct profile_frame *frame, struct symbol_frame *frames);

/* Whether FRAME's function has a name there, not only bounds. */
bool best_name_is_there(const struct profile *profile, struct namer *namer,
                        const struct profile_frame *frame);

#endif
