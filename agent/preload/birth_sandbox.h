/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this program was started within a seccomp sandbox that we do not know. */
#ifndef PRELOAD_BIRTH_SANDBOX_H
#define PRELOAD_BIRTH_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The filters that TEXT, a piece of /proc/PID/status of LEN bytes, tells of: 0 where it tells of
   none, 1 or more of a sandbox (1: a kernel that does not count them).  Pure. */
uint32_t birth_sandbox_filters(const char *text, size_t len);

/* True when this program was started within more filters than KNOWN.  Makes no system call but
   those with which the loader has just loaded us: open, read, close. */
bool birth_sandbox_is_strange(uint32_t known);

#endif
