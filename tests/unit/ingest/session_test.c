/* SPDX-License-Identifier: Apache-2.0 */
/* The session without a socket: the messages that each state accepts, and its answers to all
 * others. */
#include "session_fixture.h"

#include "ingest/trusted_time.h"
#include "quota/quota.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void a_board_is_welcomed_in_its_version_with_its_last_seq(void **state) {
  (void)state;
  struct message message = hello();
  message.hello.version = 1; /* an older one */
  session_start(&session, "edge-1");
  assert_true(send_message(&message) > 0);
  assert_non_null(job);
  assert_int_equal(job->kind, JOB_HELLO);
  assert_string_equal(job->board, "edge-1");
  assert_string_equal(job->message.hello.arch, "x86_64");
  assert_false(session_wants_input(&session));
  job->last_seq = 41;
  finish();
  message = answer();
  assert_int_equal(message.type, FRAME_WELCOME);
  assert_int_equal(message.welcome.last_seq, 41);
  assert_int_equal(message.welcome.version, 1);
  assert_int_equal(message.welcome.walltime_ns, NOW_NS);
  assert_string_equal(message.welcome.page_url, "http://page/");
  assert_true(session_wants_input(&session));
}

static void a_batch_knows_of_the_boots_that_hello_told_of(void **state) {
  (void)state;
  static const struct boot_time boots[] = {{.boot_id = "older", .alive_ns = 5},
                                           {.boot_id = "old", .offset_ns = NOW_NS / 2}};
  struct message message = hello(), one = batch(1);
  message.hello.boots = boots;
  message.hello.boot_count = 2;
  session_start(&session, "edge-1");
  assert_true(send_message(&message) > 0);
  finish();
  assert_true(send_message(&one) > 0);
  assert_int_equal(job->placement.earlier_count, 2);
  assert_ptr_not_equal(job->placement.earlier, session.earlier); /* which may be freed before the
                                                                    job */
  assert_string_equal((const char *)job->placement.earlier[1].id, "old");
  assert_int_equal(job->placement.earlier[1].offset_ns, NOW_NS / 2);
  assert_int_equal(job->placement.earlier[0].offset_ns, NOW_NS / 2 - 5);
  finish();
}

static void a_revoked_board_is_told_so_for_good(void **state) {
  (void)state;
  struct message message = hello();
  session_start(&session, "edge-1");
  send_message(&message);
  job_refuse(job, REFUSAL_REVOKED, "the certificate of this board is revoked");
  finish();
  assert_refused(REFUSAL_REVOKED);
  message = answer();
  assert_int_equal(message.type, FRAME_REJECT);
  assert_true(message.reject.permanent);
  assert_string_equal(message.reject.reason, "the certificate of this board is revoked");
}

static void another_protocol_version_is_named_in_the_refusal(void **state) {
  (void)state;
  struct message message = hello();
  message.hello.version = 9;
  session_start(&session, "edge-1");
  assert_int_equal(send_message(&message), -1);
  assert_refused(REFUSAL_WRONG_VERSION);
  message = answer();
  assert_non_null(strstr(message.reject.reason, "version 9"));
}

static void a_frame_before_its_time_is_refused_by_its_header_alone(void **state) {
  (void)state;
  session_start(&session, "edge-1");
  put(&(struct message){.type = FRAME_PING});
  assert_int_equal(feed(span_of(wire.data, FRAME_HEADER_BYTES)), -1);
  assert_refused(REFUSAL_WRONG_ORDER);
}

static void a_stranger_may_only_enroll(void **state) {
  static const enum frame_type types[] = {FRAME_HELLO, FRAME_BATCH, FRAME_PING, FRAME_DEBUG_CHUNK,
                                          FRAME_WELCOME};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    uint8_t header[FRAME_HEADER_BYTES];
    begin(state);
    session_start(&session, NULL);
    frame_header_encode(types[i], 100, header);
    assert_int_equal(feed(span_of(header, sizeof header)), -1);
    assert_refused(REFUSAL_WRONG_ORDER);
    end(state);
  }
  begin(state);
}

