/* SPDX-License-Identifier: Apache-2.0 */
/* fdatasync in a thread of its own.  A memory card that tidies itself up, or a disk that somebody
   else writes to, takes a second for it; a ring that is not drained meanwhile is full after 80 ms.
   One at a time; the thread lives as long as the call. */
#ifndef SPOOL_DISK_SYNC_H
#define SPOOL_DISK_SYNC_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* All-zero: none is under way.  Not to be moved while one is. */
struct disk_sync {
  pthread_t thread;
  bool is_on;
  atomic_bool is_over;
  int file, dir, error; /* the thread's, until is_over */
};

/* Begins to sync FILE, then the folder DIR unless that is -1, on descriptors of its own.  SYNC must
   have none under way.  Returns 0, or -errno where no thread can be had: then nothing was begun. */
int disk_sync_begin(struct disk_sync *sync, int file, int dir);

/* Returns true once for each that was begun, when it is over, however long that takes where
   MUST_WAIT; its outcome, 0 or -errno, is then in RET_ERROR. */
bool disk_sync_end(struct disk_sync *sync, bool must_wait, int *ret_error);

/* The same in the caller's own time.  Returns 0 or -errno. */
int disk_sync_now(int file, int dir);

#endif
