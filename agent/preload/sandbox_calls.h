/* SPDX-License-Identifier: Apache-2.0 */
/* Wrappers of the program's calls that begin a sandbox: prctl and syscall. */
#ifndef PRELOAD_SANDBOX_CALLS_H
#define PRELOAD_SANDBOX_CALLS_H

/* Finds libc's functions. First step of the constructor, sampled or not. */
void sandbox_calls_install(void);

#endif
