/* SPDX-License-Identifier: Apache-2.0 */
/* The session's own clock, without waiting for it. */
#include "uplink_fixture.h"

#include "proto/compress.h"
#include "uplink/uplink_session.h"

#include <errno.h>

static void begin_session(struct bench *bench, struct uplink_parts *parts,
                          struct uplink_session *session) {
  struct buf out = {0};
  *parts = (struct uplink_parts){
      .spool = bench->spool, .fill_hello = bench_fill_hello, .fill_ping = bench_fill_ping};
  assert_int_equal(uplink_session_begin(session, parts, 1, &out), 0);
  buf_clear(&out);
  struct message message = {.type = FRAME_WELCOME};
  message.welcome.version = LIMIT_PROTOCOL_VERSION;
  struct frame frame;
  assert_int_equal(message_encode(&message, &out), 0);
  assert_true(frame_decode(buf_span(&out), &frame) > 0);
  assert_int_equal(uplink_session_take(session, &frame, 1, &out), 0);
  buf_fini(&out);
}

static void pings_go_out_and_silence_ends_the_session(void **state) {
  struct bench *bench = *state;
  struct uplink_parts parts;
  struct uplink_session session;
  struct buf out = {0};
  begin_session(bench, &parts, &session);
  session.told.produced = 1; /* there are news */
  uint64_t now_ns = 1 + 15 * NS_PER_SECOND;
  assert_int_equal(uplink_session_due_ns(&session, true), now_ns);
  assert_int_equal(uplink_session_tick(&session, now_ns, &out), 0);
  assert_int_equal(out.data[4], FRAME_PING);
  assert_int_equal(uplink_session_tick(&session, 1 + 44 * NS_PER_SECOND, &out), 0);
  assert_int_equal(uplink_session_tick(&session, 1 + 45 * NS_PER_SECOND, &out), -ETIMEDOUT);
  assert_non_null(strstr(session.why, "silent"));
  buf_fini(&out);
}

static void a_batch_that_is_never_answered_ends_the_session(void **state) {
  struct bench *bench = *state;
  struct uplink_parts parts;
  struct uplink_session session;
  struct buf out = {0};
  bench_append(bench, 1, 1, 100);
  begin_session(bench, &parts, &session);
  assert_int_equal(uplink_session_give(&session, 1, &out), 0);
  session.heard_ns = 120 * NS_PER_SECOND; /* pongs arrived */
  assert_int_equal(uplink_session_tick(&session, 1 + 120 * NS_PER_SECOND, &out), -ETIMEDOUT);
  assert_non_null(strstr(session.why, "acked"));
  buf_fini(&out);
}

/* A slow line: the timer must not fire repeatedly while only free buffer space would help. */
static void what_waits_for_room_is_not_due(void **state) {
  struct bench *bench = *state;
  struct uplink_parts parts;
  struct uplink_session session;
  begin_session(bench, &parts, &session);
  uint64_t tick_ns = uplink_session_due_ns(&session, false);
  session.wish_count = 1;
  session.is_drained = true;
  session.debug_due_ns = 5;
  session.renew_due_ns = 7;
  assert_int_equal(uplink_session_due_ns(&session, true), 5);
  assert_int_equal(uplink_session_due_ns(&session, false), tick_ns);
  assert_true(tick_ns > NS_PER_SECOND);
}

static int take(struct uplink_session *session, const struct message *message) {
  struct buf out = {0};
  struct frame frame;
  assert_int_equal(message_encode(message, &out), 0);
  assert_true(frame_decode(buf_span(&out), &frame) > 0);
  int rc = uplink_session_take(session, &frame, 2, &out);
  buf_fini(&out);
  return rc;
}

static void what_the_collector_says_of_coming_back_is_kept(void **state) {
  struct uplink_parts parts;
  struct uplink_session session;
  begin_session(*state, &parts, &session);
  assert_int_equal(session.return_within_ms, 0);
  assert_int_equal(
      take(&session, &(struct message){.type = FRAME_PONG, .pong = {.return_within_ms = 25000}}),
      0);
  assert_int_equal(take(&session, &(struct message){.type = FRAME_PONG}), 0);
  assert_int_equal(session.return_within_ms, 25000);
}

static void a_refusal_says_when_to_come_again_unless_it_is_for_good(void **state) {
  struct uplink_parts parts;
  struct uplink_session session;
  struct message refusal = {.type = FRAME_REJECT,
                            .reject = {.reason = "too many", .retry_after_ms = 9000}};
  begin_session(*state, &parts, &session);
  assert_int_equal(take(&session, &refusal), -EACCES);
  assert_int_equal(session.come_after_ms, 9000);
  refusal.reject.permanent = true;
  begin_session(*state, &parts, &session);
  assert_int_equal(take(&session, &refusal), -EACCES);
  assert_int_equal(session.come_after_ms, 0);
}

