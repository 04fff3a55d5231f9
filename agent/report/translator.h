/* SPDX-License-Identifier: Apache-2.0 */
/* Gets names from a co-process with addr2line's protocol: one address per line on its stdin,
   answers on its stdout in the same order. */
#ifndef REPORT_TRANSLATOR_H
#define REPORT_TRANSLATOR_H

#include "named_tree.h"

#include <stddef.h>

enum { TRANSLATOR_WHY_BYTES = 256 };

struct translator {
  const char *command;  /* for /bin/sh -c; MODULE and BUILD_ID are in its environment */
  unsigned deadline_ms; /* without a byte in either direction, after which it counts as hung */
};

/* Whether COMMAND uses its module's path, so that it can serve several modules. */
bool translator_takes_module(const struct translator *translator);

/* Whether COMMAND can answer for MODULE.  If it uses only the module's path, the sampled file must
   still be there.  Modules without a file pass, and so do commands that look below a folder of
   their own (/srv/sysroot$MODULE). */
bool translator_can_read(const struct translator *translator, const struct profile_module *module);

/* Allocates answers for each frame of PROFILE in ARENA, empty.  NULL: no memory. */
struct answer *translator_names_new(const struct profile *profile, struct arena *arena);

/* Whether frame number FRAME has an answer. */
bool translator_names_has(const struct answer *names, uint32_t frame);

/* Requests names for the frames of PROFILE in module MODULE, and sets their NAMES (one per frame of
   the profile; in ARENA).  A translator that dies, hangs or miscounts is restarted once.  SIGPIPE
   must be ignored by the caller.  Returns 0, or -errno with WHY; frames that were answered before
   keep their names. */
int translator_name(const struct translator *translator, const struct profile *profile,
                    uint32_t module, struct arena *arena, struct answer *names,
                    char why[TRANSLATOR_WHY_BYTES]);

/* Checks NAMES against PROFILE's modules, read by NAMER.  Removes wrong names (symbol/false_name.h)
   and aliases of the file's own names (symbol/alias_name.h).  Returns the number of frames with
   wrong names. */
uint32_t translator_check(const struct profile *profile, struct namer *namer, struct answer *names);

#endif
