/* SPDX-License-Identifier: Apache-2.0 */
/* Why a thread is not sampled: every reason, and every harmless state that looks like one. */
#include "census/unsampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* At 99 Hz and a tick of 4 ms: 40 ms are some, 1 s is much. */
static const struct unsampled_evidence sampled = {.quiet_ns = 3000000000,
                                                  .period_ns = 10101010,
                                                  .tick_ns = 4000000,
                                                  .is_caught = true,
                                                  .timer = UNSAMPLED_TIMER_YES};

static void a_thread_whose_signals_come_is_sampled_whatever_else_is_true(void **state) {
  (void)state;
  struct unsampled_evidence evidence = sampled;
  evidence.quiet_ns = 0;
  evidence.is_caught = false;
  evidence.is_blocked = true;
  evidence.timer = UNSAMPLED_TIMER_NO;
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_NOT);
}

static void a_little_cpu_time_proves_nothing(void **state) {
  (void)state;
  struct unsampled_evidence evidence = sampled;
  evidence.is_caught = false;
  evidence.timer = UNSAMPLED_TIMER_NO;
  evidence.quiet_ns = 40000000;
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_NOT);
  evidence.quiet_ns = 41000000;
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_HANDLER_LOST);
  evidence.period_ns = 100000; /* a high rate: the tick is the measure */
  evidence.quiet_ns = 15000000;
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_NOT);
  evidence.quiet_ns = 16000000;
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_HANDLER_LOST);
}

static void a_process_without_a_handler_has_lost_it_or_is_another_program(void **state) {
  (void)state;
  struct unsampled_evidence evidence = sampled;
  evidence.is_caught = false;
  evidence.is_blocked = true;
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_HANDLER_LOST);
  evidence.is_replaced = true;
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_EXEC);
}

static void an_agent_that_never_took_its_ring_is_no_program_that_uses_the_signal(void **state) {
  (void)state;
  struct unsampled_evidence evidence = sampled;
  evidence.is_unmet = true;
  assert_int_not_equal(unsampled_judge(&evidence), UNSAMPLED_UNMET); /* it has a handler */
  evidence.is_caught = false;
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_UNMET);
  assert_true(unsampled_is_for_good(UNSAMPLED_UNMET));
  evidence.is_replaced = true;
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_EXEC);
}

static void a_process_that_left_because_a_stack_is_cramped_is_no_program_that_uses_the_signal(
    void **state) {
  (void)state;
  struct unsampled_evidence evidence = sampled;
  evidence.is_cramped = true;
  evidence.is_caught = false;
  evidence.timer = UNSAMPLED_TIMER_NO;
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_CRAMPED);
  assert_true(unsampled_is_for_good(UNSAMPLED_CRAMPED));
}

static void a_clock_of_the_whole_process_leaves_no_thread_raw(void **state) {
  (void)state;
  struct unsampled_evidence evidence = sampled;
  evidence.is_process_clock = true;
  evidence.timer = UNSAMPLED_TIMER_NO;
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_NOT);
  evidence.timer = UNSAMPLED_TIMER_YES;
  evidence.had_timer = true; /* it was met once */
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_HANDLER_LOST);
  evidence.is_blocked = true;
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_BLOCKED);
}

static void a_blocked_signal_is_the_reason_before_a_missing_timer(void **state) {
  (void)state;
  struct unsampled_evidence evidence = sampled;
  evidence.is_blocked = true;
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_BLOCKED);
  evidence.timer = UNSAMPLED_TIMER_NO;
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_BLOCKED);
}

static void no_timer_is_a_raw_thread_or_a_sandbox(void **state) {
  (void)state;
  struct unsampled_evidence evidence = sampled;
  evidence.timer = UNSAMPLED_TIMER_NO;
  evidence.quiet_ns = 50000000; /* the kernel's own word needs only some */
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_RAW);
  evidence.is_sandboxed = true;
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_SECCOMP);
}

static void where_the_kernel_does_not_say_much_is_needed(void **state) {
  (void)state;
  struct unsampled_evidence evidence = sampled;
  evidence.timer = UNSAMPLED_TIMER_UNKNOWN;
  evidence.quiet_ns = 900000000;
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_NOT);
  evidence.quiet_ns = 1100000000;
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_RAW);
  evidence.had_timer = true; /* it had signals once */
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_HANDLER_LOST);
}

static void a_handler_that_gets_nothing_from_a_running_timer_is_not_ours(void **state) {
  (void)state;
  struct unsampled_evidence evidence = sampled;
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_HANDLER_LOST);
  evidence.period_ns = 1000000000; /* 1 Hz: three seconds are three periods */
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_NOT);
}

static void a_program_that_ticks_may_pass_by_is_left_in_peace(void **state) {
  (void)state;
  struct unsampled_evidence evidence = sampled;
  evidence.is_bursty = true;
  evidence.quiet_ns = 60000000000;
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_NOT);
  evidence.is_sandboxed = true; /* and a sandbox alone is no reason */
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_NOT);
}

static void a_thread_that_had_a_timer_has_lost_it(void **state) {
  (void)state;
  struct unsampled_evidence evidence = sampled;
  evidence.timer = UNSAMPLED_TIMER_NO;
  evidence.had_timer = true; /* it had signals before */
  evidence.quiet_ns = 50000000;
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_DELETED);
  evidence.is_sandboxed = true; /* no reason: the timer was there in spite of it */
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_DELETED);
  evidence.is_blocked = true; /* the timer may be deleted too, but that is not the reason */
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_BLOCKED);
  evidence.is_caught = false;
  assert_int_equal(unsampled_judge(&evidence), UNSAMPLED_HANDLER_LOST);
}

