/* SPDX-License-Identifier: Apache-2.0 */
/* Sends one request to a daemon at a known socket. */
#ifndef CLI_DAEMON_CALL_H
#define CLI_DAEMON_CALL_H

#include "intake/intake_client.h"

#include <stddef.h>
#include <stdint.h>

/* Connects to the daemon at SOCKET, makes CALL and closes the connection, within CALL's timeout.
   Returns 0 or -errno. */
int daemon_call(const char *socket, const struct intake_call *call, struct intake_answer *ret);

/* Timeout of an interactive status request. */
enum { DAEMON_CALL_STATUS_MS = 5000 };

/* Requests the status of the daemon at SOCKET.  Returns 0 with its JSON text, NUL-terminated, which
   the caller frees; or -errno. */
int daemon_call_status(const char *socket, uint32_t timeout_ms, char **ret_json);

#endif
