/* SPDX-License-Identifier: Apache-2.0 */
/* Names from a co-process that speaks addr2line's protocol: an address a line on its stdin, answers
   on its stdout, in order. */
#ifndef REPORT_TRANSLATOR_H
#define REPORT_TRANSLATOR_H

#include "named_tree.h"

#include <stddef.h>

enum { TRANSLATOR_WHY_BYTES = 256 };

struct translator {
  const char *command;  /* for /bin/sh -c; MODULE and BUILD_ID are in its environment */
  unsigned deadline_ms; /* without a byte in either direction: it hangs */
};

/* Whether COMMAND asks for its module, and so can serve more than one. */
bool translator_takes_module(const struct translator *translator);

/* Whether COMMAND can tell anything of MODULE: it asks for its path, and for nothing else that it
   could find it by, only where the file that was sampled is there.  What has no file it may know,
   and what lies below a folder of its own (/srv/sysroot$MODULE). */
bool translator_can_read(const struct translator *translator, const struct profile_module *module);

/* Makes room in ARENA for what is said of each frame of PROFILE; nothing yet.  NULL: no memory. */
struct answer *translator_names_new(const struct profile *profile, struct arena *arena);

/* Whether something was said of frame number FRAME. */
bool translator_names_has(const struct answer *names, uint32_t frame);

/* Asks for the frames of PROFILE that lie in module MODULE and sets their NAMES (one a frame of the
   profile; in ARENA).  A translator that dies, hangs or miscounts is started once more.
   SIGPIPE is ignored by the caller.
   Returns 0, or -errno with WHY; frames that were answered before keep their names. */
int translator_name(const struct translator *translator, const struct profile *profile,
                    uint32_t module, struct arena *arena, struct answer *names,
                    char why[TRANSLATOR_WHY_BYTES]);

/* Takes back what NAMES say of PROFILE's frames and their modules' own files, read by NAMER, show
   to be wrong (symbol/false_name.h), or to be another name than they give the same function
   (symbol/alias_name.h).  Returns of how many frames it was wrong. */
uint32_t translator_check(const struct profile *profile, struct namer *namer, struct answer *names);

#endif
