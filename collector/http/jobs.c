/* SPDX-License-Identifier: Apache-2.0 */
/* A query may read a week of blocks and an upload may sync a file, so neither may run on the loop.
   A worker runs jobs in order. A finished job is put on a second list, and an eventfd wakes the
   loop, which calls on_done.

     loop --add--> waiting --worker: run--> done --eventfd--> loop: on_done

   One mutex guards both lists and is never held while a job runs. The queue is short on purpose: if
   it is full, a client gets "try again" at once instead of waiting behind all others.

   It is a fair queue: a job's turn is one after the last job of the same requester, and no earlier
   than the turn being served. So a requester with one job waits for one job of each other
   requester, however many they have queued. In a full queue, a job of the requester with the most
   jobs is displaced.

   A running job is not interrupted. It is bounded by its arena's limit; queries over samples also
   check their time limit and whether the request was abandoned. The connection's deadline ends the
   waiting only. */
#include "jobs.h"

#include "common/heap.h"
#include "common/monotonic_cond.h"

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
  SERVED_MAX = 64,   /* of one turn; more jobs begin the next turn */
  LOW_PRIORITY = 10, /* nice value: a tenth of the CPU time of an equally busy thread */
  /* Idle time after which memory is released; longer than the interval of pages that refresh
     themselves. */
  IDLE_MS = 20000,
};

struct job_list {
  struct job *first, *last;
  size_t count;
};

struct jobs {
  pthread_mutex_t mutex; /* guards waiting, done, turn and the fields up to is_stopping */
  pthread_cond_t changed;
  struct job_list waiting, done; /* waiting is sorted by turn */
  uint64_t turn;                 /* being served; and its requesters so far: */
  uint64_t served[SERVED_MAX];
  unsigned served_count;
  bool is_stopping;
  bool is_low; /* runs with low priority */
  size_t limit;
  pthread_t thread;
  char name[16];
  int wake_fd;
  struct event *woken;
};

static void list_add(struct job_list *list, struct job *job) {
  job->next = NULL;
  if (list->last)
    list->last->next = job;
  else
    list->first = job;
  list->last = job;
  list->count++;
}

static struct job *list_take(struct job_list *list) {
  struct job *job = list->first;
  if (job == NULL) return NULL;
  list->first = job->next;
  if (list->first == NULL) list->last = NULL;
  list->count--;
  return job;
}

/* Inserts JOB behind jobs with the same or an earlier turn. */
static void list_insert(struct job_list *list, struct job *job) {
  struct job **at = &list->first;
  while (*at != NULL && (*at)->turn <= job->turn) at = &(*at)->next;
  job->next = *at;
  *at = job;
  if (job->next == NULL) list->last = job;
  list->count++;
}

static bool list_remove(struct job_list *list, struct job *job) {
  struct job *before = NULL, *at = list->first;
  for (; at != NULL && at != job; at = at->next) before = at;
  if (at == NULL) return false;
  if (before != NULL)
    before->next = job->next;
  else
    list->first = job->next;
  if (list->last == job) list->last = before;
  list->count--;
  return true;
}

static size_t count_of(const struct job_list *list, uint64_t requester) {
  size_t count = 0;
  for (const struct job *at = list->first; at != NULL; at = at->next)
    count += at->requester == requester;
  return count;
}

/* Waits for a job, with the mutex held. */
static void wait_for_job(struct jobs *jobs) {
  const struct timespec until = monotonic_from_now(IDLE_MS);
  int error = 0;
  while (!jobs->is_stopping && jobs->waiting.first == NULL && error == 0)
    error = pthread_cond_timedwait(&jobs->changed, &jobs->mutex, &until);
  if (error != 0) {
    pthread_mutex_unlock(&jobs->mutex);
    heap_give_back();
    pthread_mutex_lock(&jobs->mutex);
  }
  while (!jobs->is_stopping && jobs->waiting.first == NULL)
    pthread_cond_wait(&jobs->changed, &jobs->mutex);
}

/* Records JOB as served, so that its requester's next job gets the next turn at the earliest. */
static void note_served(struct jobs *jobs, const struct job *job) {
  bool is_next = job->turn > jobs->turn;
  if (is_next || jobs->served_count == SERVED_MAX) {
    jobs->turn = is_next ? job->turn : jobs->turn + 1;
    jobs->served_count = 0;
  }
  jobs->served[jobs->served_count++] = job->requester;
}

static bool was_served(const struct jobs *jobs, uint64_t requester) {
  for (unsigned i = 0; i < jobs->served_count; i++)
    if (jobs->served[i] == requester) return true;
  return false;
}

/* Waits for a job. Returns NULL to stop. */
static struct job *next_job(struct jobs *jobs) {
  pthread_mutex_lock(&jobs->mutex);
  wait_for_job(jobs);
  struct job *job = jobs->is_stopping ? NULL : list_take(&jobs->waiting);
  if (job != NULL) note_served(jobs, job);
  pthread_mutex_unlock(&jobs->mutex);
  return job;
}

static void *work(void *arg) {
  struct jobs *jobs = arg;
  pthread_setname_np(pthread_self(), jobs->name);
  if (jobs->is_low) setpriority(PRIO_PROCESS, (id_t)gettid(), LOW_PRIORITY); /* of this thread */
  for (struct job *job; (job = next_job(jobs)) != NULL;) {
    job->run(job);
    pthread_mutex_lock(&jobs->mutex);
    list_add(&jobs->done, job);
    pthread_mutex_unlock(&jobs->mutex);
    uint64_t one = 1;
    while (write(jobs->wake_fd, &one, sizeof one) < 0 && errno == EINTR) continue;
  }
  return NULL;
}

