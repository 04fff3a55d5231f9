/* SPDX-License-Identifier: Apache-2.0 */
#include "disk_sync.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

enum { STACK_BYTES = 64 << 10 };

int disk_sync_now(int file, int dir) {
  if (fdatasync(file) < 0) return -errno;
  return dir >= 0 && fsync(dir) < 0 ? -errno : 0;
}

static void close_both(struct disk_sync *sync) {
  if (sync->file >= 0) close(sync->file);
  if (sync->dir >= 0) close(sync->dir);
}

static void *run(void *context) {
  struct disk_sync *sync = context;
  sync->error = disk_sync_now(sync->file, sync->dir);
  close_both(sync);
  atomic_store_explicit(&sync->is_over, true, memory_order_release);
  return NULL;
}

/* The main thread handles all signals: this thread blocks them. */
static int start(struct disk_sync *sync) {
  sigset_t all, before;
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error) return -error;
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  error = pthread_create(&sync->thread, &attributes, run, sync);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return -error;
}

int disk_sync_begin(struct disk_sync *sync, int file, int dir) {
  sync->file = fcntl(file, F_DUPFD_CLOEXEC, 0);
  sync->dir = dir >= 0 ? fcntl(dir, F_DUPFD_CLOEXEC, 0) : -1;
  int error = sync->file < 0 || (dir >= 0 && sync->dir < 0) ? -errno : 0;
  atomic_store_explicit(&sync->is_over, false, memory_order_relaxed);
  if (error == 0) error = start(sync);
  sync->is_on = error == 0;
  if (error) close_both(sync);
  return error;
}

bool disk_sync_end(struct disk_sync *sync, bool must_wait, int *ret_error) {
  if (!sync->is_on) return false;
  if (!must_wait && !atomic_load_explicit(&sync->is_over, memory_order_acquire)) return false;
  pthread_join(sync->thread, NULL);
  sync->is_on = false;
  *ret_error = sync->error;
  return true;
}
