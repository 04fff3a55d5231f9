/* SPDX-License-Identifier: Apache-2.0 */
/* A rate-limited log. Unauthenticated peers can cause any number of denials, mostly on an event
   loop; boards with a valid certificate cause renewals. Hence three bounds:

   - A few lines a second: ten show the situation as well as a thousand.
   - A log apart from that of changes, so that a flood displaces only old lines of the same kind.
   - A short queue in memory, which a thread writes. A hanging disk blocks the thread;
     then lines are counted and dropped.

   Where certificates identify the subjects, repeated equal lines of one subject count once in a
   while. So the others keep their share of the rate.

   The thread starts with the first line: most commands never write one. */
#include "rationed_log.h"

#include "audit.h"
#include "common/clock.h"
#include "common/monotonic_cond.h"
#include "common/table.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  LINES_PER_SECOND = 10,
  LINES_WAITING_MAX = 64,
  SUBJECT_BYTES = 160, /* a board's name has 128 */
  WHAT_BYTES = 768,
  STOP_MS = 2000, /* to write the queue */
  /* All lines of that time fit, so none is forgotten too early. */
  LINES_KNOWN = LINES_PER_SECOND * RATIONED_LOG_APART_S_MAX,
};

struct line {
  char subject[SUBJECT_BYTES], what[WHAT_BYTES];
};

struct known_lines {
  struct table table;           /* hash of a line -> its index in */
  uint64_t second[LINES_KNOWN]; /* when it was last noted */
  uint32_t count;
};

struct rationed_log {
  char path[PATH_MAX];
  const char *kind; /* name of its lines */
  unsigned apart_s; /* minimum seconds between equal lines */
  pthread_t thread;
  pthread_mutex_t lock; /* protects the following */
  pthread_cond_t changed;
  bool is_started, is_stopping, is_done;
  bool is_forsaken; /* no thread waits for the writer, which frees the log itself */
  struct timespec stop_until;
  uint64_t second, noted; /* lines in that second */
  uint64_t left_out;      /* since the last line about that */
  unsigned first, count;
  struct line waiting[LINES_WAITING_MAX];
  struct known_lines known[2]; /* when one is full, the other is cleared and used */
  unsigned newest;             /* index of the current one */
};

/* Waits for a line, or for the end. Returns false if there will be no more lines. */
static bool await_one(struct rationed_log *log, struct line *ret, uint64_t *ret_left_out) {
  pthread_mutex_lock(&log->lock);
  while (log->count == 0 && !log->is_stopping) pthread_cond_wait(&log->changed, &log->lock);
  bool has_one = log->count > 0;
  if (has_one) {
    *ret = log->waiting[log->first];
    log->first = (log->first + 1) % LINES_WAITING_MAX;
    log->count--;
  }
  *ret_left_out = log->left_out;
  log->left_out = 0;
  pthread_mutex_unlock(&log->lock);
  return has_one;
}

static void tell_left_out(const struct rationed_log *log, uint64_t left_out) {
  char what[WHAT_BYTES];
  if (left_out == 0) return;
  snprintf(what, sizeof what, "%" PRIu64 " more %s were left out", left_out, log->kind);
  audit_append(log->path, "-", what);
}

static void release(struct rationed_log *log) {
  for (unsigned i = 0; i < 2; i++) table_fini(&log->known[i].table);
  pthread_cond_destroy(&log->changed);
  pthread_mutex_destroy(&log->lock);
  free(log);
}

/* Marks the thread as done. */
static void end(struct rationed_log *log) {
  pthread_mutex_lock(&log->lock);
  log->is_done = true;
  bool is_forsaken = log->is_forsaken;
  pthread_cond_signal(&log->changed);
  pthread_mutex_unlock(&log->lock);
  if (is_forsaken) release(log);
}

static void *work(void *context) {
  struct rationed_log *log = context;
  struct line one;
  uint64_t left_out;
  bool has_one;
  pthread_setname_np(pthread_self(), log->kind);
  do {
    has_one = await_one(log, &one, &left_out);
    tell_left_out(log, left_out);
    if (has_one) audit_append(log->path, one.subject, one.what);
  } while (has_one);
  end(log);
  return NULL;
}