static void give_back(struct jobs *jobs, struct job_list *list, enum job_end end) {
  for (;;) {
    pthread_mutex_lock(&jobs->mutex);
    struct job *job = list_take(list);
    pthread_mutex_unlock(&jobs->mutex);
    if (job == NULL) return;
    job->on_done(job, end);
  }
}

static void on_woken(evutil_socket_t fd, short what, void *arg) {
  (void)what;
  struct jobs *jobs = arg;
  uint64_t count;
  if (read((int)fd, &count, sizeof count) < 0) return; /* EAGAIN: another wake-up took it */
  give_back(jobs, &jobs->done, JOB_RUN);
}

static void release(struct jobs *jobs) {
  if (jobs->woken) event_free(jobs->woken);
  if (jobs->wake_fd >= 0) close(jobs->wake_fd);
  pthread_cond_destroy(&jobs->changed);
  pthread_mutex_destroy(&jobs->mutex);
  free(jobs);
}

static int start(struct event_base *loop, const char *name, size_t limit, bool is_low,
                 struct jobs **ret) {
  struct jobs *jobs = calloc(1, sizeof *jobs);
  if (jobs == NULL) return -ENOMEM;
  jobs->is_low = is_low;
  jobs->limit = limit;
  snprintf(jobs->name, sizeof jobs->name, "%s", name);
  pthread_mutex_init(&jobs->mutex, NULL);
  monotonic_cond_init(&jobs->changed);
  jobs->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  int error = jobs->wake_fd < 0 ? -errno : 0;
  if (error == 0) {
    jobs->woken = event_new(loop, jobs->wake_fd, EV_READ | EV_PERSIST, on_woken, jobs);
    if (jobs->woken == NULL || event_add(jobs->woken, NULL) != 0) error = -ENOMEM;
  }
  if (error == 0) error = -pthread_create(&jobs->thread, NULL, work, jobs);
  if (error) {
    release(jobs);
    return error;
  }
  *ret = jobs;
  return 0;
}

int jobs_start(struct event_base *loop, const char *name, size_t limit, struct jobs **ret) {
  return start(loop, name, limit, false, ret);
}

int jobs_start_low(struct event_base *loop, const char *name, size_t limit, struct jobs **ret) {
  return start(loop, name, limit, true, ret);
}

/* Returns the job to displace for a job of REQUESTER, or NULL. */
static struct job *find_displaced(const struct job_list *list, uint64_t requester) {
  size_t most = count_of(list, requester) + 1;
  struct job *found = NULL;
  for (struct job *at = list->first; at != NULL; at = at->next) {
    bool is_newer = found != NULL && at->requester == found->requester;
    size_t count = is_newer ? most : count_of(list, at->requester);
    if (!is_newer && count <= most) continue;
    most = count;
    found = at;
  }
  return found;
}

/* Returns JOB's turn: after its requester's queued jobs and the one served in this turn. */
static uint64_t find_turn(const struct jobs *jobs, const struct job *job) {
  uint64_t turn = jobs->turn + was_served(jobs, job->requester);
  for (const struct job *at = jobs->waiting.first; at != NULL; at = at->next)
    if (at->requester == job->requester && at->turn >= turn) turn = at->turn + 1;
  return turn;
}

int jobs_add(struct jobs *jobs, struct job *job) {
  struct job *displaced = NULL;
  pthread_mutex_lock(&jobs->mutex);
  if (jobs->waiting.count >= jobs->limit)
    displaced = find_displaced(&jobs->waiting, job->requester);
  if (displaced != NULL) list_remove(&jobs->waiting, displaced);
  bool is_full = jobs->waiting.count >= jobs->limit;
  if (!is_full) {
    job->turn = find_turn(jobs, job);
    list_insert(&jobs->waiting, job);
    pthread_cond_signal(&jobs->changed);
  }
  pthread_mutex_unlock(&jobs->mutex);
  if (displaced != NULL) displaced->on_done(displaced, JOB_DISPLACED);
  return is_full ? -ENOSPC : 0;
}

bool jobs_remove(struct jobs *jobs, struct job *job) {
  pthread_mutex_lock(&jobs->mutex);
  bool was_waiting = list_remove(&jobs->waiting, job);
  pthread_mutex_unlock(&jobs->mutex);
  return was_waiting;
}

size_t jobs_waiting(struct jobs *jobs) {
  pthread_mutex_lock(&jobs->mutex);
  size_t count = jobs->waiting.count;
  pthread_mutex_unlock(&jobs->mutex);
  return count;
}

bool jobs_is_full(struct jobs *jobs) {
  pthread_mutex_lock(&jobs->mutex);
  bool is_full = jobs->waiting.count >= jobs->limit;
  pthread_mutex_unlock(&jobs->mutex);
  return is_full;
}

int jobs_stop(struct jobs *jobs, unsigned timeout_ms) {
  if (jobs == NULL) return 0;
  pthread_mutex_lock(&jobs->mutex);
  jobs->is_stopping = true;
  pthread_cond_signal(&jobs->changed);
  pthread_mutex_unlock(&jobs->mutex);
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += timeout_ms / 1000;
  until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_sec++;
    until.tv_nsec -= 1000000000;
  }
  if (pthread_timedjoin_np(jobs->thread, NULL, &until) != 0) return -ETIMEDOUT;
  give_back(jobs, &jobs->waiting, JOB_STOPPED);
  give_back(jobs, &jobs->done, JOB_RUN);
  release(jobs);
  return 0;
}