static void a_quarter_that_is_lost_for_good_is_a_failure_at_the_second_look(void **state) {
  (void)state;
  struct unsampled_looks looks = {0};
  struct unsampled_sum sum = {.all_ns = 1000, .dark_ns = 250, .lost_ns = 250, .threads = 4};
  sum.unsampled = sum.lost = 1;
  assert_false(unsampled_has_failed(&looks, &sum)); /* it may be about to end */
  assert_true(unsampled_has_failed(&looks, &sum));
  assert_false(unsampled_is_blind(&looks, &sum));
  sum.lost_ns = 249;
  assert_false(unsampled_has_failed(&looks, &sum));
  assert_true(unsampled_is_for_good(UNSAMPLED_DELETED));
  assert_true(unsampled_is_for_good(UNSAMPLED_HANDLER_LOST));
  assert_true(unsampled_is_for_good(UNSAMPLED_EXEC));
  assert_false(unsampled_is_for_good(UNSAMPLED_BLOCKED));
  assert_false(unsampled_is_for_good(UNSAMPLED_RAW));
}

static void what_is_blocked_fails_only_when_it_stays_so(void **state) {
  (void)state;
  struct unsampled_looks looks = {0};
  const struct unsampled_sum dark = {.all_ns = 1000, .dark_ns = 940, .threads = 1, .unsampled = 1};
  const struct unsampled_sum light = {.all_ns = 1000, .dark_ns = 930, .threads = 2, .unsampled = 1};
  for (unsigned i = 1; i < UNSAMPLED_PATIENCE; i++) {
    assert_false(unsampled_has_failed(&looks, &dark));
    assert_false(unsampled_is_blind(&looks, &dark));
  }
  assert_false(unsampled_has_failed(&looks, &light)); /* a signal arrived */
  assert_false(unsampled_is_blind(&looks, &light));
  for (unsigned i = 1; i < UNSAMPLED_PATIENCE; i++) {
    assert_false(unsampled_has_failed(&looks, &dark));
    assert_false(unsampled_is_blind(&looks, &dark));
  }
  assert_true(unsampled_has_failed(&looks, &dark));
  assert_true(unsampled_is_blind(&looks, &dark));
  assert_true(unsampled_has_failed(&looks, &dark)); /* and stays so */
}

static void a_target_that_sleeps_has_not_failed(void **state) {
  (void)state;
  struct unsampled_looks looks = {0};
  const struct unsampled_sum asleep = {.threads = 0};
  for (unsigned i = 0; i < 2 * UNSAMPLED_PATIENCE; i++) {
    assert_false(unsampled_has_failed(&looks, &asleep));
    assert_false(unsampled_is_blind(&looks, &asleep));
  }
}

static void a_target_whose_threads_are_all_lost_is_blind_at_the_second_look(void **state) {
  (void)state;
  struct unsampled_looks looks = {0};
  const struct unsampled_sum lost = {
      .all_ns = 9, .dark_ns = 9, .lost_ns = 9, .threads = 2, .unsampled = 2, .lost = 2};
  assert_false(unsampled_is_blind(&looks, &lost));
  assert_true(unsampled_is_blind(&looks, &lost));
}

static void every_reason_has_a_name_and_a_meaning(void **state) {
  (void)state;
  for (unsigned i = 0; i < UNSAMPLED_REASONS; i++) {
    assert_non_null(unsampled_name((enum unsampled_reason)i));
    assert_non_null(unsampled_meaning((enum unsampled_reason)i));
  }
  assert_string_equal(unsampled_name(UNSAMPLED_RAW), "raw");
  assert_string_equal(unsampled_name(UNSAMPLED_HANDLER_LOST), "handler_lost");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_thread_whose_signals_come_is_sampled_whatever_else_is_true),
      cmocka_unit_test(a_little_cpu_time_proves_nothing),
      cmocka_unit_test(a_process_without_a_handler_has_lost_it_or_is_another_program),
      cmocka_unit_test(an_agent_that_never_took_its_ring_is_no_program_that_uses_the_signal),
      cmocka_unit_test(
          a_process_that_left_because_a_stack_is_cramped_is_no_program_that_uses_the_signal),
      cmocka_unit_test(a_clock_of_the_whole_process_leaves_no_thread_raw),
      cmocka_unit_test(a_blocked_signal_is_the_reason_before_a_missing_timer),
      cmocka_unit_test(no_timer_is_a_raw_thread_or_a_sandbox),
      cmocka_unit_test(where_the_kernel_does_not_say_much_is_needed),
      cmocka_unit_test(a_handler_that_gets_nothing_from_a_running_timer_is_not_ours),
      cmocka_unit_test(a_program_that_ticks_may_pass_by_is_left_in_peace),
      cmocka_unit_test(a_thread_that_had_a_timer_has_lost_it),
      cmocka_unit_test(a_quarter_that_is_lost_for_good_is_a_failure_at_the_second_look),
      cmocka_unit_test(what_is_blocked_fails_only_when_it_stays_so),
      cmocka_unit_test(a_target_that_sleeps_has_not_failed),
      cmocka_unit_test(a_target_whose_threads_are_all_lost_is_blind_at_the_second_look),
      cmocka_unit_test(every_reason_has_a_name_and_a_meaning),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
