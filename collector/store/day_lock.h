/* SPDX-License-Identifier: Apache-2.0 */
/* The lock between readers of days' files and threads that rename, delete or prune them. Any
   thread. */
#ifndef STORE_DAY_LOCK_H
#define STORE_DAY_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct cutoff;

struct day_lock {
  pthread_mutex_t mutex; /* guards the other members; held briefly */
  pthread_cond_t changed;
  unsigned reading, waiting_readers, waiting_writers;
  unsigned passes; /* readers admitted before the next writer */
  bool is_written;
};

void day_lock_init(struct day_lock *lock);
void day_lock_fini(struct day_lock *lock);

/* Shared by readers; not recursive. Returns 0, or -ETIMEDOUT past CUTOFF (NULL: none). */
int day_lock_read(struct day_lock *lock, const struct cutoff *cutoff);
void day_lock_end_read(struct day_lock *lock);

/* Exclusive. Waits for present readers, not for later ones; for WAIT_MS at most, unless that is
   0. Returns 0 or -ETIMEDOUT. */
int day_lock_write(struct day_lock *lock, uint64_t wait_ms);
void day_lock_end_write(struct day_lock *lock);

#endif
