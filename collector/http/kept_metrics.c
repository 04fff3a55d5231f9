/* SPDX-License-Identifier: Apache-2.0 */
#include "kept_metrics.h"

#include "common/arena.h"
#include "common/clock.h"
#include "common/meter.h"
#include "common/monotonic_cond.h"
#include "metrics.h"
#include "profile_metrics.h"
#include "service.h"

void kept_metrics_init(struct kept_metrics *kept, struct service *service) {
  *kept = (struct kept_metrics){.service = service};
  pthread_mutex_init(&kept->mutex, NULL);
  monotonic_cond_init(&kept->made);
}

void kept_metrics_fini(struct kept_metrics *kept) {
  pthread_cond_destroy(&kept->made);
  pthread_mutex_destroy(&kept->mutex);
  buf_fini(&kept->text);
}

/* Returns the remaining waiting time of a scrape. It counts from the request for new metrics, so
   that several scrapes wait once. */
static uint64_t patience_ms(const struct kept_metrics *kept) {
  uint64_t waited_ms = (clock_monotonic_ns() - kept->asked_ns) / NS_PER_MS;
  return waited_ms < KEPT_METRICS_WAIT_MS ? KEPT_METRICS_WAIT_MS - waited_ms : 0;
}

/* Publishes TEXT, which may be empty. NULL keeps the previous text. */
static void end_making(struct kept_metrics *kept, struct buf *text) {
  pthread_mutex_lock(&kept->mutex);
  if (text != NULL) {
    buf_fini(&kept->text);
    kept->text = *text;
    kept->made_ns = clock_monotonic_ns();
  }
  kept->is_being_made = false;
  pthread_cond_broadcast(&kept->made);
  pthread_mutex_unlock(&kept->mutex);
}

struct making {
  const struct http_parts *parts;
  struct buf text;
  bool is_whole; /* false if a part failed */
};

static void make(void *context) {
  struct making *making = context;
  struct arena arena;
  arena_init(&arena, QUERY_BYTES_MAX);
  int error = profile_metrics_print(making->parts, &arena, &making->text);
  making->is_whole = error == 0 && !meter_was_refused() && !making->text.failed;
  arena_fini(&arena);
}

void kept_metrics_make(struct kept_metrics *kept) {
  struct service *service = kept->service;
  struct making making = {.parts = &service->parts};
  metrics_meter(service->metrics, atomic_load_explicit(&service->query_bytes, memory_order_relaxed),
                make, &making);
  end_making(kept, making.is_whole ? &making.text : NULL);
  if (!making.is_whole) buf_fini(&making.text);
}

static void run(struct job *job) {
  kept_metrics_make((struct kept_metrics *)job);
}

static void on_done(struct job *job, enum job_end end) {
  struct kept_metrics *kept = (struct kept_metrics *)job;
  kept->is_with_query = false;
  if (end != JOB_RUN) end_making(kept, NULL);
}

void kept_metrics_ask(struct kept_metrics *kept) {
  uint64_t now_ns = clock_monotonic_ns();
  if (kept->is_with_query || now_ns < kept->next_ns) return;
  pthread_mutex_lock(&kept->mutex);
  kept->is_being_made = true;
  kept->asked_ns = now_ns;
  pthread_mutex_unlock(&kept->mutex);
  kept->job = (struct job){.run = run, .on_done = on_done};
  kept->is_with_query = jobs_add(kept->service->queries, &kept->job) == 0;
  if (kept->is_with_query)
    kept->next_ns = now_ns + KEPT_METRICS_EVERY_S * NS_PER_SECOND;
  else
    end_making(kept, NULL); /* the next scrape tries again */
}

void kept_metrics_print(struct kept_metrics *kept, struct buf *ret) {
  pthread_mutex_lock(&kept->mutex);
  const struct timespec until = monotonic_from_now(patience_ms(kept));
  int error = 0;
  while (kept->is_being_made && error == 0)
    error = pthread_cond_timedwait(&kept->made, &kept->mutex, &until);
  bool is_fresh = kept->made_ns != 0 &&
                  clock_monotonic_ns() - kept->made_ns < KEPT_METRICS_AGE_S * NS_PER_SECOND;
  if (is_fresh) buf_append(ret, kept->text.data, kept->text.len);
  pthread_mutex_unlock(&kept->mutex);
}
