/* SPDX-License-Identifier: Apache-2.0 */
/* One figure out of a daemon's status. */
#ifndef CLI_SHIPPED_H
#define CLI_SHIPPED_H

#include <stdint.h>

/* How many records the daemon at SOCKET has shipped since it started, asked for at
   most TIMEOUT_MS.  Returns 0 or -errno. */
int shipped_records(const char *socket, uint32_t timeout_ms, uint64_t *ret_records);

#endif
