/* SPDX-License-Identifier: Apache-2.0 */
/* Maps a descriptor as a ring that the handler may write into. */
#ifndef PRELOAD_RING_MAP_H
#define PRELOAD_RING_MAP_H

#include "ring/ring_writer.h"

/* Maps the ring behind FD and checks its header. Returns 0, an error of ring_writer_init, or
   -errno. -EPERM if another process could shorten the file. It must be sealed, or a histogram or
   recorder in a regular file: of root or this user, with all blocks allocated, and without other
   writers. FD stays the caller's. */
int ring_map(int fd, struct ring_writer *ret_writer, struct ring_terms *ret_terms);

#endif
