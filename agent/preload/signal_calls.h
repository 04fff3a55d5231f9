/* SPDX-License-Identifier: Apache-2.0 */
/* Wrappers of the program's calls that take the agent's signal. */
#ifndef PRELOAD_SIGNAL_CALLS_H
#define PRELOAD_SIGNAL_CALLS_H

/* Finds libc's functions beforehand: programs may call them from signal handlers, where dlsym is
   not allowed. First step of the constructor, sampled or not. */
void signal_calls_install(void);

#endif
