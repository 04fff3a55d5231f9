/* SPDX-License-Identifier: Apache-2.0 */
/* The key of a module's table: in memory, on disk and in the memory shared with targets. */
#ifndef WALK_TABLE_KEY_H
#define WALK_TABLE_KEY_H

#include "common/span.h"
#include "proto/limits.h"

#include <sys/types.h>

/* The uid responsible for a file of OWNER (from module_stamp) that PID has mapped. If OWNER is
   unsure, PID's real uid. MODULE_OWNER_UNSURE if PID is 0 or gone. */
uint32_t table_key_owner(uint32_t owner, pid_t pid);

/* Writes the key of module ID with the responsible uid OWNER. Returns its size in bytes, 0: it has
   none. */
uint32_t table_key(struct span id, uint32_t owner, uint8_t ret[LIMIT_MODULE_ID_BYTES]);

#endif
