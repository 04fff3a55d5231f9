/* SPDX-License-Identifier: Apache-2.0 */
/* Asks other servers, by debuginfod's protocol, for the debug files that no board has.  A thread of
   its own, which exists only where somebody has named the servers: a build-id tells others which
   programs a fleet runs. */
#ifndef NAMES_DEBUGINFOD_H
#define NAMES_DEBUGINFOD_H

#include <stddef.h>

struct debug_store;
struct debuginfod;
struct symbolizer;

enum { DEBUGINFOD_SERVERS_MAX = 8 };

/* Reads URLS, with blanks between, as debuginfod's own clients do.  Returns 0, or -EINVAL with the
   reason in WHY.  Pure. */
int debuginfod_check(const char *urls, char *why, size_t why_len);

/* Starts asking URLS, which were checked, in their order; what they have is kept as if an operator
   had sent it.  STORE and SYMBOLIZER outlive it.  Returns 0 or -errno. */
int debuginfod_start(const char *urls, struct debug_store *store, struct symbolizer *symbolizer,
                     struct debuginfod **ret);

/* Ends it; what is under way is given up.  Returns 0, or -ETIMEDOUT when a server does not even
   say no: then neither store nor symbolizer may be closed, and all that is left to do is to exit.
 */
int debuginfod_stop(struct debuginfod *debuginfod);

#endif
