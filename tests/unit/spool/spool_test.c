/* SPDX-License-Identifier: Apache-2.0 */
/* A spool's guarantees on a sound disk: order, acks, restarts, limits. */
#include "spool/spool.h"

#include "spool_fixture.h"

static void an_appended_batch_comes_out_whole_and_in_order(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 5);
  struct spool_figures now = figures(bench);
  assert_int_equal(now.entries, 5);
  assert_int_equal(now.records, 5 * RECORDS);
  assert_int_equal(spool_records_of(bench->spool, RUN), 5 * RECORDS);
  assert_int_equal(spool_records_of(bench->spool, RUN + 1), 0);
  assert_int_equal(now.bytes, 5 * ENTRY);
  assert_int_equal(now.first_run, RUN);
  assert_int_equal(now.first_seq, 1);
  for (uint64_t seq = 1; seq <= 5; seq++) assert_int_equal(take(bench), seq);
  assert_int_equal(take(bench), 0);
  append_many(bench, 6, 6);
  assert_int_equal(take(bench), 6);
}

static void what_was_not_acked_survives_a_restart(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 4);
  take(bench);
  reopen(bench);
  for (uint64_t seq = 1; seq <= 4; seq++) assert_int_equal(take(bench), seq);
  assert_int_equal(figures(bench).entries, 4);
}

static void an_emptied_spool_is_empty_after_a_restart(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 4);
  assert_int_equal(take_and_ack_all(bench), 4);
  assert_int_equal(spool_records_of(bench->spool, RUN), 0);
  assert_int_equal(figures(bench).entries, 0);
  assert_int_equal(figures(bench).first_seq, 0);
  reopen(bench);
  assert_int_equal(take(bench), 0);
  append_many(bench, 5, 5);
  reopen(bench);
  assert_int_equal(take(bench), 5);
}

static void a_rewind_hands_out_again_what_is_not_acked(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 6);
  for (int i = 0; i < 4; i++) take(bench);
  spool_ack(bench->spool, RUN, 2);
  spool_ack(bench->spool, RUN, 4);
  spool_rewind(bench->spool);
  uint64_t expected[] = {1, 3, 5, 6, 0};
  for (int i = 0; i < 5; i++) assert_int_equal(take(bench), expected[i]);
}

static void acks_may_come_in_any_order_twice_or_for_strangers(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 3);
  for (int i = 0; i < 3; i++) take(bench);
  spool_ack(bench->spool, RUN, 3);
  spool_ack(bench->spool, RUN, 3);
  spool_ack(bench->spool, RUN + 1, 1);
  spool_ack(bench->spool, RUN, 77);
  assert_int_equal(figures(bench).entries, 2);
  spool_ack(bench->spool, RUN, 1);
  spool_ack(bench->spool, RUN, 2);
  assert_int_equal(figures(bench).entries, 0);
}

static void the_last_seq_is_known_after_ack_and_restart(void **state) {
  struct bench *bench = *state;
  assert_int_equal(spool_last_seq(bench->spool, RUN), 0);
  append_many(bench, 1, 9);
  assert_int_equal(spool_last_seq(bench->spool, RUN), 9);
  take_and_ack_all(bench);
  reopen(bench);
  assert_int_equal(spool_last_seq(bench->spool, RUN), 9);
  assert_int_equal(spool_last_seq(bench->spool, RUN + 1), 0);
}

static void runs_are_kept_apart(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 2);
  assert_int_equal(append(bench, RUN + 1, 1), 0);
  reopen(bench);
  assert_int_equal(spool_last_seq(bench->spool, RUN), 2);
  assert_int_equal(spool_last_seq(bench->spool, RUN + 1), 1);
  struct spool_item item;
  assert_int_equal(spool_next(bench->spool, &item), 0);
  assert_int_equal(spool_next(bench->spool, &item), 0);
  assert_int_equal(spool_next(bench->spool, &item), 0);
  assert_int_equal(item.run, RUN + 1);
}

static void acked_segments_are_deleted(void **state) {
  struct bench *bench = *state;
  spool_close(bench->spool);
  struct spool_limits small = {64 << 20, 4 * ENTRY, 5000000000ULL, 0};
  open_with(bench, &small);
  append_many(bench, 1, 40);
  assert_int_equal(count_files(bench, "", ".seg"), 10);
  assert_int_equal(take_and_ack_all(bench), 40);
  assert_int_equal(count_files(bench, "", ".seg"), 1);
}

static void an_emptied_segment_goes_when_a_newer_one_begins(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 3);
  take_and_ack_all(bench);
  assert_int_equal(count_files(bench, "", ".seg"), 1); /* it has the last seq */
  assert_int_equal(append(bench, RUN + 1, 1), 0);
  assert_int_equal(count_files(bench, "", ".seg"), 1);
  assert_int_equal(spool_last_seq(bench->spool, RUN), 0);
}

