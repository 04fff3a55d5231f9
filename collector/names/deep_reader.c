/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel's debug information takes half a minute to read, its symbol table a second. So queries
   never wait for debug information: they use the names of the symbol table until the better index
   exists.

   One thread reads one file at a time, with a nursery of its own, so that it does not delay the
   next file's symbol table. Its workers have low priority. The queue is in the store, which
   survives restarts. A file that a query just needed takes precedence. */
#include "deep_reader.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/monotonic_cond.h"
#include "debug_store_dwarf.h"
#include "index_maker.h"
#include "symbol/nursery.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  RETRY_S = 30, /* after no worker could be started */
};

struct deep_reader {
  struct debug_store *store;
  struct nursery *nursery;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t thread;
  bool is_started, is_stopping;
  bool is_awake; /* the queue may have files */
  bool is_busy;  /* the queue may have files, or one is being read */
};

/* Waits until the queue may have files. Returns false when it is time to stop. */
static bool await_work(struct deep_reader *reader) {
  pthread_mutex_lock(&reader->lock);
  while (!reader->is_stopping && !reader->is_awake)
    pthread_cond_wait(&reader->changed, &reader->lock);
  bool goes_on = !reader->is_stopping;
  pthread_mutex_unlock(&reader->lock);
  return goes_on;
}

static void rest(struct deep_reader *reader) {
  struct timespec end = monotonic_from_now(RETRY_S * 1000);
  int error = 0;
  pthread_mutex_lock(&reader->lock);
  while (!reader->is_stopping && error == 0)
    error = pthread_cond_timedwait(&reader->changed, &reader->lock, &end);
  pthread_mutex_unlock(&reader->lock);
}

static int read_file(struct deep_reader *reader, const struct debug_file *file) {
  int error = index_maker_deepen(reader->store, reader->nursery, file);
  if (error == -ENOENT)
    error = debug_store_refuse_dwarf(reader->store, file->sha256, "it is gone", true);
  else if (error != 0 && error != -ECANCELED)
    debug_store_postpone(reader->store, file->sha256);
  return error;
}

/* Reads the next file. Returns false if the queue is empty. After a failure of this machine the
   file is retried, with a delay. */
static bool read_next(struct deep_reader *reader) {
  struct debug_file file;
  int error = debug_store_next_dwarf(reader->store, &file);
  if (error == -ENOENT) return false;
  if (error == 0) error = read_file(reader, &file);
  if (error == 0 || error == -ECANCELED) return true;
  log_warn("symbols-unread debug information cannot be read now: %s", strerror(-error));
  rest(reader);
  return true;
}

static void *work(void *context) {
  struct deep_reader *reader = context;
  pthread_setname_np(pthread_self(), "deep-reader");
  while (await_work(reader)) {
    pthread_mutex_lock(&reader->lock);
    reader->is_awake = false; /* before reading the queue: a later file wakes the thread again */
    pthread_mutex_unlock(&reader->lock);
    bool is_more = read_next(reader);
    pthread_mutex_lock(&reader->lock);
    reader->is_awake |= is_more;
    reader->is_busy = reader->is_awake;
    pthread_cond_broadcast(&reader->changed);
    pthread_mutex_unlock(&reader->lock);
  }
  return NULL;
}

int deep_reader_open(struct debug_store *store, struct deep_reader **ret) {
  struct deep_reader *reader = calloc(1, sizeof *reader);
  if (reader == NULL) return -ENOMEM;
  reader->store = store;
  monotonic_cond_init(&reader->changed);
  pthread_mutex_init(&reader->lock, NULL);
  int error = nursery_open(&NURSERY_BACKGROUND, &reader->nursery);
  if (error != 0) {
    deep_reader_close(reader);
    return error;
  }
  *ret = reader;
  return 0;
}

void deep_reader_close(struct deep_reader *reader) {
  if (reader == NULL) return;
  pthread_mutex_lock(&reader->lock);
  reader->is_stopping = true;
  pthread_cond_broadcast(&reader->changed);
  pthread_mutex_unlock(&reader->lock);
  if (reader->is_started) {
    nursery_cancel(reader->nursery);
    pthread_join(reader->thread, NULL);
  }
  nursery_close(reader->nursery);
  pthread_cond_destroy(&reader->changed);
  pthread_mutex_destroy(&reader->lock);
  free(reader);
}

void deep_reader_wake(struct deep_reader *reader) {
  pthread_mutex_lock(&reader->lock);
  reader->is_awake = reader->is_busy = true;
  if (!reader->is_started && !reader->is_stopping)
    reader->is_started = pthread_create(&reader->thread, NULL, work, reader) == 0;
  pthread_cond_broadcast(&reader->changed);
  pthread_mutex_unlock(&reader->lock);
}

bool deep_reader_settle(struct deep_reader *reader, unsigned ms) {
  struct timespec end = monotonic_from_now(ms);
  int error = 0;
  pthread_mutex_lock(&reader->lock);
  while (error == 0 && reader->is_busy)
    error = pthread_cond_timedwait(&reader->changed, &reader->lock, &end);
  bool is_settled = !reader->is_busy;
  pthread_mutex_unlock(&reader->lock);
  return is_settled;
}
