/* SPDX-License-Identifier: Apache-2.0 */
/* The uplink against a real TLS server on loopback that follows a script, with a real spool: the
   fate of batches. */
#include "uplink_fixture.h"

#include "proto/limits.h"

#include <unistd.h>

static void ack_only_after_the_limit(struct peer *peer, unsigned connection) {
  struct message message;
  struct envelope batches[LIMIT_IN_FLIGHT];
  if (!peer_greet(peer)) return;
  for (unsigned i = 0; i < LIMIT_IN_FLIGHT; i++) {
    if (!peer_read(peer, &message) || message.type != FRAME_BATCH) return;
    batches[i] = message.batch;
  }
  peer->step = peer_read_within(peer, &message, 300) ? 2 : 1;
  for (unsigned i = 0; i < LIMIT_IN_FLIGHT; i++) peer_ack(peer, &batches[i]);
  while (peer_read(peer, &message)) peer_ack(peer, &message.batch);
  (void)connection;
}

static void lose_acks_first(struct peer *peer, unsigned connection) {
  struct message message;
  if (connection > 0) {
    peer_ack_all(peer, connection);
    return;
  }
  if (!peer_greet(peer)) return;
  for (int i = 0; i < 3 && peer_read(peer, &message); i++) {
    peer_note(peer, &message.batch);
    if (i == 0) peer_ack(peer, &message.batch);
  }
  peer_read_within(peer, &message, 100);
}

static void close_inside_a_frame_first(struct peer *peer, unsigned connection) {
  if (connection > 0) {
    peer_ack_all(peer, connection);
    return;
  }
  if (!peer_greet(peer)) return;
  const uint8_t half[] = {0, 0, 0, 9, FRAME_ACK, 1, 2};
  SSL_write(peer->ssl, half, sizeof half);
}

static void send_rubbish_first(struct peer *peer, unsigned connection) {
  if (connection > 0) {
    peer_ack_all(peer, connection);
    return;
  }
  if (!peer_greet(peer)) return;
  const uint8_t rubbish[] = {0xff, 0xff, 0xff, 0xff, 0xff, 1, 2};
  struct message message;
  SSL_write(peer->ssl, rubbish, sizeof rubbish);
  while (peer_read_within(peer, &message, 3000)) {
  }
}

static void speak_another_version(struct peer *peer, unsigned connection) {
  struct message message;
  (void)connection;
  if (!peer_read(peer, &message)) return;
  message = (struct message){.type = FRAME_WELCOME};
  message.welcome = (struct welcome){.version = 99};
  peer_send(peer, &message);
  while (peer_read_within(peer, &message, 3000)) {
  }
}

static void reject_the_second(struct peer *peer, unsigned connection) {
  struct message message, reject = {.type = FRAME_REJECT};
  (void)connection;
  if (!peer_greet(peer)) return;
  while (peer_read(peer, &message)) {
    if (message.type != FRAME_BATCH) continue;
    peer_note(peer, &message.batch);
    reject.reject =
        (struct reject){.run = RUN, .seq = 2, .reason = "too many modules", .permanent = true};
    if (message.batch.seq == 2)
      peer_send(peer, &reject);
    else
      peer_ack(peer, &message.batch);
  }
}

static void ask_for_patience_once(struct peer *peer, unsigned connection) {
  struct message message, reject = {.type = FRAME_REJECT};
  (void)connection;
  if (!peer_greet(peer)) return;
  while (peer_read(peer, &message)) {
    if (message.type != FRAME_BATCH) continue;
    peer_note(peer, &message.batch);
    reject.reject = (struct reject){.run = RUN, .seq = 2, .reason = "busy", .retry_after_ms = 300};
    if (message.batch.seq == 2 && peer->step++ == 0)
      peer_send(peer, &reject);
    else
      peer_ack(peer, &message.batch);
  }
}

static void read_slowly(struct peer *peer, unsigned connection) {
  struct message message;
  (void)connection;
  if (!peer_greet(peer)) return;
  do {
    usleep(20000);
    if (!peer_read(peer, &message)) return;
    peer_note(peer, &message.batch);
    peer_ack(peer, &message.batch);
  } while (true);
}