static void over_the_limit_the_oldest_go_and_are_counted(void **state) {
  struct bench *bench = *state;
  spool_close(bench->spool);
  struct spool_limits tight = {32 * ENTRY, 1 << 20, 5000000000ULL, 0};
  open_with(bench, &tight);
  append_many(bench, 1, 100);
  struct spool_figures now = figures(bench);
  assert_true(now.bytes <= 32 * ENTRY);
  assert_true(now.entries >= 24);
  assert_int_equal(now.records + bench->lost[LOSS_SPOOL_FULL], 100 * RECORDS);
  assert_int_equal(bench->lost_run, RUN);
  uint64_t first = now.first_seq;
  assert_int_equal(first, 101 - now.entries);
  for (uint64_t seq = first; seq <= 100; seq++) assert_int_equal(take(bench), seq);
}

static void what_was_handed_out_is_not_dropped(void **state) {
  struct bench *bench = *state;
  spool_close(bench->spool);
  struct spool_limits tight = {32 * ENTRY, 1 << 20, 5000000000ULL, 0};
  open_with(bench, &tight);
  append_many(bench, 1, 2);
  assert_int_equal(take(bench), 1);
  assert_int_equal(take(bench), 2);
  append_many(bench, 3, 200);
  spool_rewind(bench->spool);
  for (uint64_t seq = 1; seq <= 4; seq++) assert_int_equal(take(bench), seq); /* one segment */
  assert_true(take(bench) > 100);
  uint64_t waiting = figures(bench).records;
  assert_int_equal(waiting + bench->lost[LOSS_SPOOL_FULL], 200 * RECORDS);
}

static void a_batch_over_the_whole_limit_is_refused(void **state) {
  struct bench *bench = *state;
  spool_close(bench->spool);
  struct spool_limits tiny = {ENTRY - 1, ENTRY, 5000000000ULL, 0};
  open_with(bench, &tiny);
  assert_int_equal(append(bench, RUN, 1), -ENOSPC);
  assert_int_equal(figures(bench).last_error, -ENOSPC);
  static uint8_t big[LIMIT_BATCH_ZSTD_BYTES + 1];
  struct spool_item item = {RUN, 1, 1, 1, {big, sizeof big}};
  assert_int_equal(spool_append(bench->spool, &item), -EOVERFLOW);
}

static void the_window_of_unacked_batches_is_bounded(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 200);
  uint64_t count = 0;
  take(bench); /* the first is never acked */
  for (uint64_t seq; (seq = take(bench)) != 0; count++) spool_ack(bench->spool, RUN, seq);
  assert_int_equal(count, 4 * LIMIT_IN_FLIGHT - 1);
  spool_ack(bench->spool, RUN, 1);
  assert_int_equal(take(bench), 4 * LIMIT_IN_FLIGHT + 1);
}

static void a_rejected_batch_goes_to_quarantine_and_is_counted_once(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 3);
  for (int i = 0; i < 3; i++) take(bench);
  const struct spool_refusal refusal = {RUN, 2, LOSS_REJECTED, "limit of modules"};
  spool_reject(bench->spool, &refusal);
  spool_reject(bench->spool, &refusal);
  assert_int_equal(bench->lost[LOSS_REJECTED], RECORDS);
  assert_int_equal(figures(bench).quarantined, 1);
  assert_int_equal(count_files(bench, "quarantine", ".batch"), 1);
  reopen(bench);
  assert_int_equal(take(bench), 1);
  assert_int_equal(take(bench), 3);
  assert_int_equal(bench->lost[LOSS_REJECTED], RECORDS);
}

static void the_quarantine_is_bounded(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 40);
  for (uint64_t seq = 1; seq <= 40; seq++) {
    assert_int_equal(take(bench), seq);
    spool_reject(bench->spool, &(struct spool_refusal){RUN, seq, LOSS_QUOTA, "no"});
  }
  assert_int_equal(bench->lost[LOSS_QUOTA], 40 * RECORDS);
  assert_int_equal(count_files(bench, "quarantine", ".batch"), SPOOL_QUARANTINE_FILES);
}

static void a_second_daemon_on_one_spool_is_refused(void **state) {
  struct bench *bench = *state;
  struct spool *second;
  assert_int_equal(spool_open(bench->dir, &roomy, on_loss, bench, &second), -EBUSY);
}

int main(void) {
  log_set_level(LOG_LEVEL_ERROR);
  const struct CMUnitTest tests[] = {
      CASE(an_appended_batch_comes_out_whole_and_in_order),
      CASE(what_was_not_acked_survives_a_restart),
      CASE(an_emptied_spool_is_empty_after_a_restart),
      CASE(a_rewind_hands_out_again_what_is_not_acked),
      CASE(acks_may_come_in_any_order_twice_or_for_strangers),
      CASE(the_last_seq_is_known_after_ack_and_restart),
      CASE(runs_are_kept_apart),
      CASE(acked_segments_are_deleted),
      CASE(an_emptied_segment_goes_when_a_newer_one_begins),
      CASE(over_the_limit_the_oldest_go_and_are_counted),
      CASE(what_was_handed_out_is_not_dropped),
      CASE(a_batch_over_the_whole_limit_is_refused),
      CASE(the_window_of_unacked_batches_is_bounded),
      CASE(a_rejected_batch_goes_to_quarantine_and_is_counted_once),
      CASE(the_quarantine_is_bounded),
      CASE(a_second_daemon_on_one_spool_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
