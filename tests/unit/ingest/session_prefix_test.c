/* SPDX-License-Identifier: Apache-2.0 */
/* A batch may refer only to the last batch acked on this connection. */
#include "session_fixture.h"

static void open_session_of(uint32_t capabilities) {
  struct message message = hello();
  message.hello.capabilities = capabilities;
  session_start(&session, "edge-1");
  assert_true(send_message(&message) > 0);
  finish();
  assert_int_equal(answer().welcome.prefix_bytes_max, LIMIT_PREFIX_BYTES);
}

/* Sends SEQ, which refers to AFTER; a worker takes it, and has its bytes. */
static void store_batch(uint64_t seq, uint64_t after) {
  struct message message = batch(seq);
  message.batch.after = after;
  assert_true(send_message(&message) > 0);
  assert_non_null(job);
  assert_true(after == 0 || job->prefix.seq == after);
  if (job->is_kept) prefix_keep(&job->prefix, 7, seq, span_of_string("its bytes"));
  finish();
  assert_int_equal(answer().type, FRAME_ACK);
}

static void a_batch_may_refer_to_the_last_that_was_acked(void **state) {
  (void)state;
  struct message message = batch(4);
  open_session_of(CAPABILITY_PREFIX);
  store_batch(1, 0);
  store_batch(2, 1);
  store_batch(3, 0);
  assert_int_equal(session.prefix.seq, 3);
  message.batch.after = 2;
  assert_true(send_message(&message) > 0);
  assert_null(job);
  message = answer();
  assert_int_equal(message.type, FRAME_REJECT);
  assert_int_equal(message.reject.seq, 4);
  assert_false(message.reject.permanent);
  store_batch(4, 0); /* alone, as requested */
  store_batch(5, 4);
}

static void who_refers_to_what_is_not_there_twice_in_a_row_is_sent_away(void **state) {
  (void)state;
  struct message message = batch(1);
  open_session_of(CAPABILITY_PREFIX);
  message.batch.after = 7;
  assert_true(send_message(&message) > 0);
  assert_int_equal(answer().type, FRAME_REJECT);
  assert_int_equal(send_message(&message), -1);
  assert_refused(REFUSAL_WRONG_ORDER);
}

static void while_it_is_away_nothing_can_refer_to_it(void **state) {
  (void)state;
  struct message message = batch(2);
  open_session_of(CAPABILITY_PREFIX);
  store_batch(1, 0);
  message.batch.after = 1;
  assert_true(send_message(&message) > 0);
  struct job *first = job;
  assert_int_equal(session.prefix.seq, 0);
  assert_true(send_message(&message) > 0);
  assert_null(job);
  assert_int_equal(answer().type, FRAME_REJECT);
  job = first;
}

static void a_batch_that_was_not_stored_is_nothing_to_refer_to(void **state) {
  (void)state;
  struct message message = batch(2);
  open_session_of(CAPABILITY_PREFIX);
  store_batch(1, 0);
  message.batch.after = 1;
  send_message(&message);
  prefix_keep(&job->prefix, 7, 2, span_of_string("its bytes"));
  job_fail(job, REFUSAL_STORE, "full");
  finish();
  assert_int_equal(answer().type, FRAME_REJECT);
  assert_int_equal(session.prefix.seq, 0);
}

static void of_a_board_that_cannot_refer_nothing_is_kept(void **state) {
  (void)state;
  open_session_of(0);
  store_batch(1, 0);
  assert_int_equal(session.prefix.seq, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TALK(test) cmocka_unit_test_setup_teardown(test, begin, end)
      TALK(a_batch_may_refer_to_the_last_that_was_acked),
      TALK(who_refers_to_what_is_not_there_twice_in_a_row_is_sent_away),
      TALK(while_it_is_away_nothing_can_refer_to_it),
      TALK(a_batch_that_was_not_stored_is_nothing_to_refer_to),
      TALK(of_a_board_that_cannot_refer_nothing_is_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
