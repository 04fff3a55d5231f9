/* SPDX-License-Identifier: Apache-2.0 */
/* Which collector a daemon that runs ships to. */
#ifndef CLI_DAEMON_COLLECTOR_H
#define CLI_DAEMON_COLLECTOR_H

enum { DAEMON_COLLECTOR_BYTES = 300 };

/* Asks the daemon at SOCKET.  Returns 0, RET is HOST:PORT or "" when it has none; or -errno. */
int daemon_collector(const char *socket, char ret[DAEMON_COLLECTOR_BYTES]);

#endif
