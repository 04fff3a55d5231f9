/* SPDX-License-Identifier: Apache-2.0 */
/* Runs fdatasync in a separate thread.  It takes a second on a memory card that garbage-collects,
   or on a disk that others write to; a ring that is not drained meanwhile is full after 80 ms.
   There is one call at a time; the thread ends with it. */
#ifndef SPOOL_DISK_SYNC_H
#define SPOOL_DISK_SYNC_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* All-zero: no sync is running.  Must not be moved while one is. */
struct disk_sync {
  pthread_t thread;
  bool is_on;
  atomic_bool is_over;
  int file, dir, error; /* owned by the thread until is_over */
};

/* Starts to sync FILE, then the folder DIR unless that is -1, on duplicated descriptors.  No sync
   of SYNC may be running.  Returns 0, or -errno if there is no thread: then nothing was started. */
int disk_sync_begin(struct disk_sync *sync, int file, int dir);

/* Returns true once for each started sync, when it is over, with its result (0 or -errno) in
   RET_ERROR.  With MUST_WAIT, waits for the end. */
bool disk_sync_end(struct disk_sync *sync, bool must_wait, int *ret_error);

/* Syncs in the calling thread.  Returns 0 or -errno. */
int disk_sync_now(int file, int dir);

#endif
