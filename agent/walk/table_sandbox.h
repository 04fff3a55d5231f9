/* SPDX-License-Identifier: Apache-2.0 */
/* Isolates a child that parses untrusted files. */
#ifndef WALK_TABLE_SANDBOX_H
#define WALK_TABLE_SANDBOX_H

/* Unmaps all writable memory that this process, a child, shares with others: rings, tables,
   counters. Returns 0 or -errno. */
int table_sandbox_unshare(void);

/* From here on this process can compute, allocate memory, write to its open descriptors, lower its
   own priority and exit; root becomes nobody. Restrictions that the kernel does not support are
   skipped. */
void table_sandbox_enter(void);

#endif
