/* SPDX-License-Identifier: Apache-2.0 */
/* Two lanes to the workers, one list back.

   Jobs are counted when they leave the loop and again when they return, by the loop alone. So the
   bound covers waiting jobs, running jobs and jobs with an unread outcome, without a lock. Room is
   always checked for the largest possible job, so a queue that is nearly full stops sessions a
   little early.

   Lanes put finished groups on one list and wake the loop through an eventfd. One wake-up serves
   all groups posted before it. */
#include "dispatch.h"

#include "common/clock.h"
#include "debug_intake.h"
#include "job.h"
#include "lane.h"
#include "writer.h"

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { WRITING, DEBUGGING, LANES };

static const struct {
  size_t entries, bytes;
} limits[LANES] = {[WRITING] = {4096, 64 << 20}, [DEBUGGING] = {512, 32 << 20}};

struct dispatch {
  struct dispatch_parts parts;
  struct lane *lanes[LANES];
  struct event *wake;
  int wake_fd;
  size_t entries[LANES], bytes[LANES]; /* used by the loop only */
  bool is_stopping;
  pthread_mutex_t lock; /* guards the following fields */
  struct job *first, **last;
};

/* On a lane's thread. */
static void post_group(void *context, struct job *group) {
  struct dispatch *dispatch = context;
  struct job **end = &group;
  while (*end != NULL) end = &(*end)->next;
  pthread_mutex_lock(&dispatch->lock);
  *dispatch->last = group;
  dispatch->last = end;
  pthread_mutex_unlock(&dispatch->lock);
  eventfd_write(dispatch->wake_fd, 1); /* fails only if a wake-up is pending */
}

static struct job *take_posted(struct dispatch *dispatch) {
  pthread_mutex_lock(&dispatch->lock);
  struct job *list = dispatch->first;
  dispatch->first = NULL;
  dispatch->last = &dispatch->first;
  pthread_mutex_unlock(&dispatch->lock);
  return list;
}

static unsigned lane_of(const struct job *job) {
  return job->kind == JOB_DEBUG_CHUNK || job->kind == JOB_DEBUG_END ? DEBUGGING : WRITING;
}

static void give_back(struct dispatch *dispatch) {
  struct figures *figures = dispatch->parts.figures;
  for (struct job *job = take_posted(dispatch), *next; job != NULL; job = next) {
    unsigned lane = lane_of(job);
    next = job->next;
    dispatch->entries[lane]--;
    dispatch->bytes[lane] -= job->queued_bytes;
    figures_take(&figures->queue_entries, 1);
    figures_take(&figures->queue_bytes, job->queued_bytes);
    dispatch->parts.on_job(dispatch->parts.context, job);
  }
}

static void on_wake(evutil_socket_t fd, short what, void *context) {
  struct dispatch *dispatch = context;
  eventfd_t count;
  (void)what;
  eventfd_read(fd, &count);
  give_back(dispatch);
  dispatch->parts.on_room(dispatch->parts.context);
}

bool dispatch_has_room(const struct dispatch *dispatch, enum frame_type type) {
  unsigned lane = type == FRAME_DEBUG_CHUNK || type == FRAME_DEBUG_END ? DEBUGGING : WRITING;
  return !dispatch->is_stopping && dispatch->entries[lane] < limits[lane].entries &&
         dispatch->bytes[lane] + 2 * LIMIT_FRAME_BYTES <= limits[lane].bytes;
}

void dispatch_submit(struct dispatch *dispatch, struct job *job) {
  struct figures *figures = dispatch->parts.figures;
  unsigned lane = lane_of(job);
  job->queued_bytes = job_bytes(job);
  dispatch->entries[lane]++;
  dispatch->bytes[lane] += job->queued_bytes;
  figures_add(&figures->queue_entries, 1);
  figures_add(&figures->queue_bytes, job->queued_bytes);
  lane_submit(dispatch->lanes[lane], job);
}

static int start_lanes(struct dispatch *dispatch) {
  struct lane_parts parts = {.name = "ingest-writer",
                             .group_max = WRITER_GROUP_MAX,
                             .run = writer_run,
                             .run_context = dispatch->parts.writer,
                             .done = post_group,
                             .done_context = dispatch};
  int result = lane_start(&parts, &dispatch->lanes[WRITING]);
  if (result != 0) return result;
  parts.name = "ingest-debug";
  parts.group_max = 1; /* each may take long: outcomes should not wait for each other */
  parts.run = debug_intake_run;
  parts.run_context = dispatch->parts.debug;
  return lane_start(&parts, &dispatch->lanes[DEBUGGING]);
}

static int start_wake(struct dispatch *dispatch) {
  dispatch->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (dispatch->wake_fd < 0) return -errno;
  dispatch->wake =
      event_new(dispatch->parts.loop, dispatch->wake_fd, EV_READ | EV_PERSIST, on_wake, dispatch);
  return dispatch->wake != NULL && event_add(dispatch->wake, NULL) == 0 ? 0 : -ENOMEM;
}

int dispatch_start(const struct dispatch_parts *parts, struct dispatch **ret) {
  struct dispatch *dispatch = calloc(1, sizeof *dispatch);
  if (dispatch == NULL) return -ENOMEM;
  dispatch->parts = *parts;
  dispatch->wake_fd = -1;
  dispatch->last = &dispatch->first;
  pthread_mutex_init(&dispatch->lock, NULL);
  int result = start_wake(dispatch);
  if (result == 0) result = start_lanes(dispatch);
  if (result != 0) {
    dispatch_stop(dispatch, 0);
    return result;
  }
  *ret = dispatch;
  return 0;
}

void dispatch_stop(struct dispatch *dispatch, unsigned within_ms) {
  if (dispatch == NULL) return;
  uint64_t now_ns = clock_monotonic_ns();
  dispatch->is_stopping = true;
  lane_stop(dispatch->lanes[DEBUGGING], now_ns); /* boards send the rest of a file again */
  lane_stop(dispatch->lanes[WRITING], now_ns + within_ms * NS_PER_MS);
  give_back(dispatch);
  if (dispatch->wake != NULL) event_free(dispatch->wake);
  if (dispatch->wake_fd >= 0) close(dispatch->wake_fd);
  pthread_mutex_destroy(&dispatch->lock);
  free(dispatch);
}