static void batches_flow_and_leave_the_spool_by_their_acks(void **state) {
  struct bench *bench = *state;
  bench_append(bench, 1, 40, 1000);
  bench_start_peer(bench, peer_ack_all);
  bench_start_uplink(bench);
  assert_false(bench_is_idle(bench));
  bench_run_until(bench, bench_is_idle);
  struct uplink_figures now = bench_figures(bench);
  assert_int_equal(now.acked_batches, 40);
  assert_true(now.sent_bytes > 40000);
  assert_string_equal(now.state, "connected");
  assert_string_equal(now.page_url, "http://page/");
  assert_int_equal(now.server_walltime_ns, 42);
  assert_true(bench->changes > 0);
  bench_append(bench, 41, 41, 1000);
  uplink_kick(bench->uplink);
  bench_run_until(bench, bench_is_idle);
  assert_int_equal(bench->peer.batches, 41);
  assert_int_equal(bench->peer.duplicates, 0);
}

static void no_more_than_the_limit_is_on_its_way(void **state) {
  struct bench *bench = *state;
  bench_begin(bench, 40, ack_only_after_the_limit);
  bench_run_until(bench, bench_is_idle);
  assert_int_equal(bench->peer.step, 1);
}

static void a_batch_whose_ack_was_lost_comes_again(void **state) {
  struct bench *bench = *state;
  bench_begin(bench, 3, lose_acks_first);
  bench_run_until(bench, bench_is_idle);
  const uint64_t expected[] = {1, 2, 3, 2, 3};
  assert_int_equal(bench->peer.batches, 5);
  assert_memory_equal(bench->peer.seqs, expected, sizeof expected);
  assert_int_equal(bench_figures(bench).reconnects, 1);
}

static void a_connection_that_ends_inside_a_frame_is_begun_anew(void **state) {
  struct bench *bench = *state;
  bench_begin(bench, 3, close_inside_a_frame_first);
  bench_run_until(bench, bench_is_idle);
  assert_int_equal(bench_waiting(bench), 0);
}

static void a_malformed_frame_ends_the_connection_and_nothing_else(void **state) {
  struct bench *bench = *state;
  bench_begin(bench, 3, send_rubbish_first);
  bench_run_until(bench, bench_has_reason);
  assert_non_null(strstr(bench_figures(bench).why, "malformed"));
  bench_run_until(bench, bench_is_idle);
}

static void another_protocol_version_is_named(void **state) {
  struct bench *bench = *state;
  bench_begin(bench, 1, speak_another_version);
  bench_run_until(bench, bench_has_reason);
  assert_non_null(strstr(bench_figures(bench).why, "protocol 99"));
  assert_int_equal(bench_waiting(bench), 1);
}

static void a_rejected_batch_is_quarantined_and_the_queue_goes_on(void **state) {
  struct bench *bench = *state;
  bench_begin(bench, 5, reject_the_second);
  bench_run_until(bench, bench_is_idle);
  struct spool_figures spool;
  spool_figures(bench->spool, &spool);
  assert_int_equal(spool.quarantined, 1);
  assert_int_equal(bench->lost[LOSS_REJECTED], RECORDS);
  assert_int_equal(bench_figures(bench).acked_batches, 4);
  assert_int_equal(bench->peer.batches, 5);
}

static void a_collector_that_asks_for_patience_gets_it(void **state) {
  struct bench *bench = *state;
  bench_begin(bench, 3, ask_for_patience_once);
  uint64_t begin_ns = clock_monotonic_ns();
  bench_run_until(bench, bench_is_idle);
  assert_true(clock_monotonic_ns() - begin_ns >= 300 * NS_PER_MS);
  const uint64_t expected[] = {1, 2, 3, 2};
  assert_int_equal(bench->peer.batches, 4);
  assert_memory_equal(bench->peer.seqs, expected, sizeof expected);
  assert_int_equal(bench->lost[LOSS_REJECTED], 0);
  assert_int_equal(bench_figures(bench).reconnects, 0);
}

static void a_slow_collector_gets_everything_in_the_end(void **state) {
  struct bench *bench = *state;
  bench_append(bench, 1, 40, 100000);
  bench_start_peer(bench, read_slowly);
  bench_start_uplink(bench);
  bench_run_until(bench, bench_is_idle);
  assert_int_equal(bench->peer.batches, 40);
  assert_int_equal(bench->peer.duplicates, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(batches_flow_and_leave_the_spool_by_their_acks),
      CASE(no_more_than_the_limit_is_on_its_way),
      CASE(a_batch_whose_ack_was_lost_comes_again),
      CASE(a_connection_that_ends_inside_a_frame_is_begun_anew),
      CASE(a_malformed_frame_ends_the_connection_and_nothing_else),
      CASE(another_protocol_version_is_named),
      CASE(a_rejected_batch_is_quarantined_and_the_queue_goes_on),
      CASE(a_collector_that_asks_for_patience_gets_it),
      CASE(a_slow_collector_gets_everything_in_the_end),
  };
  return cmocka_run_group_tests(tests, bench_begin_group, NULL);
}