static void a_frame_over_its_limit_is_refused_before_it_comes(void **state) {
  uint8_t header[FRAME_HEADER_BYTES];
  session_start(&session, NULL);
  frame_header_encode(FRAME_ENROLL, LIMIT_CONTROL_BYTES + 1, header);
  assert_int_equal(feed(span_of(header, sizeof header)), -1);
  assert_refused(REFUSAL_FRAME_TOO_LONG);
  end(state);
  begin(state);
  open_session();
  frame_header_encode(FRAME_BATCH, LIMIT_FRAME_BYTES + 1, header);
  assert_int_equal(feed(span_of(header, sizeof header)), -1);
  assert_refused(REFUSAL_FRAME_TOO_LONG);
}

static void an_unknown_frame_type_is_refused(void **state) {
  (void)state;
  static const uint8_t header[FRAME_HEADER_BYTES] = {0, 0, 0, 0, 99};
  open_session();
  assert_int_equal(feed(span_of(header, sizeof header)), -1);
  assert_refused(REFUSAL_BAD_FRAME);
}

static void a_payload_that_does_not_decode_is_refused(void **state) {
  (void)state;
  uint8_t bytes[FRAME_HEADER_BYTES + 8];
  open_session();
  memset(bytes, 0xff, sizeof bytes);
  frame_header_encode(FRAME_PING, 8, bytes);
  assert_int_equal(feed(span_of(bytes, sizeof bytes)), -1);
  assert_refused(REFUSAL_BAD_MESSAGE);
  assert_true(answer().reject.reason[0] != 0);
}

static void a_stranger_gets_its_certificate_and_the_door_closes(void **state) {
  (void)state;
  struct message message = {
      .type = FRAME_ENROLL,
      .enroll = {.version = LIMIT_PROTOCOL_VERSION, .token = "t", .csr = span_of_string("csr")}};
  session_start(&session, NULL);
  assert_true(send_message(&message) > 0);
  assert_false(session_wants_input(&session));
  job->enrolled = (struct enrolled){
      .board = "b", .certificate = span_of_string("cert"), .ca = span_of_string("ca")};
  finish();
  message = answer();
  assert_int_equal(message.type, FRAME_ENROLLED);
  assert_string_equal(message.enrolled.board, "b");
  assert_string_equal(message.enrolled.error, "");
  assert_int_equal(session.state, SESSION_CLOSING);
  assert_false(session.was_refused);
}

static void a_refused_enrolment_says_why(void **state) {
  (void)state;
  struct message message = {
      .type = FRAME_ENROLL,
      .enroll = {.version = LIMIT_PROTOCOL_VERSION, .token = "t", .csr = span_of_string("csr")}};
  session_start(&session, NULL);
  send_message(&message);
  job_refuse(job, REFUSAL_TOKEN, "token was used");
  finish();
  assert_refused(REFUSAL_TOKEN);
  message = answer();
  assert_int_equal(message.type, FRAME_ENROLLED);
  assert_string_equal(message.enrolled.error, "token was used");
}

static void a_stored_batch_is_acked_after_what_is_wanted_of_it(void **state) {
  (void)state;
  struct message message = batch(42);
  struct debug_wanted wanted[] = {{.id = span_of_string("id-1"), .path = "/bin/a", .offset = 5},
                                  {.id = span_of_string("id-1"), .path = "/bin/a"}};
  open_session();
  assert_true(send_message(&message) > 0);
  assert_int_equal(job->message.batch.seq, 42);
  job->wanted = wanted;
  job->wanted_count = 2;
  finish();
  message = answer();
  assert_int_equal(message.type, FRAME_DEBUG_WANTED);
  assert_string_equal(message.debug_wanted.path, "/bin/a");
  assert_int_equal(message.debug_wanted.offset, 5);
  message = answer();
  assert_int_equal(message.type, FRAME_ACK);
  assert_int_equal(message.ack.run, 7);
  assert_int_equal(message.ack.seq, 42);
  assert_int_equal(session.out.len, 0);
}