/* With the lock held. */
static bool is_running(struct rationed_log *log) {
  if (!log->is_started) log->is_started = pthread_create(&log->thread, NULL, work, log) == 0;
  return log->is_started;
}

/* With the lock held. */
static bool has_place(struct rationed_log *log) {
  uint64_t second = clock_monotonic_ns() / NS_PER_SECOND;
  if (second != log->second) log->noted = 0;
  log->second = second;
  return log->noted < LINES_PER_SECOND && log->count < LINES_WAITING_MAX;
}

/* Returns when the line of HASH was last noted, or NULL. */
static uint64_t *find_known(struct known_lines *lines, uint64_t hash) {
  uint32_t cursor, at = table_find(&lines->table, hash, &cursor);
  return at == TABLE_NONE ? NULL : &lines->second[at];
}

/* With the lock held, for log->second. */
static bool was_noted_lately(struct rationed_log *log, uint64_t hash) {
  for (unsigned i = 0; i < 2; i++) {
    const uint64_t *second = find_known(&log->known[i], hash);
    if (second != NULL && log->second - *second < log->apart_s) return true;
  }
  return false;
}

/* With the lock held. Without memory the line is not remembered, and may be noted again. */
static void keep_known(struct rationed_log *log, uint64_t hash) {
  struct known_lines *lines = &log->known[log->newest];
  uint64_t *second = find_known(lines, hash);
  if (second != NULL) {
    *second = log->second;
    return;
  }
  if (lines->count == LINES_KNOWN) {
    log->newest = 1 - log->newest;
    lines = &log->known[log->newest];
    table_clear(&lines->table);
    lines->count = 0;
  }
  lines->second[lines->count] = log->second;
  if (table_add(&lines->table, hash, lines->count) == 0) lines->count++;
}

/* With the lock held. */
static void add(struct rationed_log *log, const char *subject, const char *what, uint64_t hash) {
  unsigned at = (log->first + log->count++) % LINES_WAITING_MAX;
  snprintf(log->waiting[at].subject, SUBJECT_BYTES, "%s", subject);
  snprintf(log->waiting[at].what, WHAT_BYTES, "%s", what);
  log->noted++;
  if (log->apart_s != 0) keep_known(log, hash);
  pthread_cond_signal(&log->changed);
}

struct rationed_log *rationed_log_new(const char *path, const char *kind, unsigned apart_s) {
  struct rationed_log *log = calloc(1, sizeof *log);
  if (log == NULL) return NULL;
  snprintf(log->path, sizeof log->path, "%s", path);
  log->kind = kind;
  log->apart_s = apart_s;
  pthread_mutex_init(&log->lock, NULL);
  monotonic_cond_init(&log->changed);
  return log;
}

void rationed_log_stop(struct rationed_log *log) {
  if (log == NULL) return;
  pthread_mutex_lock(&log->lock);
  if (!log->is_stopping) log->stop_until = monotonic_from_now(STOP_MS);
  log->is_stopping = true;
  pthread_cond_signal(&log->changed);
  pthread_mutex_unlock(&log->lock);
}

/* Waits for the thread, but not for a hanging disk. Returns whether it has ended. */
static bool await_end(struct rationed_log *log) {
  int error = 0;
  pthread_mutex_lock(&log->lock);
  while (log->is_started && !log->is_done && error == 0)
    error = pthread_cond_timedwait(&log->changed, &log->lock, &log->stop_until);
  bool has_ended = !log->is_started || log->is_done;
  log->is_forsaken = !has_ended;
  pthread_mutex_unlock(&log->lock);
  return has_ended;
}

void rationed_log_free(struct rationed_log *log) {
  if (log == NULL) return;
  pthread_t thread = log->thread;
  bool is_started = log->is_started;
  rationed_log_stop(log);
  if (!await_end(log)) {
    pthread_detach(thread);
    return;
  }
  if (is_started) pthread_join(thread, NULL);
  release(log);
}

void rationed_log_note(struct rationed_log *log, const char *subject, const char *what) {
  uint64_t hash = table_hash(what, strlen(what), table_hash(subject, strlen(subject), 0));
  pthread_mutex_lock(&log->lock);
  if (has_place(log) && !was_noted_lately(log, hash) && is_running(log))
    add(log, subject, what, hash);
  else
    log->left_out++;
  pthread_mutex_unlock(&log->lock);
}
