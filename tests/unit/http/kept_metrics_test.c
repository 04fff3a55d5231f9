/* SPDX-License-Identifier: Apache-2.0 */
/* A scrape's sample metrics are computed once a minute by the query thread; a scrape waits for them
   for up to two seconds, once. The test can make the clock jump (--wrap of clock_monotonic_ns). */
#include "api_world.h"
#include "common/monotonic_cond.h"
#include "http/jobs.h"
#include "http/kept_metrics.h"
#include "http/profile_metrics.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/thread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

enum { QUEUE = 2 };

static struct event_base *loop;
static struct kept_metrics *const kept = &service.kept_metrics;
static const char ratio[] = "fleetprof_unsymbolized_samples_ratio";

static atomic_uint calls_until_jump;
static atomic_uint_fast64_t jumped_ns;

uint64_t __real_clock_monotonic_ns(void);
uint64_t __wrap_clock_monotonic_ns(void);
uint64_t __wrap_clock_monotonic_ns(void) {
  uint64_t now_ns = __real_clock_monotonic_ns() + jumped_ns;
  if (calls_until_jump > 0 && --calls_until_jump == 0)
    jumped_ns += (PROFILE_METRICS_DEADLINE_S + 1) * NS_PER_SECOND;
  return now_ns;
}

/* Queries that take their time.  They outlive a test that fails, and end_one lets them end. */
static struct query {
  struct job job;
  sem_t begun, may_end;
} queries[QUEUE + 1];
static unsigned query_count; /* in this test */

static void run_query(struct job *job) {
  struct query *query = (struct query *)job;
  sem_post(&query->begun);
  sem_wait(&query->may_end);
}

static void query_done(struct job *job, enum job_end end) {
  (void)job, (void)end;
}

static struct query *begin_query(void) {
  assert_true(query_count < sizeof queries / sizeof *queries);
  struct query *query = &queries[query_count++];
  query->job = (struct job){.run = run_query, .on_done = query_done};
  sem_init(&query->begun, 0, 0);
  sem_init(&query->may_end, 0, 0);
  assert_int_equal(jobs_add(service.queries, &query->job), 0);
  return query;
}

static void begin_query_and_wait(void) {
  sem_wait(&begin_query()->begun);
}

static void end_queries(void) {
  for (unsigned i = 0; i < query_count; i++) sem_post(&queries[i].may_end);
}

static uint64_t print_ms(struct buf *ret) {
  uint64_t begun_ns = clock_monotonic_ns();
  buf_clear(ret);
  kept_metrics_print(kept, ret);
  return (clock_monotonic_ns() - begun_ns) / NS_PER_MS;
}

static bool has_ratio(const struct buf *text) {
  return text->len > 0 && strstr(buf_text((struct buf *)(uintptr_t)text), ratio) != NULL;
}

/* Lets the loop process finished jobs. */
static void turn(void) {
  for (unsigned i = 0; i < 200 && kept->is_with_query; i++) {
    event_base_loop(loop, EVLOOP_NONBLOCK);
    usleep(10000);
  }
  assert_false(kept->is_with_query);
}

static int begin(void **state) {
  evthread_use_pthreads();
  loop = event_base_new();
  if (loop == NULL || set_up(state) != 0) return -1;
  append_hundred("edge", 1);
  ask(api_profile, NULL, NULL, NULL, NULL); /* waits until all has settled, as these do not */
  return 0;
}

static int begin_one(void **state) {
  (void)state;
  kept_metrics_fini(kept);
  kept_metrics_init(kept, &service);
  return jobs_start(loop, "query", QUEUE, &service.queries);
}

static int end_one(void **state) {
  (void)state;
  end_queries();
  int failed = jobs_stop(service.queries, 5000);
  query_count = 0;
  service.queries = NULL; /* once, in a test that ends it by itself and fails */
  return failed;
}

static int end(void **state) {
  int failed = tear_down(state);
  event_base_free(loop);
  return failed;
}

