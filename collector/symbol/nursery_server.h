/* SPDX-License-Identifier: Apache-2.0 */
/* The server of fleetprof-symbols: it forks a worker for each job and supervises it. */
#ifndef SYMBOL_NURSERY_SERVER_H
#define SYMBOL_NURSERY_SERVER_H

struct nursery_options;

/* Serves the jobs that arrive over NURSERY_SOCKET and exits when it is closed. Only NURSERY_SOCKET
   and the standard descriptors stay open. The caller applies the niceness of OPTIONS. */
_Noreturn void nursery_serve(const struct nursery_options *options);

#endif
