/* SPDX-License-Identifier: Apache-2.0 */
/* One thread, one list.

   The loop must never wait for a disk, so jobs that may are queued here. The thread takes all jobs
   queued since its last pass, up to group_max. Under load groups grow by themselves, and the costs
   of a group (a commit, a flush) are shared by more jobs, without any timer. The list has no bound:
   the caller limits jobs and bytes (dispatch.c). */
#include "lane.h"

#include "common/clock.h"
#include "job.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct lane {
  struct lane_parts parts;
  pthread_t thread;
  pthread_mutex_t lock; /* guards the following fields */
  pthread_cond_t is_needed;
  struct job *first, **last;
  bool is_stopping;
  uint64_t deadline_ns;
};

/* Cuts up to group_max jobs off the queue. The lock is held. */
static struct job *take_group(struct lane *lane) {
  struct job *group = lane->first, **end = &lane->first;
  for (unsigned i = 0; i < lane->parts.group_max && *end != NULL; i++) end = &(*end)->next;
  lane->first = *end;
  *end = NULL;
  if (lane->first == NULL) lane->last = &lane->first;
  return group;
}

/* Waits for jobs. Returns NULL if the lane is to stop. */
static struct job *wait_for_group(struct lane *lane, bool *ret_is_late) {
  pthread_mutex_lock(&lane->lock);
  while (lane->first == NULL && !lane->is_stopping)
    pthread_cond_wait(&lane->is_needed, &lane->lock);
  struct job *group = take_group(lane);
  *ret_is_late = lane->is_stopping && clock_monotonic_ns() > lane->deadline_ns;
  pthread_mutex_unlock(&lane->lock);
  return group;
}

static void give_up(struct job *group) {
  for (struct job *job = group; job != NULL; job = job->next)
    job_fail(job, REFUSAL_STORE, "the collector is stopping");
}

static void *run_lane(void *context) {
  struct lane *lane = context;
  bool is_late = false;
  for (struct job *group; (group = wait_for_group(lane, &is_late)) != NULL;) {
    if (is_late)
      give_up(group);
    else
      lane->parts.run(lane->parts.run_context, group);
    lane->parts.done(lane->parts.done_context, group);
  }
  return NULL;
}

/* Blocks all signals in the new thread, because the loop handles them. */
static int start_thread(struct lane *lane) {
  sigset_t all, kept;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &kept);
  int failure = pthread_create(&lane->thread, NULL, run_lane, lane);
  pthread_sigmask(SIG_SETMASK, &kept, NULL);
  if (failure == 0) pthread_setname_np(lane->thread, lane->parts.name);
  return -failure;
}

int lane_start(const struct lane_parts *parts, struct lane **ret) {
  struct lane *lane = calloc(1, sizeof *lane);
  if (lane == NULL) return -ENOMEM;
  lane->parts = *parts;
  lane->last = &lane->first;
  pthread_mutex_init(&lane->lock, NULL);
  pthread_cond_init(&lane->is_needed, NULL);
  int result = start_thread(lane);
  if (result != 0) {
    free(lane);
    return result;
  }
  *ret = lane;
  return 0;
}

void lane_submit(struct lane *lane, struct job *job) {
  job->next = NULL;
  pthread_mutex_lock(&lane->lock);
  *lane->last = job;
  lane->last = &job->next;
  pthread_cond_signal(&lane->is_needed);
  pthread_mutex_unlock(&lane->lock);
}

void lane_stop(struct lane *lane, uint64_t deadline_ns) {
  if (lane == NULL) return;
  pthread_mutex_lock(&lane->lock);
  lane->is_stopping = true;
  lane->deadline_ns = deadline_ns;
  pthread_cond_signal(&lane->is_needed);
  pthread_mutex_unlock(&lane->lock);
  pthread_join(lane->thread, NULL);
  pthread_cond_destroy(&lane->is_needed);
  pthread_mutex_destroy(&lane->lock);
  free(lane);
}
