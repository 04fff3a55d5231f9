/* SPDX-License-Identifier: Apache-2.0 */
/* A target as the file that was left of it tells it. */
#ifndef DAEMON_KEPT_TARGET_H
#define DAEMON_KEPT_TARGET_H

#include "keeper/hold.h"

#include <stddef.h>

/* Fills RET, whose collect is set, with what the SIZE bytes at BYTES (8-byte aligned) say, into
   which anybody may be writing.  Returns NULL, or what is wrong with them. */
const char *kept_target_read(const uint8_t *bytes, size_t size, struct hold_target *ret);

#endif
