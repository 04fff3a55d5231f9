/* SPDX-License-Identifier: Apache-2.0 */
/* The boards' port with real sockets, real TLS and the real store: service for good boards, and a
   reason for malformed data, which affects no other board. */
#include "ingest/ingest.h"

#include "board_fixture.h"

#include <malloc.h>
#include <unistd.h>

static void two_boards_enrol_and_what_is_acked_is_stored(void **state) {
  (void)state;
  enrol("edge-1");
  enrol("edge-2");
  greet(&peer, "edge-1", 11);
  assert_string_equal(heard.welcome.page_url, "http://127.0.0.1:7480/");
  assert_int_equal(heard.welcome.last_seq, 0);
  greet(&other, "edge-2", 22);
  for (uint64_t seq = 1; seq <= 3; seq++) {
    send_batch(&peer, 11, seq);
    send_batch(&other, 22, seq);
  }
  for (uint64_t seq = 1; seq <= 3; seq++) {
    assert_acked(&peer, seq);
    assert_acked(&other, seq);
  }
  struct board_figures figures = figures_of("edge-1");
  assert_int_equal(figures.produced, 3);
  assert_int_equal(figures.stored, 3);
  assert_int_equal(figures.pending, 0);
  assert_string_equal(figures.clock, "synced");
  assert_string_equal(figures.sampler, "perf");
  assert_int_equal(figures_of("edge-2").stored, 3);
  assert_metric("batches_stored_total", 6);
  assert_metric("boards_connected", 2);
  peer_close(&peer);
  peer_close(&other);
}

static void a_repeated_batch_is_acked_again_and_counted_once(void **state) {
  (void)state;
  enrol("edge-1");
  greet(&peer, "edge-1", 11);
  send_batch(&peer, 11, 1);
  assert_acked(&peer, 1);
  peer_close(&peer);
  greet(&peer, "edge-1", 11);
  assert_int_equal(heard.welcome.last_seq, 1);
  send_batch(&peer, 11, 1);
  assert_acked(&peer, 1);
  assert_int_equal(figures_of("edge-1").stored, 1);
  assert_metric("batches_duplicate_total", 1);
  peer_close(&peer);
}

static void a_malformed_batch_is_rejected_alone_and_counted_as_lost(void **state) {
  (void)state;
  struct message bad = {.type = FRAME_BATCH,
                        .batch = {.run = 11, .seq = 1, .records = 5, .raw_len = 100}};
  bad.batch.zstd = span_of_string("this is not zstd");
  enrol("edge-1");
  greet(&peer, "edge-1", 11);
  assert_true(peer_say(&peer, &bad));
  assert_true(peer_hear(&peer, &heard));
  assert_int_equal(heard.type, FRAME_REJECT);
  assert_true(heard.reject.permanent);
  assert_string_equal(heard.reject.reason, "batch does not inflate to 100 bytes");
  send_content(&peer, &(struct content){11, 2, 6, span_of_string("build-id")});
  assert_acked(&peer, 2);
  struct board_figures figures = figures_of("edge-1");
  assert_int_equal(figures.produced, 6);
  assert_int_equal(figures.stored, 1);
  assert_int_equal(figures.pending, 0);
  assert_metric("refused_total{reason=\"bad_batch\"}", 1);
  peer_close(&peer);
}

static void an_envelope_that_lies_about_its_batch_is_rejected(void **state) {
  (void)state;
  struct buf raw = {0}, zstd = {0};
  struct content content = {11, 1, 1, span_of_string("build-id")};
  struct message lie = {.type = FRAME_BATCH, .batch = pack(&content, &raw, &zstd)};
  enrol("edge-1");
  greet(&peer, "edge-1", 11);
  lie.batch.records = 2;
  peer_say(&peer, &lie);
  assert_true(peer_await(&peer, FRAME_REJECT, &heard));
  assert_non_null(strstr(heard.reject.reason, "number of records"));
  lie.batch.records = 1;
  lie.batch.seq = 2;
  lie.batch.run = 12;
  peer_say(&peer, &lie);
  assert_true(peer_await(&peer, FRAME_REJECT, &heard));
  assert_non_null(strstr(heard.reject.reason, "different runs"));
  lie.batch.run = 11;
  lie.batch.raw_len = LIMIT_BATCH_RAW_BYTES;
  peer_say(&peer, &lie);
  assert_true(peer_await(&peer, FRAME_REJECT, &heard));
  assert_int_equal(figures_of("edge-1").stored, 0);
  buf_fini(&raw);
  buf_fini(&zstd);
  peer_close(&peer);
}

