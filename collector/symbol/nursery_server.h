/* SPDX-License-Identifier: Apache-2.0 */
/* The nursery's own process: it forks a worker for each job and watches over it. */
#ifndef SYMBOL_NURSERY_SERVER_H
#define SYMBOL_NURSERY_SERVER_H

/* Leaves behind what came with the fork, serves jobs that come over SOCKET and ends with it.  Each
   DEADLINE_MS a worker has to get on. */
_Noreturn void nursery_serve(int socket, unsigned deadline_ms);

#endif