static void they_are_made_once_a_minute(void **state) {
  (void)state;
  struct buf text = {0};
  kept_metrics_ask(kept);
  print_ms(&text);
  assert_true(has_ratio(&text));
  turn();
  uint64_t made_ns = kept->made_ns;
  kept_metrics_ask(kept);
  assert_false(kept->is_with_query);
  assert_true(kept->next_ns > clock_monotonic_ns() + 50 * NS_PER_SECOND);
  kept->next_ns = 0;
  kept_metrics_ask(kept);
  turn();
  assert_true(kept->made_ns > made_ns);
  buf_fini(&text);
}

static void a_scrape_behind_a_long_query_waits_once_and_shows_what_was(void **state) {
  (void)state;
  struct buf text = {0};
  kept_metrics_ask(kept);
  turn();
  begin_query_and_wait();
  kept->next_ns = 0;
  kept_metrics_ask(kept);
  uint64_t waited_ms = print_ms(&text);
  assert_true(waited_ms >= KEPT_METRICS_WAIT_MS - 200);
  assert_true(has_ratio(&text));
  assert_true(print_ms(&text) < KEPT_METRICS_WAIT_MS / 2);
  assert_true(has_ratio(&text));
  end_queries();
  turn();
  buf_fini(&text);
}

/* Their query begins, and finds its two seconds over. */
static void where_they_take_too_long_a_scrape_shows_what_was(void **state) {
  (void)state;
  struct buf text = {0};
  kept_metrics_ask(kept);
  turn();
  uint64_t made_ns = kept->made_ns;
  calls_until_jump = 1;
  kept_metrics_make(kept);
  assert_true(kept->made_ns == made_ns); /* it did take too long */
  print_ms(&text);
  assert_true(has_ratio(&text));
  kept_metrics_make(kept);
  assert_true(kept->made_ns > made_ns);
  buf_fini(&text);
}

static void what_is_of_another_time_is_not_shown(void **state) {
  (void)state;
  struct buf text = {0};
  kept_metrics_ask(kept);
  turn();
  kept->made_ns = clock_monotonic_ns() - KEPT_METRICS_AGE_S * NS_PER_SECOND;
  print_ms(&text);
  assert_false(has_ratio(&text));
  buf_fini(&text);
}

static void where_the_queue_is_full_the_next_scrape_asks_again(void **state) {
  (void)state;
  struct buf text = {0};
  begin_query_and_wait();
  for (unsigned i = 1; i <= QUEUE; i++) begin_query();
  kept_metrics_ask(kept);
  assert_false(kept->is_with_query);
  assert_true(print_ms(&text) < KEPT_METRICS_WAIT_MS / 2);
  end_queries();
  sem_wait(&queries[QUEUE].begun); /* so a place is free */
  kept_metrics_ask(kept);
  assert_true(kept->is_with_query);
  turn();
  print_ms(&text);
  assert_true(has_ratio(&text));
  buf_fini(&text);
}

static void what_is_given_up_at_the_end_is_waited_for_by_nobody(void **state) {
  (void)state;
  struct buf text = {0};
  begin_query_and_wait();
  kept_metrics_ask(kept);
  assert_true(kept->is_being_made);
  assert_int_equal(jobs_stop(service.queries, 0), -ETIMEDOUT); /* from here on none is begun */
  assert_int_equal(end_one(NULL), 0);
  assert_true(kept->made_ns == 0);
  assert_false(kept->is_with_query);
  assert_false(kept->is_being_made);
  assert_true(print_ms(&text) < KEPT_METRICS_WAIT_MS / 2);
  assert_int_equal(begin_one(NULL), 0);
  buf_fini(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(they_are_made_once_a_minute, begin_one, end_one),
      cmocka_unit_test_setup_teardown(a_scrape_behind_a_long_query_waits_once_and_shows_what_was,
                                      begin_one, end_one),
      cmocka_unit_test_setup_teardown(where_they_take_too_long_a_scrape_shows_what_was, begin_one,
                                      end_one),
      cmocka_unit_test_setup_teardown(what_is_of_another_time_is_not_shown, begin_one, end_one),
      cmocka_unit_test_setup_teardown(where_the_queue_is_full_the_next_scrape_asks_again, begin_one,
                                      end_one),
      cmocka_unit_test_setup_teardown(what_is_given_up_at_the_end_is_waited_for_by_nobody,
                                      begin_one, end_one),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
