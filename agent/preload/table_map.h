/* SPDX-License-Identifier: Apache-2.0 */
/* From descriptors to what the handler walks stacks with. */
#ifndef PRELOAD_TABLE_MAP_H
#define PRELOAD_TABLE_MAP_H

#include "unwind/unwind_map.h"

/* Maps the map of regions behind MAP_FD and the memory of tables behind TABLES_FD, read-only.
   Returns 0; -EPERM for memory that somebody could take away from under us, -EBADMSG, -EPROTO for
   another version; -ENOMEM where the program's own limit of address space is too near; or -errno.
   The descriptors stay the caller's. */
int table_map(int map_fd, int tables_fd, struct unwind_shared *ret);

#endif
