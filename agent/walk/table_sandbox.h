/* SPDX-License-Identifier: Apache-2.0 */
/* What a child must not have or do that reads what strangers wrote. */
#ifndef WALK_TABLE_SANDBOX_H
#define WALK_TABLE_SANDBOX_H

/* Unmaps what this process, a child, shares for writing with others: rings, tables, counters.
   Returns 0 or -errno. */
int table_sandbox_unshare(void);

/* From here on this process can compute, take memory, write to what it has open, lower its own
   priority and end; a root is nobody.  What the kernel does not know of these is done without. */
void table_sandbox_enter(void);

#endif
