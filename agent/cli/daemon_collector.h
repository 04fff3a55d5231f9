/* SPDX-License-Identifier: Apache-2.0 */
/* Which collector a daemon that runs ships to, and how far its time is from this board's. */
#ifndef CLI_DAEMON_COLLECTOR_H
#define CLI_DAEMON_COLLECTOR_H

#include <stdint.h>

enum { DAEMON_COLLECTOR_BYTES = 300 };

/* Asks the daemon at SOCKET.  Returns 0, RET is HOST:PORT or "" when it has none; or -errno. */
int daemon_collector(const char *socket, char ret[DAEMON_COLLECTOR_BYTES]);

struct cJSON;

/* What is to be added to this board's wall clock to have the collector's time, as STATUS, a
   daemon's, says; 0 where that is not known, or where the two differ by no more than a slow line
   explains. */
int64_t daemon_clock_offset_ns(const struct cJSON *status);

/* The same of the daemon at SOCKET; 0 where it does not answer at once. */
int64_t daemon_ask_clock_offset_ns(const char *socket);

#endif
