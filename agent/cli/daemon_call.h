/* SPDX-License-Identifier: Apache-2.0 */
/* One question to a daemon at a known socket. */
#ifndef CLI_DAEMON_CALL_H
#define CLI_DAEMON_CALL_H

#include "intake/intake_client.h"

#include <stddef.h>
#include <stdint.h>

/* Connects to the daemon at SOCKET, makes CALL, hangs up, all within CALL's time.  Returns 0 or
   -errno. */
int daemon_call(const char *socket, const struct intake_call *call, struct intake_answer *ret);

/* How long a person waits for a status. */
enum { DAEMON_CALL_STATUS_MS = 5000 };

/* Asks the daemon at SOCKET for its status.  Returns 0 with its JSON text, NUL-terminated, the
   caller's to free; or -errno. */
int daemon_call_status(const char *socket, uint32_t timeout_ms, char **ret_json);

#endif
