/* SPDX-License-Identifier: Apache-2.0 */
/* Requests debug files that no board has from other servers, by debuginfod's protocol. A thread of
   its own. It runs only if the operator has configured servers: a build-id reveals which programs a
   fleet runs. */
#ifndef NAMES_DEBUGINFOD_H
#define NAMES_DEBUGINFOD_H

#include <stddef.h>

struct debug_store;
struct debuginfod;
struct symbolizer;

enum { DEBUGINFOD_SERVERS_MAX = 8 };

/* Parses URLS, separated by blanks as in debuginfod's own clients. Returns 0, or -EINVAL with the
   reason in WHY. Pure. */
int debuginfod_check(const char *urls, char *why, size_t why_len);

/* Starts requests to URLS, which were checked, in order. Received files are kept like an
   operator's. STORE and SYMBOLIZER outlive it. Returns 0 or -errno. */
int debuginfod_start(const char *urls, struct debug_store *store, struct symbolizer *symbolizer,
                     struct debuginfod **ret);

/* Stops it and abandons the current transfer. Returns 0, or -ETIMEDOUT if a server does not
   respond. Then neither store nor symbolizer may be closed; the caller can only exit. */
int debuginfod_stop(struct debuginfod *debuginfod);

#endif
