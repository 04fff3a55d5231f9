/* SPDX-License-Identifier: Apache-2.0 */
/* Reconstructs a target from its file. */
#ifndef DAEMON_KEPT_TARGET_H
#define DAEMON_KEPT_TARGET_H

#include "keeper/hold.h"

#include <stddef.h>

/* Fills in RET from the SIZE bytes at BYTES (8-byte aligned).  RET->collect must be set.  Other
   processes may be writing to them.  Returns NULL, or their fault. */
const char *kept_target_read(const uint8_t *bytes, size_t size, struct hold_target *ret);

#endif
