/* SPDX-License-Identifier: Apache-2.0 */
/* Takes from the calling process all that reading one mapped file does not need. */
#ifndef SYMBOL_SANDBOX_H
#define SYMBOL_SANDBOX_H

#include <stdint.h>

/* Limits memory, CPU time (by the FILE_BYTES that are to be read: 5 s, and one for each 4 MiB, at
   most 60) and output, then installs the system call filter, for ever.  The caller
   is single-threaded and keeps what it has open.  Returns 0 or -errno; after a failure nothing from
   a stranger may be read. */
int sandbox_enter(uint64_t file_bytes);

#endif