static void a_hello_and_a_ping_are_answered_before_files_are_asked_for(void **state) {
  (void)state;
  struct debug_wanted wanted[] = {{.id = span_of_string("id-1"), .path = "/bin/a"},
                                  {.id = span_of_string("id-2"), .path = "/bin/b"}};
  struct message message = hello();
  session_start(&session, "edge-1");
  assert_true(send_message(&message) > 0);
  job->wanted = wanted;
  job->wanted_count = 1;
  finish();
  assert_int_equal(answer().type, FRAME_WELCOME);
  message = answer();
  assert_int_equal(message.type, FRAME_DEBUG_WANTED);
  assert_string_equal(message.debug_wanted.path, "/bin/a");
  message = (struct message){.type = FRAME_PING};
  assert_true(send_message(&message) > 0);
  assert_int_equal(answer().type, FRAME_PONG);
  job->wanted = wanted;
  job->wanted_count = 2;
  finish();
  message = answer();
  assert_string_equal(message.debug_wanted.path, "/bin/b");
  assert_int_equal(session.out.len, 0);
}

static void a_refused_batch_is_rejected_alone(void **state) {
  (void)state;
  struct message message = batch(42);
  open_session();
  send_message(&message);
  job_refuse(job, REFUSAL_BAD_BATCH, "no such thing");
  finish();
  message = answer();
  assert_int_equal(message.type, FRAME_REJECT);
  assert_int_equal(message.reject.seq, 42);
  assert_true(message.reject.permanent);
  assert_string_equal(message.reject.reason, "no such thing");
  assert_int_equal(session.state, SESSION_OPEN);
  assert_int_equal(figures.refused[REFUSAL_BAD_BATCH], 1);
}

static void a_batch_that_the_store_could_not_keep_is_to_come_again(void **state) {
  (void)state;
  struct message message = batch(42);
  open_session();
  send_message(&message);
  job_fail(job, REFUSAL_STORE, "disk full");
  finish();
  message = answer();
  assert_int_equal(message.type, FRAME_REJECT);
  assert_false(message.reject.permanent);
  assert_true(message.reject.retry_after_ms > 0);
}

static void a_batch_over_its_board_s_quota_is_refused_by_that_name(void **state) {
  (void)state;
  struct message message = batch(42);
  open_session();
  send_message(&message);
  job_refuse(job, REFUSAL_QUOTA, "this board's quota of nodes a day is used up");
  finish();
  message = answer();
  assert_true(message.reject.permanent);
  assert_true(message.reject.over_quota);
  assert_int_equal(figures.refused[REFUSAL_QUOTA], 1);
}

static void while_we_are_behind_a_batch_is_to_come_later_and_makes_no_work(void **state) {
  (void)state;
  struct shedding shedding = {.shed = SHED_BACKLOG, .retry_after_ms = 7000};
  struct message message = batch(42);
  session.shedding = &shedding;
  open_session(); /* hellos are still accepted */
  assert_true(send_message(&message) > 0);
  assert_null(job);
  message = answer();
  assert_int_equal(message.type, FRAME_REJECT);
  assert_int_equal(message.reject.run, 7);
  assert_int_equal(message.reject.seq, 42);
  assert_false(message.reject.permanent);
  assert_int_equal(message.reject.retry_after_ms, 7000);
  assert_non_null(strstr(message.reject.reason, "backlog"));
  assert_int_equal(figures.shed[SHED_BACKLOG], 1);
  shedding.shed = SHED_NOTHING;
  message = batch(42);
  send_message(&message);
  assert_non_null(job);
  finish();
  assert_int_equal(answer().type, FRAME_ACK);
}

