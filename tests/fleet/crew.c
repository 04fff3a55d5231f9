/* SPDX-License-Identifier: Apache-2.0 */
/* A crew looks five times a second whether the phase has changed and how many of its boards have
   something left to do; all else is its boards' own events. */
#include "crew.h"
#include "board.h"

#include "common/clock.h"

#include <errno.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdlib.h>

enum {
  TICK_US = 200 * 1000,
  SLOW_READ_BYTES = 256, /* a second */
  SLOW_WRITE_BYTES = 4096,
};

struct tick {
  struct crew *crew;
  enum phase phase;
};

static void on_tick(evutil_socket_t fd, short what, void *context) {
  struct tick *tick = context;
  struct crew *crew = tick->crew;
  enum phase phase = atomic_load_explicit(&crew->plan->phase, memory_order_relaxed);
  unsigned unsettled = 0;
  (void)fd, (void)what;
  if (phase != tick->phase) {
    tick->phase = phase;
    for (uint32_t i = 0; i < crew->count; i++) board_on_phase(crew->boards[i]);
  }
  for (uint32_t i = 0; i < crew->count; i++) unsettled += !board_is_settled(crew->boards[i]);
  atomic_store_explicit(&crew->figures.unsettled, unsettled, memory_order_relaxed);
  if (phase == PHASE_CLOSE && unsettled == 0) event_base_loopbreak(crew->loop);
}

static int make_boards(struct crew *crew) {
  crew->loop = event_base_new();
  crew->slow = ev_token_bucket_cfg_new(SLOW_READ_BYTES, SLOW_READ_BYTES, SLOW_WRITE_BYTES,
                                       SLOW_WRITE_BYTES, NULL);
  crew->boards = calloc(crew->count, sizeof(struct board *));
  if (crew->loop == NULL || crew->slow == NULL || crew->boards == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < crew->count; i++) {
    int error = board_new(crew, crew->first + i * crew->step, &crew->boards[i]);
    if (error != 0) return error;
  }
  return 0;
}

static void *run(void *context) {
  static const struct timeval period = {.tv_usec = TICK_US};
  struct crew *crew = context;
  struct tick tick = {.crew = crew};
  crew->error = make_boards(crew);
  pthread_barrier_wait(crew->ready); /* all are there, or have failed */
  pthread_barrier_wait(crew->ready); /* the start is set, or given up */
  if (crew->error != 0 || crew->plan->start_ns == 0) return NULL;
  struct event *ticks = event_new(crew->loop, -1, EV_PERSIST, on_tick, &tick);
  if (ticks == NULL) abort();
  event_add(ticks, &period);
  for (uint32_t i = 0; i < crew->count; i++) board_start(crew->boards[i]);
  event_base_dispatch(crew->loop);
  event_free(ticks);
  return NULL;
}

int crew_start(struct crew *crew) {
  atomic_store(&crew->figures.unsettled, crew->count);
  return -pthread_create(&crew->thread, NULL, run, crew);
}

void crew_join(struct crew *crew) {
  pthread_join(crew->thread, NULL);
}

void crew_print_truth(const struct crew *crew, FILE *file) {
  for (uint32_t i = 0; i < crew->count; i++) {
    const struct outbox *outbox = board_outbox(crew->boards[i]);
    const struct outbox_totals *made = &outbox->made;
    fprintf(file,
            "%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
            board_name(crew->boards[i]), made->produced, outbox->acked_records, made->ring_full,
            made->spool_full, outbox->acked_weight_ns, outbox_waiting(outbox));
  }
}

void crew_fini(struct crew *crew) {
  for (uint32_t i = 0; i < crew->count && crew->boards != NULL; i++) board_free(crew->boards[i]);
  free(crew->boards);
  if (crew->loop != NULL) {
    event_base_loop(crew->loop, EVLOOP_NONBLOCK); /* libevent closes freed lines from its loop */
    event_base_free(crew->loop);
  }
  if (crew->slow != NULL) ev_token_bucket_cfg_free(crew->slow);
  variant_room_fini(&crew->room);
  buf_fini(&crew->out);
}
