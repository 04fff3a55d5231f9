/* SPDX-License-Identifier: Apache-2.0 */
/* Windows must be rolled up before they are deleted, so one thread does both in rounds. The age of
   data is by trusted_time.h, never by the wall clock alone. */
#include "retention.h"

#include "common/clock.h"
#include "common/heap.h"
#include "common/log.h"
#include "common/monotonic_cond.h"
#include "ingest/trusted_file.h"
#include "ingest/trusted_time.h"
#include "reserve.h"
#include "store/store.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  ROUND_SECONDS = 60,     /* a day file is unlinked within a minute of its time */
  FULL_ROUND_SECONDS = 5, /* while the disk is full */
};

enum place_basis {
  PLACE_BY_OURS,   /* the collector's wall clock */
  PLACE_BY_BOARDS, /* the time on which boards agree */
  PLACE_BY_EACH,   /* the wall clock is implausible: each board's own clock */
};

struct retention {
  const char *dir;
  struct store *store;
  struct retention_limits limits;
  pthread_t thread;
  pthread_mutex_t mutex; /* guards limits, is_stopping */
  pthread_cond_t stopped;
  bool is_stopping;
  struct trusted_time *time;
  enum trust_basis basis;          /* of the round before */
  enum place_basis place_basis;    /* the same, for new data */
  bool has_told_voiceless;         /* that clocks of boards are before the last trusted time */
  bool has_not_kept;               /* the clock state was not written in the last round */
  bool has_failed, has_not_rolled; /* in the last round; only the first failure is logged */
};

/* Logs a change of the clock by which data is deleted. */
static void tell_basis(struct retention *retention, const struct trusted_now *now) {
  if (now->basis == retention->basis) return;
  if (now->basis == TRUST_NOTHING)
    log_warn("retention-clock store: the wall clock has jumped, or is before 2024: nothing is "
             "deleted for its age until it is steady for a day or two boards confirm it");
  else if (now->basis == TRUST_BEHIND)
    log_warn("retention-clock store: the wall clock is %llu s ahead of the time of boards: data is "
             "deleted by theirs",
             (unsigned long long)(now->ahead_ns / NS_PER_SECOND));
  else if (retention->basis == TRUST_BEHIND)
    log_info("retention-clock store: boards confirm the wall clock again");
  retention->basis = now->basis;
}

/* Logs once that boards have no say. */
static void tell_voiceless(struct retention *retention, unsigned voiceless) {
  if (voiceless == 0 || retention->has_told_voiceless) return;
  log_warn("collector-clock %s/clock: the clocks of %u boards are before the last trusted time: "
           "these have no say in the time",
           retention->dir, voiceless);
  retention->has_told_voiceless = true;
}

/* Logs a change of the clock by which data is placed. */
static void tell_place(struct retention *retention, uint64_t wall_ns) {
  int64_t off_ns = clock_overruled_by_ns();
  enum place_basis basis = off_ns != 0                     ? PLACE_BY_BOARDS
                           : wall_ns >= CLOCK_PLAUSIBLE_NS ? PLACE_BY_OURS
                                                           : PLACE_BY_EACH;
  char ours[32], theirs[32];
  if (basis == retention->place_basis) return;
  clock_print_time(wall_ns, ours);
  clock_print_time(wall_ns + (uint64_t)off_ns, theirs);
  if (basis == PLACE_BY_BOARDS)
    log_warn("collector-clock wall clock: says %s, boards agree on %s: data is placed by theirs; "
             "set the clock of this machine",
             ours, theirs);
  else if (basis == PLACE_BY_EACH)
    log_warn("collector-clock wall clock: says %s, which cannot be: data is placed by its board's "
             "clock; set the clock of this machine",
             ours);
  else
    log_info("collector-clock wall clock: data is placed by it again, at %s", ours);
  retention->place_basis = basis;
}

/* Writes the clock state for the next collector on this folder. */
static void keep_clock(struct retention *retention) {
  struct trusted_kept kept;
  if (!trusted_time_keep(retention->time, &kept) && !retention->has_not_kept) return;
  int failed = trusted_file_write(retention->dir, &kept);
  if (failed && !retention->has_not_kept)
    log_warn("collector-clock %s/clock: cannot be written: %s", retention->dir, strerror(-failed));
  retention->has_not_kept = failed != 0;
}

/* Returns the time AGE_NS before NOW_NS, in milliseconds; 0 if there is no limit or no such
   time. */
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
  uint64_t wall_ns = clock_walltime_ns();
  struct trusted_now now = trusted_time_look(retention->time, wall_ns, clock_boottime_ns());
  tell_basis(retention, &now);
  tell_voiceless(retention, now.voiceless);
  tell_place(retention, wall_ns);
  keep_clock(retention);
  keep.windows_ms = before(now.now_ns, limits->windows_ns);
  keep.minutes_ms = before(now.now_ns, limits->minutes_ns);
  keep.hours_ms = before(now.now_ns, limits->hours_ns);
  keep.days_ms = before(now.now_ns, limits->days_ns);
  roll(retention);
  int failed = store_retain(retention->store, &keep);
  if (failed && !retention->has_failed)
    log_warn("retention store: old days are not deleted: %s", strerror(-failed));
  retention->has_failed = failed != 0;
  reserve_renew(retention->dir);
  heap_give_back();
}

/* Waits a round. Returns false if the thread must stop. */
static bool wait_round(struct retention *retention) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += store_is_full(retention->store) ? FULL_ROUND_SECONDS : ROUND_SECONDS;
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
  reserve_renew(retention->dir);
  if (store_is_full(retention->store)) run_round(retention);
  while (wait_round(retention)) run_round(retention);
  return NULL;
}

static void release(struct retention *retention) {
  pthread_cond_destroy(&retention->stopped);
  pthread_mutex_destroy(&retention->mutex);
  free(retention);
}

int retention_start(const char *dir, struct store *store, struct trusted_time *time,
                    const struct retention_limits *limits, struct retention **ret) {
  struct retention *retention = calloc(1, sizeof *retention);
  if (retention == NULL) return -ENOMEM;
  retention->dir = dir;
  retention->store = store;
  retention->limits = *limits;
  retention->time = time;
  keep_clock(retention);
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
