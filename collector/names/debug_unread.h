/* SPDX-License-Identifier: Apache-2.0 */
/* Complete files that no worker has read. */
#ifndef NAMES_DEBUG_UNREAD_H
#define NAMES_DEBUG_UNREAD_H

#include "debug_store.h"

/* Writes at most MAX of them to RET, operators' first. Returns their number or -errno. Any
   thread. */
int debug_unread_list(struct debug_store *store, struct debug_file *ret, unsigned max);

#endif
