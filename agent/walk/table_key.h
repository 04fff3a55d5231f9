/* SPDX-License-Identifier: Apache-2.0 */
/* Under which key a module's table is kept: in mind, on the disk and in what targets share. */
#ifndef WALK_TABLE_KEY_H
#define WALK_TABLE_KEY_H

#include "common/span.h"
#include "proto/limits.h"

#include <sys/types.h>

/* The uid that answers for a file of OWNER (module_stamp's) which PID has mapped: where that is
   unsure, PID's own real one.  MODULE_OWNER_UNSURE when PID is 0 or gone. */
uint32_t table_key_owner(uint32_t owner, pid_t pid);

/* Writes the key of module ID, for which OWNER answers.  Returns its bytes, 0: it has none. */
uint32_t table_key(struct span id, uint32_t owner, uint8_t ret[LIMIT_MODULE_ID_BYTES]);

#endif