/* Boards agreed before this machine was started, and since then none with this one. */
static void while_the_time_is_not_known_a_batch_is_to_come_later(void **state) {
  (void)state;
  static const struct trusted_kept kept = {.boot_id = "another", .agreed_ns = NOW_NS};
  uint8_t boot_id[TRUST_BOOT_ID_BYTES] = "this";
  struct trusted_time *time = trusted_time_new();
  trusted_time_resume(time, &kept, boot_id, clock_boottime_ns());
  struct message message = hello();
  uint64_t other_ns = NOW_NS - 40 * 86400 * NS_PER_SECOND;
  message.hello.walltime_ns = other_ns;
  session.time = time;
  session_start(&session, "edge-1");
  send_message(&message);
  finish();
  buf_clear(&session.out);
  message = batch(42);
  assert_true(send_message(&message) > 0);
  assert_null(job);
  message = answer();
  assert_int_equal(message.type, FRAME_REJECT);
  assert_false(message.reject.permanent);
  assert_int_equal(message.reject.retry_after_ms, 5000);
  assert_non_null(strstr(message.reject.reason, "time"));
  trusted_time_hear(time, "edge-2", NOW_NS, clock_boottime_ns());
  message = batch(42);
  send_message(&message);
  assert_null(job);
  trusted_time_hear(time, "edge-3", other_ns, clock_boottime_ns());
  message = batch(42);
  send_message(&message);
  assert_non_null(job);
  trusted_time_free(time);
}

/* Only if the collector's clock cannot be right. */
static void of_a_clock_of_1970_a_board_goes_by_its_own(void **state) {
  (void)state;
  struct message message = hello();
  session_start(&session, "edge-1");
  put(&message);
  assert_true(session_receive(&session, buf_span(&wire), 3600 * NS_PER_SECOND, &job) > 0);
  assert_int_equal(session.placement.offset_ns, NOW_NS - NS_PER_SECOND);
  assert_int_equal(job->placement.offset_ns, NOW_NS - NS_PER_SECOND);
  assert_true(job->received_ns >= NOW_NS);
}

static void
a_board_with_a_certificate_of_the_future_is_told_once_to_plan_its_renewal(void **state) {
  (void)state;
  const uint64_t trust = 5;
  const struct message ping = {.type = FRAME_PING, .ping = {.boottime_ns = NS_PER_SECOND}};
  session.trust = &trust;
  session.certificate.signed_s = (int64_t)(NOW_NS / NS_PER_SECOND);
  open_session();
  for (int i = 0; i < 4; i++) {
    if (i == 1) session.certificate.signed_s++; /* as if our clock were set back */
    send_message(&ping);
    assert_int_equal(answer().pong.trust, i == 1 ? trust : 0);
    job_free(job);
    job = NULL;
  }
}

static void without_memory_no_board_is_let_in(void **state) {
  (void)state;
  struct shedding shedding = {.shed = SHED_MEMORY};
  struct message message = hello();
  session.shedding = &shedding;
  session_start(&session, "edge-1");
  assert_int_equal(send_message(&message), -1);
  assert_refused(REFUSAL_OVERLOADED);
  message = answer();
  assert_false(message.reject.permanent);
  assert_true(message.reject.retry_after_ms > 0);
}

static void bytes_over_the_quota_are_to_come_later_and_make_no_work(void **state) {
  (void)state;
  struct message message = batch(42);
  session.quotas = quotas_new(&(struct quota_limits){.a_day = {[QUOTA_BYTES] = 4}});
  open_session();
  send_message(&message);
  assert_non_null(job);
  finish();
  assert_int_equal(answer().type, FRAME_ACK);
  send_message(&message);
  assert_null(job);
  message = answer();
  assert_false(message.reject.permanent);
  assert_non_null(strstr(message.reject.reason, "quota of bytes"));
  assert_true(message.reject.retry_after_ms >= 5000);
  quotas_free(session.quotas);
}

static void who_goes_on_sending_although_told_to_wait_is_sent_away(void **state) {
  (void)state;
  struct shedding shedding = {.shed = SHED_QUEUE, .retry_after_ms = 5000};
  struct message message = batch(42);
  session.shedding = &shedding;
  open_session();
  for (unsigned i = 0; i < 4 * LIMIT_IN_FLIGHT; i++) assert_true(send_message(&message) > 0);
  assert_int_equal(send_message(&message), -1);
  assert_refused(REFUSAL_IMPATIENT);
}

