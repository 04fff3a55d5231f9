/* SPDX-License-Identifier: Apache-2.0 */
/* Takes from the calling process all that reading one mapped file does not need. */
#ifndef SYMBOL_SANDBOX_H
#define SYMBOL_SANDBOX_H

/* Limits memory, CPU time and output, then installs the system call filter, for ever.  The caller
   is single-threaded and keeps what it has open.  Returns 0 or -errno; after a failure nothing from
   a stranger may be read. */
int sandbox_enter(void);

#endif
