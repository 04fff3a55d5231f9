/* SPDX-License-Identifier: Apache-2.0 */
/* Strangers cause denials, as many as they like, and mostly on an event loop.  Hence three bounds.
   Lines a second: ten tell what is going on as well as a thousand.  A log of their own, apart from
   that of changes: whoever knocks for long enough pushes old denials out of it and nothing else.
   And a short queue in memory, which a thread writes: a disk that hangs stops the thread, and then
   denials are counted and no longer kept.

   The thread begins with the first denial: most commands never have one. */
#include "denials.h"

#include "audit.h"
#include "common/clock.h"
#include "common/monotonic_cond.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  DENIALS_PER_SECOND = 10,
  DENIALS_WAITING_MAX = 64,
  DENIAL_SUBJECT_BYTES = 160, /* a board's name has 128 */
  DENIAL_WHAT_BYTES = 768,
  STOP_MS = 2000, /* for what waits to be written */
};

struct denial {
  char subject[DENIAL_SUBJECT_BYTES], what[DENIAL_WHAT_BYTES];
};

struct denials {
  char path[PATH_MAX];
  pthread_t thread;
  pthread_mutex_t lock; /* over what follows */
  pthread_cond_t changed;
  bool is_started, is_stopping, is_done;
  bool is_forsaken;       /* nobody waits for the thread: what there is, is its own */
  uint64_t second, noted; /* in that second */
  uint64_t left_out;      /* since a line last said so */
  unsigned first, count;
  struct denial waiting[DENIALS_WAITING_MAX];
};

/* Waits for a denial, or for the end; false: there will be no more. */
static bool await_one(struct denials *denials, struct denial *ret, uint64_t *ret_left_out) {
  pthread_mutex_lock(&denials->lock);
  while (denials->count == 0 && !denials->is_stopping)
    pthread_cond_wait(&denials->changed, &denials->lock);
  bool has_one = denials->count > 0;
  if (has_one) {
    *ret = denials->waiting[denials->first];
    denials->first = (denials->first + 1) % DENIALS_WAITING_MAX;
    denials->count--;
  }
  *ret_left_out = denials->left_out;
  denials->left_out = 0;
  pthread_mutex_unlock(&denials->lock);
  return has_one;
}

static void tell_left_out(const struct denials *denials, uint64_t left_out) {
  char what[DENIAL_WHAT_BYTES];
  if (left_out == 0) return;
  snprintf(what, sizeof what, "%" PRIu64 " more denials were left out", left_out);
  audit_append(denials->path, "-", what);
}

static void release(struct denials *denials) {
  pthread_cond_destroy(&denials->changed);
  pthread_mutex_destroy(&denials->lock);
  free(denials);
}

/* The thread has nothing more to do. */
static void end(struct denials *denials) {
  pthread_mutex_lock(&denials->lock);
  denials->is_done = true;
  bool is_forsaken = denials->is_forsaken;
  pthread_cond_signal(&denials->changed);
  pthread_mutex_unlock(&denials->lock);
  if (is_forsaken) release(denials);
}

static void *work(void *context) {
  struct denials *denials = context;
  struct denial one;
  uint64_t left_out;
  bool has_one;
  pthread_setname_np(pthread_self(), "denials");
  do {
    has_one = await_one(denials, &one, &left_out);
    tell_left_out(denials, left_out);
    if (has_one) audit_append(denials->path, one.subject, one.what);
  } while (has_one);
  end(denials);
  return NULL;
}

/* With the lock held. */
static bool is_running(struct denials *denials) {
  if (!denials->is_started)
    denials->is_started = pthread_create(&denials->thread, NULL, work, denials) == 0;
  return denials->is_started;
}

/* With the lock held. */
static bool has_place(struct denials *denials) {
  uint64_t second = clock_monotonic_ns() / NS_PER_SECOND;
  if (second != denials->second) denials->noted = 0;
  denials->second = second;
  return denials->noted < DENIALS_PER_SECOND && denials->count < DENIALS_WAITING_MAX;
}

struct denials *denials_new(const char *path) {
  struct denials *denials = calloc(1, sizeof *denials);
  if (denials == NULL) return NULL;
  snprintf(denials->path, sizeof denials->path, "%s", path);
  pthread_mutex_init(&denials->lock, NULL);
  monotonic_cond_init(&denials->changed);
  return denials;
}

/* Waits for the thread, but not for a disk that hangs.  Returns whether it has ended. */
static bool await_end(struct denials *denials) {
  const struct timespec until = monotonic_from_now(STOP_MS);
  int error = 0;
  pthread_mutex_lock(&denials->lock);
  denials->is_stopping = true;
  pthread_cond_signal(&denials->changed);
  while (denials->is_started && !denials->is_done && error == 0)
    error = pthread_cond_timedwait(&denials->changed, &denials->lock, &until);
  bool has_ended = !denials->is_started || denials->is_done;
  denials->is_forsaken = !has_ended;
  pthread_mutex_unlock(&denials->lock);
  return has_ended;
}

void denials_free(struct denials *denials) {
  if (denials == NULL) return;
  pthread_t thread = denials->thread;
  bool is_started = denials->is_started;
  if (!await_end(denials)) {
    pthread_detach(thread);
    return;
  }
  if (is_started) pthread_join(thread, NULL);
  release(denials);
}

void denials_note(struct denials *denials, const char *subject, const char *what) {
  pthread_mutex_lock(&denials->lock);
  if (has_place(denials) && is_running(denials)) {
    unsigned at = (denials->first + denials->count++) % DENIALS_WAITING_MAX;
    snprintf(denials->waiting[at].subject, DENIAL_SUBJECT_BYTES, "%s", subject);
    snprintf(denials->waiting[at].what, DENIAL_WHAT_BYTES, "%s", what);
    denials->noted++;
    pthread_cond_signal(&denials->changed);
  } else {
    denials->left_out++;
  }
  pthread_mutex_unlock(&denials->lock);
}