static void a_session_reads_no_more_than_its_jobs_in_flight(void **state) {
  (void)state;
  struct job *jobs[LIMIT_IN_FLIGHT];
  open_session();
  for (uint64_t i = 0; i < LIMIT_IN_FLIGHT; i++) {
    struct message message = batch(i + 1);
    assert_true(send_message(&message) > 0);
    jobs[i] = job;
  }
  assert_false(session_wants_input(&session));
  for (unsigned i = 0; i < LIMIT_IN_FLIGHT; i++) {
    job = jobs[i];
    finish();
    assert_true(session_wants_input(&session));
    assert_int_equal(answer().ack.seq, i + 1);
  }
}

static void a_ping_is_answered_at_once(void **state) {
  (void)state;
  struct message message = {.type = FRAME_PING,
                            .ping = {.boottime_ns = 2 * NS_PER_SECOND, .walltime_ns = NOW_NS}};
  open_session();
  assert_true(send_message(&message) > 0);
  assert_int_equal(job->kind, JOB_PING);
  message = answer();
  assert_int_equal(message.type, FRAME_PONG);
  assert_int_equal(message.pong.walltime_ns, NOW_NS);
}

static void a_board_hears_within_what_time_to_come_back_and_of_changes_alone(void **state) {
  (void)state;
  struct message ping = {.type = FRAME_PING};
  struct message message = hello();
  uint32_t within_ms = 2000;
  session.return_within_ms = &within_ms;
  session_start(&session, "edge-1");
  send_message(&message);
  finish();
  assert_int_equal(answer().welcome.return_within_ms, 2000);
  within_ms = 2100;
  send_message(&ping);
  assert_int_equal(answer().pong.return_within_ms, 0);
  finish();
  within_ms = 25000;
  send_message(&ping);
  assert_int_equal(answer().pong.return_within_ms, 25000);
  finish();
  send_message(&ping);
  assert_int_equal(answer().pong.return_within_ms, 0);
}

static struct message piece(const char *id) {
  static const uint8_t sha256[32];
  return (struct message){.type = FRAME_DEBUG_CHUNK,
                          .debug_chunk = {.id = span_of_string(id),
                                          .total = 4,
                                          .sha256 = span_of(sha256, sizeof sha256),
                                          .raw_len = 4,
                                          .zstd = span_of_string("zstd")}};
}

static void ask_for(const char *id) {
  struct message message = batch(1);
  struct debug_wanted wanted = {.id = span_of_string(id), .path = "/bin/a"};
  send_message(&message);
  job->wanted = &wanted;
  job->wanted_count = 1;
  finish();
  buf_clear(&session.out);
}

static void a_piece_that_nobody_asked_for_is_dropped_and_counted(void **state) {
  (void)state;
  struct message message = piece("id-9");
  open_session();
  assert_true(send_message(&message) > 0);
  assert_null(job);
  assert_int_equal(figures.refused[REFUSAL_DEBUG_UNASKED], 1);
  assert_int_equal(session.state, SESSION_OPEN);
  assert_int_equal(session.out.len, 0);
}

static void a_whole_file_ends_the_wish_and_the_board_is_told(void **state) {
  (void)state;
  struct message message = piece("id-1");
  open_session();
  ask_for("id-1");
  assert_true(send_message(&message) > 0);
  assert_int_equal(job->kind, JOB_DEBUG_CHUNK);
  finish();
  assert_int_equal(session.out.len, 0); /* more is expected */
  send_message(&message);
  job->is_whole = true;
  finish();
  message = answer();
  assert_int_equal(message.type, FRAME_DEBUG_END);
  assert_string_equal(message.debug_end.reason, "");
  message = piece("id-1");
  send_message(&message);
  assert_null(job);
}

static void a_bad_piece_ends_the_wish_with_the_reason(void **state) {
  (void)state;
  struct message message = piece("id-1");
  open_session();
  ask_for("id-1");
  send_message(&message);
  job_refuse(job, REFUSAL_DEBUG_PIECE, "wrong hash");
  finish();
  message = answer();
  assert_int_equal(message.type, FRAME_DEBUG_END);
  assert_string_equal(message.debug_end.reason, "wrong hash");
  assert_int_equal(session.state, SESSION_OPEN);
}

