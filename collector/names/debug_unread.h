/* SPDX-License-Identifier: Apache-2.0 */
/* Files that were taken whole and that no worker has read. */
#ifndef NAMES_DEBUG_UNREAD_H
#define NAMES_DEBUG_UNREAD_H

#include "debug_store.h"

/* Finds MAX of them at most, operators' first, into RET.  Returns their number or -errno.  Any
   thread. */
int debug_unread_list(struct debug_store *store, struct debug_file *ret, unsigned max);

#endif