/* Else batches and pings would wait behind all that a socket holds. */
static void a_piece_of_a_file_waits_until_the_line_is_drained(void **state) {
  struct bench *bench = *state;
  struct uplink_parts parts;
  struct uplink_session session;
  struct buf out = {0};
  begin_session(bench, &parts, &session);
  parts.debug = bench->debug;
  uint8_t own[LIMIT_MODULE_ID_BYTES];
  struct span id = bench_own_build_id(own);
  if (id.len == 0) skip();
  debug_sender_note(bench->debug, id, "/x", "/proc/self/exe");
  assert_int_equal(take(&session, &(struct message){.type = FRAME_DEBUG_WANTED,
                                                    .debug_wanted = {.id = id, .path = "/x"}}),
                   0);
  assert_int_equal(uplink_session_give(&session, 3, &out), -ENOENT);
  assert_true(uplink_session_due_ns(&session, true) > NS_PER_SECOND);
  bench_append(bench, 1, 1, 100);
  assert_int_equal(uplink_session_give(&session, 3, &out), 0);
  assert_int_equal(out.data[4], FRAME_BATCH);
  session.is_drained = true;
  assert_true(uplink_session_due_ns(&session, true) <= 3);
  int rc = -ENOENT;
  uint64_t now_ns = 3;
  for (unsigned i = 0; i < 10000 && rc == -ENOENT; i++) { /* the file is found and hashed first */
    buf_clear(&out);
    rc = uplink_session_give(&session, now_ns, &out);
    now_ns = uplink_session_due_ns(&session, true);
    assert_true(now_ns < NS_PER_SECOND * 300);
    usleep(1000);
  }
  assert_int_equal(rc, 0);
  assert_int_equal(out.data[4], FRAME_DEBUG_CHUNK);
  uplink_session_fini(&session);
  buf_fini(&out);
}

/* Ticks whenever due until UNTIL_S; returns the number of pings sent, all answered. */
static unsigned pings_until(struct uplink_session *session, uint64_t until_s, struct buf *out) {
  unsigned pings = 0;
  for (uint64_t now_ns;
       (now_ns = uplink_session_due_ns(session, true)) < until_s * NS_PER_SECOND;) {
    buf_clear(out);
    assert_int_equal(uplink_session_tick(session, now_ns, out), 0);
    if (out->len > 0) pings++;
    session->heard_ns = now_ns;
    session->asked_ns = 0;
  }
  return pings;
}

static void an_idle_board_pings_once_a_minute(void **state) {
  struct bench *bench = *state;
  struct uplink_parts parts;
  struct uplink_session session;
  struct buf out = {0};
  begin_session(bench, &parts, &session);
  assert_in_range(pings_until(&session, 3601, &out), 59, 60);
  buf_fini(&out);
}

static void a_batch_is_as_good_as_a_ping(void **state) {
  struct bench *bench = *state;
  struct uplink_parts parts;
  struct uplink_session session;
  struct buf out = {0};
  bench_append(bench, 1, 5, 100);
  begin_session(bench, &parts, &session);
  session.told.produced = 1;
  for (uint64_t s = 10; s <= 50; s += 10) {
    assert_int_equal(pings_until(&session, s, &out), 0);
    assert_int_equal(uplink_session_give(&session, s * NS_PER_SECOND, &out), 0);
  }
  assert_int_equal(pings_until(&session, 66, &out), 1);
  buf_fini(&out);
}

static void acknowledge(struct uplink_session *session, uint64_t seq, uint64_t now_ns) {
  struct message message = {.type = FRAME_ACK, .ack = {RUN, seq}};
  struct buf frame_bytes = {0}, out = {0};
  struct frame frame;
  assert_int_equal(message_encode(&message, &frame_bytes), 0);
  assert_true(frame_decode(buf_span(&frame_bytes), &frame) > 0);
  assert_int_equal(uplink_session_take(session, &frame, now_ns, &out), 0);
  buf_fini(&frame_bytes);
  buf_fini(&out);
}

/* Gives the next batch; returns the seq that it refers to. */
static uint64_t give_batch(struct uplink_session *session) {
  struct buf out = {0};
  struct arena arena;
  struct frame frame;
  struct message message;
  char why[256];
  arena_init(&arena, 1 << 20);
  assert_int_equal(uplink_session_give(session, 3, &out), 0);
  assert_true(frame_decode(buf_span(&out), &frame) > 0);
  assert_int_equal(message_decode(&frame, &arena, &message, why, sizeof why), 0);
  uint64_t after = message.batch.after;
  arena_fini(&arena);
  buf_fini(&out);
  return after;
}

