/* SPDX-License-Identifier: Apache-2.0 */
/* Detects whether this program was started within an undeclared seccomp sandbox. */
#ifndef PRELOAD_BIRTH_SANDBOX_H
#define PRELOAD_BIRTH_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of filters that TEXT reports; TEXT is a piece of /proc/PID/status of LEN bytes. 0 if
   it reports none, 1 or more if there is a sandbox (1: a kernel that does not count filters).
   Pure. */
uint32_t birth_sandbox_filters(const char *text, size_t len);

/* True if this program was started within more filters than KNOWN. Makes only system calls that the
   loader has just made: open, read, close. */
bool birth_sandbox_is_strange(uint32_t known);

#endif
