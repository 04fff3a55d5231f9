/* SPDX-License-Identifier: Apache-2.0 */
/* What fleetprof-symbols does: it forks a worker for each job and watches over it. */
#ifndef SYMBOL_NURSERY_SERVER_H
#define SYMBOL_NURSERY_SERVER_H

struct nursery_options;

/* Serves the jobs that come over NURSERY_SOCKET, the only descriptor beside standard ones that is
   kept, and ends with it.  The niceness of OPTIONS is the caller's
   to see to. */
_Noreturn void nursery_serve(const struct nursery_options *options);

#endif
