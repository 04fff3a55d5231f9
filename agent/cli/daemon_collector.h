/* SPDX-License-Identifier: Apache-2.0 */
/* The collector of a running daemon, and its clock's offset from this board's. */
#ifndef CLI_DAEMON_COLLECTOR_H
#define CLI_DAEMON_COLLECTOR_H

#include <stdint.h>

enum { DAEMON_COLLECTOR_BYTES = 300 };

/* Queries the daemon at SOCKET.  Returns 0 with HOST:PORT in RET, or "" if it has no collector; or
   -errno. */
int daemon_collector(const char *socket, char ret[DAEMON_COLLECTOR_BYTES]);

struct cJSON;

/* Nanoseconds to add to this board's wall clock to get the collector's time, from STATUS, a
   daemon's. 0 if unknown, or if the difference is small enough to be network delay. */
int64_t daemon_clock_offset_ns(const struct cJSON *status);

/* As daemon_clock_offset_ns, for the daemon at SOCKET; 0 if it does not answer at once. */
int64_t daemon_ask_clock_offset_ns(const char *socket);

#endif
