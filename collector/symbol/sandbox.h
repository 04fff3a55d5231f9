/* SPDX-License-Identifier: Apache-2.0 */
/* Drops all privileges of the calling process that reading one mapped file does not need. */
#ifndef SYMBOL_SANDBOX_H
#define SYMBOL_SANDBOX_H

#include <stdint.h>

/* Limits memory, CPU time and output, then permanently installs the system call filter. CPU time
   depends on the FILE_BYTES to read: 5 s, plus 1 s for each 4 MiB, at most 60 s. The caller must be
   single-threaded; its open descriptors stay open. Returns 0 or -errno; after a failure no
   untrusted file may be read. */
int sandbox_enter(uint64_t file_bytes);

#endif