static void append_windows(struct bench *bench, uint64_t count) {
  enum { WINDOW_BYTES = 1000 };
  uint8_t raw[WINDOW_BYTES];
  struct buf zstd = {0};
  for (unsigned i = 0; i < WINDOW_BYTES; i++) raw[i] = (uint8_t)(i * i >> 3);
  assert_int_equal(compress(span_of(raw, sizeof raw), 1, &zstd), 0);
  for (uint64_t seq = 1; seq <= count; seq++) {
    struct spool_item item = {RUN, seq, RECORDS, WINDOW_BYTES, buf_span(&zstd)};
    assert_int_equal(spool_append(bench->spool, &item), 0);
  }
  buf_fini(&zstd);
}

static void a_batch_refers_to_the_last_acked_one_when_nothing_else_is_on_its_way(void **state) {
  struct bench *bench = *state;
  struct uplink_parts parts;
  struct uplink_session session;
  append_windows(bench, 8);
  begin_session(bench, &parts, &session);
  assert_int_equal(give_batch(&session), 0);
  acknowledge(&session, 1, 3); /* a collector that does not report it */
  assert_int_equal(give_batch(&session), 0);
  acknowledge(&session, 2, 3);
  session.prefix_bytes_max = LIMIT_PREFIX_BYTES;
  assert_int_equal(give_batch(&session), 0);
  acknowledge(&session, 3, 3);
  assert_int_equal(give_batch(&session), 3);
  assert_int_equal(give_batch(&session), 0); /* 4 is on its way */
  acknowledge(&session, 4, 3);
  acknowledge(&session, 5, 3);
  assert_int_equal(give_batch(&session), 0); /* whether 4 or 5 is the collector's last is unknown */
  acknowledge(&session, 6, 3);
  assert_int_equal(give_batch(&session), 6);
  struct message reject = {.type = FRAME_REJECT,
                           .reject = {.run = RUN, .seq = 7, .permanent = true}};
  assert_int_equal(take(&session, &reject), 0);
  assert_int_equal(give_batch(&session), 0);
  uplink_session_fini(&session);
}

/* Two days of ten-second windows without a collector fill the spool after one and a half days. Then
   the collector is back, with a fast link. */
static void after_two_days_in_the_dark_the_newest_come_at_the_rate_that_is_allowed(void **state) {
  enum { BATCHES = 2 * 24 * 360, LEN = 500, RATE = 64 << 10 };
  struct bench *bench = *state;
  struct spool_figures now;
  struct uplink_parts parts;
  struct uplink_session session;
  struct buf out = {0};
  const uint64_t most = 6 << 20;
  bench_limit_spool(bench, most);
  for (uint64_t seq = 1; seq <= BATCHES; seq++) {
    bench_append(bench, seq, seq, LEN);
    spool_figures(bench->spool, &now);
    assert_true(now.bytes <= most);
  }
  uint64_t first = now.first_seq, expected = first, sent = 0, seconds = 0;
  assert_true(first > 1 && bench->lost[LOSS_SPOOL_FULL] == (first - 1) * RECORDS);
  assert_int_equal(now.entries, BATCHES + 1 - first);
  begin_session(bench, &parts, &session);
  parts.send_bytes = RATE;
  for (uint64_t now_ns = 100 * NS_PER_SECOND; expected <= BATCHES; seconds++) {
    uint64_t end_ns = now_ns + NS_PER_SECOND, in_second = 0;
    for (; now_ns < end_ns && expected <= BATCHES; now_ns += 10 * NS_PER_MS) {
      buf_clear(&out);
      for (; uplink_session_give(&session, now_ns, &out) == 0; expected++, in_second += LEN)
        acknowledge(&session, expected, now_ns);
      if (session.is_paced)
        assert_true(uplink_session_due_ns(&session, true) <= session.paced_until_ns);
    }
    assert_true(in_second <= (seconds == 0 ? 2 * RATE + LEN : RATE + LEN));
    sent += in_second;
  }
  assert_int_equal(sent, now.entries * LEN);
  assert_true(seconds <= sent / RATE + 1); /* and no slower */
  spool_figures(bench->spool, &now);
  assert_int_equal(now.entries, 0);
  buf_fini(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(pings_go_out_and_silence_ends_the_session),
      CASE(a_batch_that_is_never_answered_ends_the_session),
      CASE(what_waits_for_room_is_not_due),
      CASE(what_the_collector_says_of_coming_back_is_kept),
      CASE(a_refusal_says_when_to_come_again_unless_it_is_for_good),
      CASE(a_piece_of_a_file_waits_until_the_line_is_drained),
      CASE(an_idle_board_pings_once_a_minute),
      CASE(a_batch_is_as_good_as_a_ping),
      CASE(a_batch_refers_to_the_last_acked_one_when_nothing_else_is_on_its_way),
      CASE(after_two_days_in_the_dark_the_newest_come_at_the_rate_that_is_allowed),
  };
  return cmocka_run_group_tests(tests, bench_begin_group, NULL);
}