static void a_board_that_cannot_send_a_file_ends_the_wish(void **state) {
  (void)state;
  struct message message = {.type = FRAME_DEBUG_END,
                            .debug_end = {.id = span_of_string("id-1"), .reason = "no such file"}};
  open_session();
  ask_for("id-1");
  assert_true(send_message(&message) > 0);
  assert_int_equal(job->kind, JOB_DEBUG_END);
  assert_true(wanted_has(&session.wanted, span_of_string("id-1"))); /* not requested meanwhile */
  finish();
  send_message(&message);
  assert_null(job);
}

static void no_more_files_are_asked_for_than_the_limit(void **state) {
  (void)state;
  struct message message = batch(1);
  static struct debug_wanted wanted[LIMIT_DEBUG_WANTED];
  static char ids[2 * LIMIT_DEBUG_WANTED][8];
  open_session();
  for (unsigned round = 0; round < 2; round++) {
    for (unsigned i = 0; i < LIMIT_DEBUG_WANTED; i++) {
      char *id = ids[round * LIMIT_DEBUG_WANTED + i];
      snprintf(id, sizeof ids[0], "id-%u-%u", round, i);
      wanted[i] = (struct debug_wanted){.id = span_of_string(id), .path = "/bin/a"};
    }
    send_message(&message);
    job->wanted = wanted;
    job->wanted_count = LIMIT_DEBUG_WANTED;
    finish();
  }
  assert_int_equal(figures.debug_asked_total, LIMIT_DEBUG_WANTED);
}

static void an_outcome_that_comes_after_the_end_says_nothing(void **state) {
  (void)state;
  struct message message = batch(1);
  open_session();
  send_message(&message);
  session_refuse(&session, REFUSAL_TIMEOUT, "late");
  assert_int_equal(answer().type, FRAME_REJECT);
  finish();
  assert_int_equal(session.out.len, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TALK(test) cmocka_unit_test_setup_teardown(test, begin, end)
      TALK(a_board_is_welcomed_in_its_version_with_its_last_seq),
      TALK(a_batch_knows_of_the_boots_that_hello_told_of),
      TALK(a_revoked_board_is_told_so_for_good),
      TALK(another_protocol_version_is_named_in_the_refusal),
      TALK(a_frame_before_its_time_is_refused_by_its_header_alone),
      TALK(a_stranger_may_only_enroll),
      TALK(a_frame_over_its_limit_is_refused_before_it_comes),
      TALK(an_unknown_frame_type_is_refused),
      TALK(a_payload_that_does_not_decode_is_refused),
      TALK(a_stranger_gets_its_certificate_and_the_door_closes),
      TALK(a_refused_enrolment_says_why),
      TALK(a_stored_batch_is_acked_after_what_is_wanted_of_it),
      TALK(a_hello_and_a_ping_are_answered_before_files_are_asked_for),
      TALK(a_refused_batch_is_rejected_alone),
      TALK(a_batch_that_the_store_could_not_keep_is_to_come_again),
      TALK(a_batch_over_its_board_s_quota_is_refused_by_that_name),
      TALK(while_we_are_behind_a_batch_is_to_come_later_and_makes_no_work),
      TALK(while_the_time_is_not_known_a_batch_is_to_come_later),
      TALK(of_a_clock_of_1970_a_board_goes_by_its_own),
      TALK(a_board_with_a_certificate_of_the_future_is_told_once_to_plan_its_renewal),
      TALK(without_memory_no_board_is_let_in),
      TALK(bytes_over_the_quota_are_to_come_later_and_make_no_work),
      TALK(who_goes_on_sending_although_told_to_wait_is_sent_away),
      TALK(a_session_reads_no_more_than_its_jobs_in_flight),
      TALK(a_ping_is_answered_at_once),
      TALK(a_board_hears_within_what_time_to_come_back_and_of_changes_alone),
      TALK(a_piece_that_nobody_asked_for_is_dropped_and_counted),
      TALK(a_whole_file_ends_the_wish_and_the_board_is_told),
      TALK(a_bad_piece_ends_the_wish_with_the_reason),
      TALK(a_board_that_cannot_send_a_file_ends_the_wish),
      TALK(no_more_files_are_asked_for_than_the_limit),
      TALK(an_outcome_that_comes_after_the_end_says_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