static void frames_that_are_too_long_or_nonsense_end_only_their_session(void **state) {
  static const uint8_t too_long[FRAME_HEADER_BYTES] = {0x7f, 0xff, 0xff, 0xff, FRAME_BATCH};
  static const uint8_t unknown[FRAME_HEADER_BYTES] = {0, 0, 0, 1, 200};
  static const uint8_t nonsense[] = {0, 0, 0, 4, FRAME_PING, 0xff, 0xff, 0xff, 0xff};
  const struct span attacks[] = {span_of(too_long, sizeof too_long),
                                 span_of(unknown, sizeof unknown),
                                 span_of(nonsense, sizeof nonsense)};
  (void)state;
  enrol("edge-1");
  enrol("edge-2");
  greet(&other, "edge-2", 22);
  for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
    greet(&peer, "edge-1", 11);
    assert_true(peer_send(&peer, attacks[i]));
    assert_true(peer_hear(&peer, &heard));
    assert_int_equal(heard.type, FRAME_REJECT);
    assert_int_equal(heard.reject.seq, 0);
    assert_ends(&peer);
    send_batch(&other, 22, i + 1);
    assert_acked(&other, i + 1);
  }
  assert_metric("refused_total{reason=\"frame_too_long\"}", 1);
  assert_metric("refused_total{reason=\"bad_frame\"}", 1);
  assert_metric("refused_total{reason=\"bad_message\"}", 1);
  peer_close(&other);
}

static void half_a_frame_holds_nobody_up(void **state) {
  (void)state;
  struct buf raw = {0}, zstd = {0}, frame = {0};
  struct content content = {11, 1, 1, span_of_string("build-id")};
  struct message message = {.type = FRAME_BATCH, .batch = pack(&content, &raw, &zstd)};
  assert_int_equal(message_encode(&message, &frame), 0);
  enrol("edge-1");
  enrol("edge-2");
  greet(&peer, "edge-1", 11);
  greet(&other, "edge-2", 22);
  for (size_t at = 0; at + 1 < frame.len; at++)
    assert_true(peer_send(&peer, span_of(frame.data + at, 1)));
  send_batch(&other, 22, 1);
  assert_acked(&other, 1);
  assert_true(peer_send(&peer, span_of(frame.data + frame.len - 1, 1)));
  assert_acked(&peer, 1);
  buf_fini(&raw);
  buf_fini(&zstd);
  buf_fini(&frame);
  peer_close(&peer);
  peer_close(&other);
}

/* Larger than libevent's default buffer, which must grow for it and shrink again. */
static void a_frame_larger_than_the_input_buffer_comes_through(void **state) {
  static uint8_t noise[2 * LIMIT_CONTROL_BYTES], sha256[32];
  (void)state;
  struct message piece = {.type = FRAME_DEBUG_CHUNK,
                          .debug_chunk = {.id = span_of_string("unasked"),
                                          .total = LIMIT_DEBUG_CHUNK_BYTES,
                                          .sha256 = span_of(sha256, sizeof sha256),
                                          .raw_len = LIMIT_DEBUG_CHUNK_BYTES,
                                          .zstd = span_of(noise, sizeof noise)}};
  enrol("edge-1");
  greet(&peer, "edge-1", 11);
  for (uint64_t seq = 1; seq <= 20; seq++) {
    assert_true(peer_say(&peer, &piece));
    send_batch(&peer, 11, seq);
  }
  for (uint64_t seq = 1; seq <= 20; seq++) assert_acked(&peer, seq);
  assert_metric("refused_total{reason=\"debug_unasked\"}", 20);
  peer_close(&peer);
}

static void a_board_in_two_places_is_served_twice_and_noticed(void **state) {
  (void)state;
  enrol("edge-1");
  greet(&peer, "edge-1", 11);
  greet(&other, "edge-1", 12);
  send_batch(&peer, 11, 1);
  send_batch(&other, 12, 1);
  assert_acked(&peer, 1);
  assert_acked(&other, 1);
  assert_metric("board_twice_total", 1);
  assert_int_equal(figures_of("edge-1").stored, 2);
  peer_close(&peer);
  peer_close(&other);
}

static void what_was_sent_before_the_end_is_acked_before_the_end(void **state) {
  (void)state;
  enrol("edge-1");
  greet(&peer, "edge-1", 11);
  for (uint64_t seq = 1; seq <= LIMIT_IN_FLIGHT; seq++) send_batch(&peer, 11, seq);
  assert_acked(&peer, 1); /* all of them are with the collector by now, or on the way */
  door_shut(&door);
  uint64_t acked = 1;
  while (peer_await(&peer, FRAME_ACK, &heard)) assert_int_equal(heard.ack.seq, ++acked);
  assert_int_equal(figures_of("edge-1").stored, acked);
  peer_close(&peer);
}

