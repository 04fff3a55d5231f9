/* SPDX-License-Identifier: Apache-2.0 */
/* What is deleted as windows must have been summed up, so both are rounds of one thread.

   Retention deletes for good, by a clock that may be wrong: a machine that comes up in 2099 would
   delete its whole store.  So a round deletes by age only when wall time has moved along with the
   kernel's own clock since the round before; after a jump it waits for one quiet round first, and a
   time service has usually put things right by then. */
#include "retention.h"

#include "common/clock.h"
#include "common/heap.h"
#include "common/log.h"
#include "common/monotonic_cond.h"
#include "store/store.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  ROUND_SECONDS = 60, /* a day file is unlinked within a minute of its time */
  JUMP_SECONDS = 600, /* more than any clock drifts in a round */
};

struct retention {
  struct store *store;
  struct retention_limits limits;
  pthread_t thread;
  pthread_mutex_t mutex; /* guards limits, is_stopping */
  pthread_cond_t stopped;
  bool is_stopping;
  uint64_t offset_ns;              /* wall time less time since boot, in the round before */
  bool has_failed, has_not_rolled; /* the last round; only the first of a row is told */
};

static bool is_clock_steady(struct retention *retention) {
  uint64_t offset_ns = clock_walltime_ns() - clock_boottime_ns();
  uint64_t moved_ns = offset_ns - retention->offset_ns;
  if (moved_ns > UINT64_MAX / 2) moved_ns = 0 - moved_ns; /* backwards */
  retention->offset_ns = offset_ns;
  return moved_ns < JUMP_SECONDS * NS_PER_SECOND;
}

/* What is older than AGE_NS at NOW_NS; nothing where there is no such time. */
static uint64_t before(uint64_t now_ns, uint64_t age_ns) {
  return age_ns != 0 && now_ns > age_ns ? (now_ns - age_ns) / NS_PER_MS : 0;
}

static void roll(struct retention *retention) {
  int failed = store_roll(retention->store);
  if (failed && !retention->has_not_rolled)
    log_warn("retention store: what is over is not summed up: %s", strerror(-failed));
  retention->has_not_rolled = failed != 0;
}

static void run_round(struct retention *retention) {
  pthread_mutex_lock(&retention->mutex);
  const struct retention_limits copy = retention->limits, *limits = &copy;
  pthread_mutex_unlock(&retention->mutex);
  struct store_keep keep = {.max_bytes = limits->max_bytes};
  uint64_t now_ns = clock_walltime_ns();
  if (is_clock_steady(retention)) {
    keep.windows_ms = before(now_ns, limits->windows_ns);
    keep.minutes_ms = before(now_ns, limits->minutes_ns);
    keep.hours_ms = before(now_ns, limits->hours_ns);
    keep.days_ms = before(now_ns, limits->days_ns);
  }
  roll(retention);
  int failed = store_retain(retention->store, &keep);
  if (failed && !retention->has_failed)
    log_warn("retention store: old days are not deleted: %s", strerror(-failed));
  retention->has_failed = failed != 0;
  heap_give_back();
}

/* Waits a round.  Returns false when it is time to stop. */
static bool wait_round(struct retention *retention) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += ROUND_SECONDS;
  pthread_mutex_lock(&retention->mutex);
  int waited = 0;
  while (!retention->is_stopping && waited != ETIMEDOUT)
    waited = pthread_cond_timedwait(&retention->stopped, &retention->mutex, &until);
  bool goes_on = !retention->is_stopping;
  pthread_mutex_unlock(&retention->mutex);
  return goes_on;
}

static void *work(void *arg) {
  struct retention *retention = arg;
  pthread_setname_np(pthread_self(), "retention");
  while (wait_round(retention)) run_round(retention);
  return NULL;
}

static void release(struct retention *retention) {
  pthread_cond_destroy(&retention->stopped);
  pthread_mutex_destroy(&retention->mutex);
  free(retention);
}

int retention_start(struct store *store, const struct retention_limits *limits,
                    struct retention **ret) {
  struct retention *retention = calloc(1, sizeof *retention);
  if (retention == NULL) return -ENOMEM;
  retention->store = store;
  retention->limits = *limits;
  retention->offset_ns = clock_walltime_ns() - clock_boottime_ns();
  monotonic_cond_init(&retention->stopped);
  pthread_mutex_init(&retention->mutex, NULL);
  int failed = -pthread_create(&retention->thread, NULL, work, retention);
  if (failed)
    release(retention);
  else
    *ret = retention;
  return failed;
}

void retention_set(struct retention *retention, const struct retention_limits *limits) {
  pthread_mutex_lock(&retention->mutex);
  retention->limits = *limits;
  pthread_mutex_unlock(&retention->mutex);
}

void retention_stop(struct retention *retention) {
  if (retention == NULL) return;
  pthread_mutex_lock(&retention->mutex);
  retention->is_stopping = true;
  pthread_cond_signal(&retention->stopped);
  pthread_mutex_unlock(&retention->mutex);
  pthread_join(retention->thread, NULL);
  release(retention);
}
