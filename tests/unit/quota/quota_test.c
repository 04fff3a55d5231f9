/* SPDX-License-Identifier: Apache-2.0 */
#include "quota/quota.h"

#include "common/buf.h"
#include "common/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define HOUR_NS (3600 * NS_PER_SECOND)
#define NOW_NS (1000 * HOUR_NS)

enum { MANY = 2000 };

static struct quotas *quotas;
static struct quota_verdict verdict;

static void begin(const struct quota_limits *limits) {
  quotas = quotas_new(limits);
  assert_non_null(quotas);
  verdict = (struct quota_verdict){0};
}

static int end(void **state) {
  (void)state;
  quotas_free(quotas);
  quotas = NULL;
  return 0;
}

/* A batch of COUNT separate nodes, threads and modules, different from those of another FIRST. */
static bool take(const char *board, uint64_t first, uint32_t count, uint64_t now_ns) {
  static struct batch_module modules[MANY];
  static struct batch_thread threads[MANY];
  static struct batch_node nodes[MANY];
  static char names[MANY][24];
  const struct batch_target target = {.service = "s", .exe = "/s", .module = BATCH_NONE};
  for (uint32_t i = 0; i < count; i++) {
    snprintf(names[i], sizeof names[i], "%llu", (unsigned long long)(first + i));
    modules[i] = (struct batch_module){.id = span_of_string(names[i]), .path = "/s"};
    threads[i] = (struct batch_thread){.name = names[i]};
    nodes[i] = (struct batch_node){i > 0 ? i - 1 : BATCH_NONE, i, first + i};
  }
  const struct batch batch = {.module_count = count,
                              .target_count = 1,
                              .thread_count = count,
                              .node_count = count,
                              .modules = modules,
                              .targets = &target,
                              .threads = threads,
                              .nodes = nodes};
  return quotas_take_batch(quotas, board, &batch, now_ns, &verdict);
}

static struct quota_state state_of(const char *board, uint64_t now_ns) {
  struct quota_state state;
  quotas_state(quotas, board, now_ns, &state);
  return state;
}

static void a_day_s_bytes_may_come_at_once_and_no_more(void **state) {
  (void)state;
  begin(&(struct quota_limits){.a_day = {[QUOTA_BYTES] = 24000}});
  for (unsigned i = 0; i < 24; i++)
    assert_true(quotas_take_bytes(quotas, "a", 1000, NOW_NS, &verdict));
  assert_false(quotas_take_bytes(quotas, "a", 1000, NOW_NS, &verdict));
  assert_int_equal(verdict.quota, QUOTA_BYTES);
  assert_int_equal(verdict.retry_after_ms, 60000); /* an hour, but the requested delay is capped */
  assert_true(quotas_take_bytes(quotas, "b", 1000, NOW_NS,
                                &verdict)); /* other boards have separate quotas */
  assert_int_equal(state_of("a", NOW_NS).used[QUOTA_BYTES], 24000);
  assert_int_equal(state_of("a", NOW_NS).delayed[QUOTA_BYTES], 1);
  assert_int_equal(state_of("b", NOW_NS).used[QUOTA_BYTES], 1000);
}

static void a_board_has_so_many_certificates_within_the_life_of_one(void **state) {
  (void)state;
  begin(&(struct quota_limits){.a_day = {0}});
  for (unsigned i = 0; i < QUOTA_RENEWALS_A_LIFE; i++)
    assert_true(quotas_take_renewal(quotas, "a", 8 * HOUR_NS, NOW_NS));
  assert_false(quotas_take_renewal(quotas, "a", 8 * HOUR_NS, NOW_NS));
  assert_true(quotas_take_renewal(quotas, "b", 8 * HOUR_NS, NOW_NS));
  assert_false(
      quotas_take_renewal(quotas, "a", 8 * HOUR_NS, NOW_NS + HOUR_NS - 10 * NS_PER_SECOND));
  assert_true(quotas_take_renewal(quotas, "a", 8 * HOUR_NS, NOW_NS + HOUR_NS));
  assert_false(quotas_take_renewal(quotas, "a", 8 * HOUR_NS, NOW_NS + HOUR_NS));
}

static void the_bucket_fills_evenly(void **state) {
  (void)state;
  begin(&(struct quota_limits){.a_day = {[QUOTA_BYTES] = 24000}});
  assert_true(quotas_take_bytes(quotas, "a", 24000, NOW_NS, &verdict));
  assert_false(quotas_take_bytes(quotas, "a", 3000, NOW_NS + 2 * HOUR_NS, &verdict));
  assert_true(quotas_take_bytes(quotas, "a", 3000, NOW_NS + 3 * HOUR_NS, &verdict));
  assert_false(quotas_take_bytes(quotas, "a", 1, NOW_NS + 3 * HOUR_NS, &verdict));
  assert_int_equal(state_of("a", NOW_NS + 100 * HOUR_NS).used[QUOTA_BYTES], 0);
}

