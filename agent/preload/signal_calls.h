/* SPDX-License-Identifier: Apache-2.0 */
/* The program's calls that take our signal for itself. */
#ifndef PRELOAD_SIGNAL_CALLS_H
#define PRELOAD_SIGNAL_CALLS_H

/* Finds libc's functions: dlsym is not for signal handlers, from which programs may call them.
   First thing in the constructor, sampled or not. */
void signal_calls_install(void);

#endif
