/* SPDX-License-Identifier: Apache-2.0 */
/* Starts sampling in new threads and forked children. */
#ifndef PRELOAD_HOOKS_H
#define PRELOAD_HOOKS_H

/* Finds the program's own pthread_create and registers for fork. Once, before sampling_start; until
   then the hooks pass everything on. Returns 0, or -errno: then nothing may be sampled. */
int hooks_install(void);

#endif
