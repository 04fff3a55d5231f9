/* SPDX-License-Identifier: Apache-2.0 */
/* Maps the tables by which the handler walks stacks. */
#ifndef PRELOAD_TABLE_MAP_H
#define PRELOAD_TABLE_MAP_H

#include "unwind/unwind_map.h"

/* Maps the map of regions behind MAP_FD and the memory of tables behind TABLES_FD, read-only.
   Returns 0 or -errno. -EPERM for memory that another process could remove, -EBADMSG for an invalid
   size, -EPROTO for another version. -ENOMEM if the program's limit of address space is too near.
   The descriptors stay the caller's. */
int table_map(int map_fd, int tables_fd, struct unwind_shared *ret);

#endif
