/* SPDX-License-Identifier: Apache-2.0 */
/* A symbol table takes milliseconds to read, unless it was built to take as long as the worker may.
   The sender of a file waits for the result. Queries do not wait: they use the names that exist,
   and a thread here reads the file. The store then marks the module as changed, and the next query
   has better names.

   One thread reads a file at a time: others that need it wait, and check again. */
#include "symbol_reader.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/monotonic_cond.h"
#include "debug_catalogue.h"
#include "debug_store_parts.h"
#include "deep_reader.h"
#include "index_maker.h"
#include "symbol/nursery.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  REQUESTS_MAX = 256, /* of modules of one query; dropped requests are repeated */
  READING_MAX = 16,   /* threads that read at once: uploads, boards' files, debuginfod, its own */
};

struct symbol_reader {
  struct debug_store *store;
  struct deep_reader *deep;
  struct nursery *nursery;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t thread;
  bool is_started, is_stopping;
  uint8_t reading[READING_MAX][32];         /* files that a thread reads now; zeros: a free slot */
  struct debug_file requests[REQUESTS_MAX]; /* the first is being read */
  unsigned request_count;
};

/* ---- reading ---- */

/* With the lock held. Returns the slot of SHA256, or READING_MAX if it is not being read. */
static unsigned find_reading(const struct symbol_reader *reader, const uint8_t sha256[32]) {
  unsigned at = 0;
  while (at < READING_MAX && memcmp(reader->reading[at], sha256, 32) != 0) at++;
  return at;
}

/* Waits until no other thread reads SHA256, takes a slot for it, and returns the slot. */
static unsigned begin_reading(struct symbol_reader *reader, const uint8_t sha256[32]) {
  static const uint8_t nothing[32];
  unsigned place;
  pthread_mutex_lock(&reader->lock);
  while (find_reading(reader, sha256) < READING_MAX ||
         (place = find_reading(reader, nothing)) == READING_MAX)
    pthread_cond_wait(&reader->changed, &reader->lock);
  memcpy(reader->reading[place], sha256, 32);
  pthread_mutex_unlock(&reader->lock);
  return place;
}

static void end_reading(struct symbol_reader *reader, unsigned place) {
  pthread_mutex_lock(&reader->lock);
  memset(reader->reading[place], 0, sizeof reader->reading[place]);
  pthread_cond_broadcast(&reader->changed);
  pthread_mutex_unlock(&reader->lock);
}

/* Whether FILE was read, or evicted, since it was looked up. */
static bool is_outdated(struct symbol_reader *reader, const struct debug_file *file) {
  struct catalogue_file now;
  sqlite3 *db = debug_store_lock(reader->store);
  int error = catalogue_find(db, span_of(file->sha256, sizeof file->sha256), &now);
  debug_store_unlock(reader->store);
  return error == -ENOENT || (error == 0 && now.quality != file->quality);
}

int symbol_reader_read(struct symbol_reader *reader, const struct debug_file *file) {
  unsigned place = begin_reading(reader, file->sha256);
  int error = 0;
  if (!is_outdated(reader, file)) error = index_maker_make(reader->store, reader->nursery, file);
  end_reading(reader, place);
  if (error == 0) deep_reader_wake(reader->deep);
  return error;
}

/* ---- requests ---- */

/* Waits for a request. Returns false when it is time to stop. */
static bool await_request(struct symbol_reader *reader, struct debug_file *ret) {
  pthread_mutex_lock(&reader->lock);
  while (!reader->is_stopping && reader->request_count == 0)
    pthread_cond_wait(&reader->changed, &reader->lock);
  bool goes_on = !reader->is_stopping;
  if (goes_on) *ret = reader->requests[0];
  pthread_mutex_unlock(&reader->lock);
  return goes_on;
}

static void remove_first(struct symbol_reader *reader) {
  pthread_mutex_lock(&reader->lock);
  memmove(reader->requests, reader->requests + 1,
          --reader->request_count * sizeof *reader->requests);
  pthread_cond_broadcast(&reader->changed);
  pthread_mutex_unlock(&reader->lock);
}

static void *work(void *context) {
  struct symbol_reader *reader = context;
  struct debug_file file;
  pthread_setname_np(pthread_self(), "symbol-reader");
  while (await_request(reader, &file)) {
    int error = symbol_reader_read(reader, &file);
    if (error != 0 && error != -ECANCELED)
      log_warn("symbols-unread %s: cannot be read now: %s", file.path, strerror(-error));
    remove_first(reader);
  }
  return NULL;
}

/* With the lock held. */
static bool is_requested(const struct symbol_reader *reader, const uint8_t sha256[32]) {
  for (unsigned i = 0; i < reader->request_count; i++)
    if (memcmp(reader->requests[i].sha256, sha256, 32) == 0) return true;
  return false;
}

void symbol_reader_request(struct symbol_reader *reader, const struct debug_file *file) {
  pthread_mutex_lock(&reader->lock);
  bool is_new = reader->request_count < REQUESTS_MAX && !is_requested(reader, file->sha256);
  if (is_new) reader->requests[reader->request_count++] = *file;
  if (!reader->is_started && !reader->is_stopping)
    reader->is_started = pthread_create(&reader->thread, NULL, work, reader) == 0;
  if (is_new) pthread_cond_broadcast(&reader->changed);
  pthread_mutex_unlock(&reader->lock);
}

bool symbol_reader_settle(struct symbol_reader *reader, unsigned ms) {
  struct timespec end = monotonic_from_now(ms);
  int error = 0;
  pthread_mutex_lock(&reader->lock);
  while (error == 0 && reader->request_count > 0)
    error = pthread_cond_timedwait(&reader->changed, &reader->lock, &end);
  bool is_settled = reader->request_count == 0;
  pthread_mutex_unlock(&reader->lock);
  return is_settled;
}

/* ---- opening and closing ---- */

int symbol_reader_open(struct debug_store *store, struct deep_reader *deep,
                       struct symbol_reader **ret) {
  struct symbol_reader *reader = calloc(1, sizeof *reader);
  if (reader == NULL) return -ENOMEM;
  reader->store = store;
  reader->deep = deep;
  monotonic_cond_init(&reader->changed);
  pthread_mutex_init(&reader->lock, NULL);
  int error = nursery_open(&NURSERY_ASKED, &reader->nursery);
  if (error != 0) {
    symbol_reader_close(reader);
    return error;
  }
  *ret = reader;
  return 0;
}

void symbol_reader_close(struct symbol_reader *reader) {
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