/* Else a batch larger than a small quota would wait for ever. */
static void one_batch_passes_a_full_bucket_however_large(void **state) {
  (void)state;
  begin(&(struct quota_limits){.a_day = {[QUOTA_BYTES] = 10}});
  assert_true(quotas_take_bytes(quotas, "a", 1000, NOW_NS, &verdict));
  assert_false(quotas_take_bytes(quotas, "a", 1000, NOW_NS + 24 * HOUR_NS, &verdict));
}

static void who_is_refused_too_often_has_to_wait_between(void **state) {
  (void)state;
  begin(&(struct quota_limits){.a_day = {[QUOTA_REFUSALS] = 24}});
  for (unsigned i = 0; i < 24; i++) {
    assert_true(quotas_take_bytes(quotas, "a", 1, NOW_NS, &verdict));
    quotas_count_refusal(quotas, "a", NOW_NS);
  }
  assert_false(quotas_take_bytes(quotas, "a", 1, NOW_NS + HOUR_NS / 2, &verdict));
  assert_int_equal(verdict.quota, QUOTA_REFUSALS);
  assert_int_equal(state_of("a", NOW_NS).used[QUOTA_REFUSALS], 24);
  assert_true(quotas_take_bytes(quotas, "b", 1, NOW_NS, &verdict));
  assert_true(quotas_take_bytes(quotas, "a", 1, NOW_NS + HOUR_NS, &verdict));
  quotas_count_refusal(quotas, "a", NOW_NS + HOUR_NS);
  assert_false(quotas_take_bytes(quotas, "a", 1, NOW_NS + HOUR_NS, &verdict));
}

static void assert_over(enum quota quota) {
  struct quota_limits limits = {.a_day = {0}};
  limits.a_day[quota] = 1000;
  begin(&limits);
  assert_true(take("a", 0, MANY, NOW_NS));
  assert_false(take("a", MANY, MANY, NOW_NS));
  assert_int_equal(verdict.quota, quota);
  assert_true(take("b", MANY, MANY, NOW_NS));
  assert_true(take("a", 0, MANY, NOW_NS)); /* brings nothing new */
  assert_int_equal(state_of("a", NOW_NS).refused[quota], 1);
  assert_in_range(state_of("a", NOW_NS).used[quota], MANY * 6 / 7, MANY * 8 / 7);
  assert_int_equal(state_of("a", NOW_NS).limit[quota], 1000);
  quotas_free(quotas);
  quotas = NULL;
}

static void each_kind_has_its_quota_and_what_is_known_passes(void **state) {
  (void)state;
  assert_over(QUOTA_SERIES);
  assert_over(QUOTA_NODES);
  assert_over(QUOTA_MODULES);
}

static void no_limit_is_none(void **state) {
  (void)state;
  begin(&(struct quota_limits){.a_day = {0}});
  for (uint64_t i = 0; i < 50; i++) assert_true(take("a", i * MANY, MANY, NOW_NS));
  for (uint64_t i = 0; i < 50; i++)
    assert_true(quotas_take_bytes(quotas, "a", 1 << 30, NOW_NS, &verdict));
}

static void the_next_day_begins_with_nothing(void **state) {
  (void)state;
  begin(&(struct quota_limits){.a_day = {[QUOTA_NODES] = 1000}});
  assert_true(take("a", 0, MANY, NOW_NS));
  assert_false(take("a", MANY, MANY, NOW_NS + 23 * HOUR_NS));
  assert_int_equal(state_of("a", NOW_NS + 24 * HOUR_NS).used[QUOTA_NODES], 0);
  assert_true(take("a", MANY, MANY, NOW_NS + 24 * HOUR_NS));
  assert_int_equal(state_of("a", NOW_NS + 24 * HOUR_NS).refused[QUOTA_NODES], 1);
}

static void what_is_new_may_not_come_all_at_once(void **state) {
  (void)state;
  uint64_t first = 0;
  begin(&(struct quota_limits){.a_day = {[QUOTA_NODES] = 100000}});
  while (take("a", first, MANY, NOW_NS)) first += MANY;
  assert_in_range(first, 10000, 10000 * 8 / 7 + 2 * MANY);
  assert_int_equal(verdict.quota, QUOTA_NODES);
  assert_int_equal(verdict.retry_after_ms, 60001);
  assert_true(take("a", 0, MANY, NOW_NS)); /* is known */
  assert_false(quotas_take_bytes(quotas, "a", 1, NOW_NS + 59 * NS_PER_SECOND, &verdict));
  assert_true(quotas_take_bytes(quotas, "a", 1, NOW_NS + 60 * NS_PER_SECOND, &verdict));
  assert_true(take("a", first, MANY, NOW_NS + 60 * NS_PER_SECOND));
  assert_int_equal(state_of("a", NOW_NS).refused[QUOTA_NODES], 0);
  assert_int_equal(state_of("a", NOW_NS).delayed[QUOTA_NODES], 2);
}