/* Three silent peers: before TLS, after TLS, and in the middle of a frame. */
static void who_says_nothing_is_sent_away_in_time(void **state) {
  (void)state;
  uint64_t began_ns = clock_monotonic_ns();
  char byte;
  enrol("edge-1");
  connect_board(&peer, "edge-1");
  connect_stranger(&other);
  assert_true(peer_send(&other, span_of("\0\0\1", 3)));
  int silent = peer_socket(ingest_port(door.ingest));
  assert_int_equal(recv(silent, &byte, 1, 0), 0);
  assert_true(peer_hear(&peer, &heard));
  assert_string_equal(heard.reject.reason, "nothing whole came in time");
  assert_true(peer_hear(&other, &heard));
  assert_string_equal(heard.enrolled.error, "nothing whole came in time");
  assert_in_range(clock_monotonic_ns() - began_ns, 9 * NS_PER_SECOND, 15 * NS_PER_SECOND);
  assert_metric("refused_total{reason=\"timeout\"}", 2);
  assert_metric("handshakes_total{result=\"timeout\"}", 1);
  close(silent);
  peer_close(&peer);
  peer_close(&other);
}

static void pings_are_answered_and_keep_the_books(void **state) {
  (void)state;
  struct message ping = {.type = FRAME_PING,
                         .ping = {.boottime_ns = clock_boottime_ns(),
                                  .walltime_ns = clock_walltime_ns(),
                                  .sampler = "timer",
                                  .counters = {.run = 11, .produced = 9}}};
  enrol("edge-1");
  greet(&peer, "edge-1", 11);
  assert_true(peer_say(&peer, &ping));
  assert_true(peer_hear(&peer, &heard));
  assert_int_equal(heard.type, FRAME_PONG);
  send_content(&peer, &(struct content){11, 1, 9, span_of_string("build-id")});
  assert_acked(&peer, 1);
  struct board_figures figures = figures_of("edge-1");
  assert_int_equal(figures.produced, 9);
  assert_int_equal(figures.pending, 8);
  assert_string_equal(figures.sampler, "perf"); /* the batch is newer than the ping */
  assert_int_equal(figures.achieved_mhz, 98765);
  assert_int_equal(figures.asked_mhz, 199000); /* of the target whose achieved rate this is */
  assert_int_equal(figures.sample_ns, 61);
  peer_close(&peer);
}

static void an_address_that_cannot_be_had_is_an_error_in_words(void **state) {
  static const char *const addresses[] = {"127.0.0.1", "127.0.0.1:",  ":1",
                                          "::1:7",     "127.0.0.1:x", "192.0.2.1:7443"};
  (void)state;
  struct event_base *loop = event_base_new();
  for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
    struct ingest *ingest = NULL;
    char error[256] = "";
    struct ingest_parts parts = {.loop = loop,
                                 .ca = door.ca,
                                 .access = door.access,
                                 .store = door.store,
                                 .debug = door.debug,
                                 .symbolizer = door.symbolizer,
                                 .address = addresses[i],
                                 .page_url = ""};
    assert_true(ingest_start(&parts, &ingest, error, sizeof error) < 0);
    assert_non_null(strstr(error, addresses[i]));
    assert_null(ingest);
  }
  event_base_free(loop);
}

/* A scrape may be waiting for the end. Freed memory is overwritten, so use after free is detected.
 */
static void the_figures_outlive_the_door(void **state) {
  (void)state;
  mallopt(M_PERTURB, 0x5a);
  enrol("edge-1");
  greet(&peer, "edge-1", 11);
  send_batch(&peer, 11, 1);
  assert_acked(&peer, 1);
  peer_close(&peer);
  door_shut(&door);
  assert_int_equal(door_metric(&door, "batches_stored_total"), 1);
  mallopt(M_PERTURB, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      AT_DOOR(two_boards_enrol_and_what_is_acked_is_stored),
      AT_DOOR(a_repeated_batch_is_acked_again_and_counted_once),
      AT_DOOR(a_malformed_batch_is_rejected_alone_and_counted_as_lost),
      AT_DOOR(an_envelope_that_lies_about_its_batch_is_rejected),
      AT_DOOR(frames_that_are_too_long_or_nonsense_end_only_their_session),
      AT_DOOR(half_a_frame_holds_nobody_up),
      AT_DOOR(a_frame_larger_than_the_input_buffer_comes_through),
      AT_DOOR(a_board_in_two_places_is_served_twice_and_noticed),
      AT_DOOR(what_was_sent_before_the_end_is_acked_before_the_end),
      AT_DOOR(who_says_nothing_is_sent_away_in_time),
      AT_DOOR(pings_are_answered_and_keep_the_books),
      AT_DOOR(the_figures_outlive_the_door),
      AT_DOOR(an_address_that_cannot_be_had_is_an_error_in_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
