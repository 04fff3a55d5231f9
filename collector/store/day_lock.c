/* SPDX-License-Identifier: Apache-2.0 */
/* A reader-writer lock without writer starvation. Queries overlap, so a writer that waited for a
   moment without readers would wait for ever. A waiting writer holds back new readers, and gets
   the lock when the earlier ones are done:

     reader    [=====]  [====]           (waits)[=====]
     reader      [======]   [=====]                [=====]
     writer            wants......[write]

   Readers that had to wait are let in before the next writer, so a writer that prunes a file
   piece by piece delays them by one piece.

   A writer whose wait times out lets readers in again. Not a pthread_rwlock_t: not all
   implementations prefer writers, and its timeout uses the wall clock, which can be set. */
#include "day_lock.h"

#include "common/cutoff.h"
#include "common/monotonic_cond.h"

#include <errno.h>
#include <time.h>

void day_lock_init(struct day_lock *lock) {
  *lock = (struct day_lock){.reading = 0};
  pthread_mutex_init(&lock->mutex, NULL);
  monotonic_cond_init(&lock->changed);
}

void day_lock_fini(struct day_lock *lock) {
  pthread_cond_destroy(&lock->changed);
  pthread_mutex_destroy(&lock->mutex);
}

int day_lock_read(struct day_lock *lock, const struct cutoff *cutoff) {
  int error = 0;
  pthread_mutex_lock(&lock->mutex);
  lock->waiting_readers++;
  while (error == 0 && (lock->is_written || (lock->waiting_writers > 0 && lock->passes == 0))) {
    const struct timespec look = monotonic_from_now(MONOTONIC_LOOK_MS);
    pthread_cond_timedwait(&lock->changed, &lock->mutex, &look);
    if (cutoff_is_past(cutoff)) error = -ETIMEDOUT;
  }
  lock->waiting_readers--;
  /* An unused pass would block the writer for ever. */
  if (lock->passes > 0) lock->passes--;
  lock->reading += error == 0;
  if (error != 0) pthread_cond_broadcast(&lock->changed);
  pthread_mutex_unlock(&lock->mutex);
  return error;
}

void day_lock_end_read(struct day_lock *lock) {
  pthread_mutex_lock(&lock->mutex);
  if (--lock->reading == 0) pthread_cond_broadcast(&lock->changed);
  pthread_mutex_unlock(&lock->mutex);
}

static bool is_free(const struct day_lock *lock) {
  return !lock->is_written && lock->reading == 0 && lock->passes == 0;
}

int day_lock_write(struct day_lock *lock, uint64_t wait_ms) {
  const struct timespec until = monotonic_from_now(wait_ms);
  int error = 0;
  pthread_mutex_lock(&lock->mutex);
  lock->waiting_writers++;
  while (!is_free(lock) && error == 0)
    error = wait_ms > 0 ? -pthread_cond_timedwait(&lock->changed, &lock->mutex, &until)
                        : -pthread_cond_wait(&lock->changed, &lock->mutex);
  if (is_free(lock)) error = 0;
  lock->waiting_writers--;
  lock->is_written = error == 0;
  if (error != 0) pthread_cond_broadcast(&lock->changed);
  pthread_mutex_unlock(&lock->mutex);
  return error;
}

void day_lock_end_write(struct day_lock *lock) {
  pthread_mutex_lock(&lock->mutex);
  lock->is_written = false;
  lock->passes = lock->waiting_readers;
  pthread_cond_broadcast(&lock->changed);
  pthread_mutex_unlock(&lock->mutex);
}