/* A rejection costs the decoding of a batch, so a board must not be able to cause it at its full
   sending rate. */
static void a_refusal_closes_the_door_for_a_while_and_longer_each_time(void **state) {
  (void)state;
  uint64_t now_ns = NOW_NS;
  begin(&(struct quota_limits){.a_day = {[QUOTA_NODES] = 1000}});
  assert_true(take("a", 0, MANY, now_ns));
  for (uint64_t i = 1; i <= 8; i++) {
    uint64_t closed_ns = i < 7 ? (NS_PER_SECOND / 2) << i : 60 * NS_PER_SECOND;
    assert_false(take("a", i * MANY, MANY, now_ns));
    assert_false(quotas_take_bytes(quotas, "a", 1, now_ns + closed_ns - 1, &verdict));
    assert_int_equal(verdict.quota, QUOTA_NODES);
    assert_in_range(verdict.retry_after_ms, 1, 60001);
    now_ns += closed_ns;
    assert_true(quotas_take_bytes(quotas, "a", 1, now_ns, &verdict));
  }
  assert_true(quotas_take_bytes(quotas, "b", 1, NOW_NS, &verdict));
  assert_true(take("a", 0, MANY, now_ns));
  assert_false(take("a", 9 * MANY, MANY, now_ns));
  assert_true(quotas_take_bytes(quotas, "a", 1, now_ns + NS_PER_SECOND, &verdict));
}

static void boards_are_told_apart_however_many(void **state) {
  (void)state;
  char name[32];
  begin(&(struct quota_limits){.a_day = {[QUOTA_BYTES] = 10}});
  for (unsigned i = 0; i < 3000; i++) {
    snprintf(name, sizeof name, "board-%u", i);
    assert_true(quotas_take_bytes(quotas, name, 10, NOW_NS, &verdict));
    assert_false(quotas_take_bytes(quotas, name, 1, NOW_NS, &verdict));
  }
  for (unsigned i = 0; i < 3000; i++) { /* a day later they are reported again, or forgotten */
    snprintf(name, sizeof name, "board-%u", 2 * i);
    assert_true(quotas_take_bytes(quotas, name, 10, NOW_NS + 25 * HOUR_NS, &verdict));
  }
}

static void limits_may_change_at_any_time(void **state) {
  (void)state;
  begin(&(struct quota_limits){.a_day = {[QUOTA_NODES] = 1000}});
  assert_true(take("a", 0, MANY, NOW_NS));
  quotas_set_limits(quotas, &(struct quota_limits){.a_day = {[QUOTA_NODES] = 100000}});
  assert_true(take("a", MANY, MANY, NOW_NS));
  quotas_set_limits(quotas, &(struct quota_limits){.a_day = {[QUOTA_NODES] = 10}});
  assert_false(take("a", 2 * MANY, MANY, NOW_NS));
}

static void what_was_refused_is_in_the_metrics(void **state) {
  (void)state;
  struct buf text = {0};
  begin(&(struct quota_limits){.a_day = {[QUOTA_SERIES] = 1000}});
  take("a", 0, MANY, NOW_NS);
  take("a", MANY, MANY, NOW_NS);
  quotas_take_bytes(quotas, "a", 1, NOW_NS, &verdict);
  quotas_metrics(quotas, &text);
  assert_non_null(
      strstr(buf_text(&text), "\nfleetprof_quota_refused_batches_total{quota=\"series\"} 1\n"));
  assert_non_null(
      strstr(buf_text(&text), "\nfleetprof_quota_delayed_batches_total{quota=\"series\"} 1\n"));
  assert_non_null(strstr(buf_text(&text), "\nfleetprof_quota_boards{quota=\"series\"} 1\n"));
  buf_fini(&text);
}

#define CASE(test) cmocka_unit_test_teardown(test, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(a_day_s_bytes_may_come_at_once_and_no_more),
      CASE(a_board_has_so_many_certificates_within_the_life_of_one),
      CASE(the_bucket_fills_evenly),
      CASE(one_batch_passes_a_full_bucket_however_large),
      CASE(who_is_refused_too_often_has_to_wait_between),
      CASE(each_kind_has_its_quota_and_what_is_known_passes),
      CASE(no_limit_is_none),
      CASE(the_next_day_begins_with_nothing),
      CASE(what_is_new_may_not_come_all_at_once),
      CASE(a_refusal_closes_the_door_for_a_while_and_longer_each_time),
      CASE(boards_are_told_apart_however_many),
      CASE(limits_may_change_at_any_time),
      CASE(what_was_refused_is_in_the_metrics),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
