/* SPDX-License-Identifier: Apache-2.0 */
/* From a descriptor to a ring that the handler may write into. */
#ifndef PRELOAD_RING_MAP_H
#define PRELOAD_RING_MAP_H

#include "ring/ring_writer.h"

/* Maps the ring behind FD and checks its header.  Returns 0; -EPERM for a file that somebody could
   make shorter under us: neither sealed nor, as a histogram or recorder may be, a regular file of
   root's or our own user's that nobody else may write and whose blocks are all allocated; or as
   ring_writer_init, or -errno.  FD stays the caller's. */
int ring_map(int fd, struct ring_writer *ret_writer, struct ring_terms *ret_terms);

#endif
