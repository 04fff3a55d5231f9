/* SPDX-License-Identifier: Apache-2.0 */
/* The uplink against a real TLS server on loopback that follows a script, with a real spool. */
#include "spool/spool.h"
#include "uplink/debug_sender.h"
#include "uplink/uplink.h"
#include "uplink/uplink_session.h"

#include "common/clock.h"
#include "common/log.h"
#include "proto/compress.h"

#include <event2/event.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>

#include "peer_fixture.h"

#include <cmocka.h>

enum { RUN = 7, RECORDS = 3 };

struct bench {
  struct fleet fleet;
  struct peer peer;
  bool has_peer;
  struct event_base *loop;
  struct spool *spool;
  struct debug_sender *debug;
  struct uplink *uplink;
  char address[64];
  char certificate[FLEET_PATH_BYTES], key[FLEET_PATH_BYTES], ca[FLEET_PATH_BYTES];
  uint64_t rejected;
  unsigned changes;
};

static void on_loss(void *context, uint64_t run, enum loss_reason reason, uint64_t records) {
  struct bench *bench = context;
  (void)run;
  if (reason == LOSS_REJECTED) bench->rejected += records;
}

static void fill_hello(void *context, struct hello *hello) {
  (void)context;
  hello->program_version = "test";
  hello->arch = "x86_64";
  hello->kernel = "6";
  hello->sampler = "timer";
  hello->counters.run = RUN;
}

static void fill_ping(void *context, struct ping *ping) {
  (void)context;
  ping->sampler = "timer";
}

static void on_change(void *context) {
  struct bench *bench = context;
  bench->changes++;
}

static int set_up(void **state) {
  struct bench *bench = calloc(1, sizeof *bench);
  if (bench == NULL || fleet_init(&bench->fleet) < 0) return -1;
  char dir[FLEET_PATH_BYTES];
  fleet_path(&bench->fleet, "spool", dir);
  const struct spool_limits limits = {64 << 20, 1 << 20, 5 * NS_PER_SECOND};
  assert_int_equal(spool_open(dir, &limits, on_loss, bench, &bench->spool), 0);
  assert_int_equal(debug_sender_open(1 << 30, &bench->debug), 0);
  bench->loop = event_base_new();
  fleet_path(&bench->fleet, "board.pem", bench->certificate);
  fleet_path(&bench->fleet, "board.key", bench->key);
  fleet_path(&bench->fleet, "ca.pem", bench->ca);
  *state = bench;
  return 0;
}

static int tear_down(void **state) {
  struct bench *bench = *state;
  uplink_stop(bench->uplink);
  if (bench->has_peer) peer_stop(&bench->peer);
  debug_sender_close(bench->debug);
  spool_close(bench->spool);
  event_base_free(bench->loop);
  fleet_fini(&bench->fleet);
  free(bench);
  return 0;
}

static void append(struct bench *bench, uint64_t first, uint64_t last, size_t len) {
  uint8_t *payload = calloc(1, len);
  for (uint64_t seq = first; seq <= last; seq++) {
    struct spool_item item = {RUN, seq, RECORDS, 100, {payload, len}};
    assert_int_equal(spool_append(bench->spool, &item), 0);
  }
  free(payload);
}

static void start_peer_as(struct bench *bench, const char *name, peer_script *script) {
  assert_int_equal(peer_start(&bench->peer, &bench->fleet, name, script), 0);
  bench->has_peer = true;
  snprintf(bench->address, sizeof bench->address, "127.0.0.1:%u", bench->peer.port);
}

static void start_peer(struct bench *bench, peer_script *script) {
  start_peer_as(bench, "collector", script);
}

static void start_uplink(struct bench *bench) {
  struct uplink_parts parts = {
      .loop = bench->loop,
      .spool = bench->spool,
      .debug = bench->debug,
      .address = bench->address[0] ? bench->address : NULL,
      .certificate_path = bench->certificate,
      .key_path = bench->key,
      .ca_path = bench->ca,
      .fill_hello = fill_hello,
      .fill_ping = fill_ping,
      .on_change = on_change,
      .context = bench,
  };
  assert_int_equal(uplink_start(&parts, &bench->uplink), 0);
}

static struct uplink_figures figures(struct bench *bench) {
  struct uplink_figures ret;
  uplink_figures(bench->uplink, &ret);
  return ret;
}

static void turn(struct bench *bench) {
  const struct timeval slice = {.tv_usec = 10000};
  event_base_loopexit(bench->loop, &slice);
  event_base_dispatch(bench->loop);
}

typedef bool condition(struct bench *bench);

static void run_until(struct bench *bench, condition *is_met) {
  uint64_t end_ns = clock_monotonic_ns() + 15 * NS_PER_SECOND;
  while (!is_met(bench)) {
    if (clock_monotonic_ns() > end_ns) {
      struct uplink_figures now = figures(bench);
      fail_msg("not within 15 s; the uplink is %s: %s", now.state, now.why);
    }
    turn(bench);
  }
}

static void run_for(struct bench *bench, unsigned ms) {
  uint64_t end_ns = clock_monotonic_ns() + ms * NS_PER_MS;
  while (clock_monotonic_ns() < end_ns) turn(bench);
}

static bool is_idle(struct bench *bench) {
  return figures(bench).is_idle;
}

static bool has_reason(struct bench *bench) {
  return strcmp(figures(bench).state, "waiting") == 0 && figures(bench).why[0] != '\0';
}

static uint64_t waiting(struct bench *bench) {
  struct spool_figures ret;
  spool_figures(bench->spool, &ret);
  return ret.entries;
}

/* --- Scripts --- */

static void ack_all(struct peer *peer, unsigned connection) {
  struct message message;
  (void)connection;
  if (!peer_greet(peer)) return;
  while (peer_read(peer, &message)) {
    if (message.type != FRAME_BATCH) continue;
    peer_note(peer, &message.batch);
    peer_ack(peer, &message.batch);
  }
}

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
    ack_all(peer, connection);
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
    ack_all(peer, connection);
    return;
  }
  if (!peer_greet(peer)) return;
  const uint8_t half[] = {0, 0, 0, 9, FRAME_ACK, 1, 2};
  SSL_write(peer->ssl, half, sizeof half);
}

static void send_rubbish_first(struct peer *peer, unsigned connection) {
  if (connection > 0) {
    ack_all(peer, connection);
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
    reject.reject = (struct reject){RUN, 2, "too many modules", true, 0};
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
    reject.reject = (struct reject){RUN, 2, "busy", false, 300};
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

static struct span test_id = {(const uint8_t *)"", 0};

static void want_a_file(struct peer *peer, unsigned connection) {
  struct message message, wanted = {.type = FRAME_DEBUG_WANTED}, end = {.type = FRAME_DEBUG_END};
  struct envelope batch;
  (void)connection;
  if (!peer_greet(peer) || !peer_read(peer, &message)) return;
  batch = message.batch;
  wanted.debug_wanted = (struct debug_wanted){.id = test_id, .path = "/x"};
  peer_send(peer, &wanted);
  peer_ack(peer, &batch);
  while (peer_read(peer, &message) && message.type == FRAME_DEBUG_CHUNK) {
    struct debug_chunk *chunk = &message.debug_chunk;
    decompress(chunk->zstd, chunk->raw_len, LIMIT_DEBUG_CHUNK_BYTES, &peer->file);
    if (peer->file.len < chunk->total) continue;
    usleep(200000);
    peer->step = 1;
    end.debug_end = (struct debug_end){.id = test_id};
    peer_send(peer, &end);
  }
}

static void want_an_unknown_file(struct peer *peer, unsigned connection) {
  struct message message, wanted = {.type = FRAME_DEBUG_WANTED};
  (void)connection;
  if (!peer_greet(peer)) return;
  wanted.debug_wanted = (struct debug_wanted){.id = span_of_string("nobody-has-it"), .path = "/x"};
  peer_send(peer, &wanted);
  if (peer_read(peer, &message) && message.type == FRAME_DEBUG_END &&
      strlen(message.debug_end.reason) > 0)
    peer->step = 1;
  peer_read(peer, &message);
}

static void give_a_command(struct peer *peer, unsigned connection) {
  struct message message, command = {.type = FRAME_COMMAND};
  (void)connection;
  if (!peer_greet(peer)) return;
  command.command = (struct command){.id = 5, .verb = "dance"};
  peer_send(peer, &command);
  if (peer_read(peer, &message) && message.type == FRAME_RESULT && message.result.id == 5 &&
      strcmp(message.result.error, "unknown verb") == 0)
    peer->step = 1;
  peer_read(peer, &message);
}

/* --- Claims --- */

static void batches_flow_and_leave_the_spool_by_their_acks(void **state) {
  struct bench *bench = *state;
  append(bench, 1, 40, 1000);
  start_peer(bench, ack_all);
  start_uplink(bench);
  assert_false(is_idle(bench));
  run_until(bench, is_idle);
  struct uplink_figures now = figures(bench);
  assert_int_equal(now.acked_batches, 40);
  assert_true(now.sent_bytes > 40000);
  assert_string_equal(now.state, "connected");
  assert_string_equal(now.page_url, "http://page/");
  assert_int_equal(now.server_walltime_ns, 42);
  assert_true(bench->changes > 0);
  append(bench, 41, 41, 1000);
  uplink_kick(bench->uplink);
  run_until(bench, is_idle);
  assert_int_equal(bench->peer.batches, 41);
  assert_int_equal(bench->peer.duplicates, 0);
}

static void no_more_than_the_limit_is_on_its_way(void **state) {
  struct bench *bench = *state;
  append(bench, 1, 40, 100);
  start_peer(bench, ack_only_after_the_limit);
  start_uplink(bench);
  run_until(bench, is_idle);
  assert_int_equal(bench->peer.step, 1);
}

static void a_batch_whose_ack_was_lost_comes_again(void **state) {
  struct bench *bench = *state;
  append(bench, 1, 3, 100);
  start_peer(bench, lose_acks_first);
  start_uplink(bench);
  run_until(bench, is_idle);
  const uint64_t expected[] = {1, 2, 3, 2, 3};
  assert_int_equal(bench->peer.batches, 5);
  assert_memory_equal(bench->peer.seqs, expected, sizeof expected);
  assert_int_equal(figures(bench).reconnects, 1);
}

static void a_connection_that_ends_inside_a_frame_is_begun_anew(void **state) {
  struct bench *bench = *state;
  append(bench, 1, 3, 100);
  start_peer(bench, close_inside_a_frame_first);
  start_uplink(bench);
  run_until(bench, is_idle);
  assert_int_equal(waiting(bench), 0);
}

static void a_malformed_frame_ends_the_connection_and_nothing_else(void **state) {
  struct bench *bench = *state;
  append(bench, 1, 3, 100);
  start_peer(bench, send_rubbish_first);
  start_uplink(bench);
  run_until(bench, has_reason);
  assert_non_null(strstr(figures(bench).why, "malformed"));
  run_until(bench, is_idle);
}

static void another_protocol_version_is_named(void **state) {
  struct bench *bench = *state;
  append(bench, 1, 1, 100);
  start_peer(bench, speak_another_version);
  start_uplink(bench);
  run_until(bench, has_reason);
  assert_non_null(strstr(figures(bench).why, "protocol 99"));
  assert_int_equal(waiting(bench), 1);
}

static void a_rejected_batch_is_quarantined_and_the_queue_goes_on(void **state) {
  struct bench *bench = *state;
  append(bench, 1, 5, 100);
  start_peer(bench, reject_the_second);
  start_uplink(bench);
  run_until(bench, is_idle);
  struct spool_figures spool;
  spool_figures(bench->spool, &spool);
  assert_int_equal(spool.quarantined, 1);
  assert_int_equal(bench->rejected, RECORDS);
  assert_int_equal(figures(bench).acked_batches, 4);
  assert_int_equal(bench->peer.batches, 5);
}

static void a_collector_that_asks_for_patience_gets_it(void **state) {
  struct bench *bench = *state;
  append(bench, 1, 3, 100);
  start_peer(bench, ask_for_patience_once);
  start_uplink(bench);
  uint64_t begin_ns = clock_monotonic_ns();
  run_until(bench, is_idle);
  assert_true(clock_monotonic_ns() - begin_ns >= 300 * NS_PER_MS);
  const uint64_t expected[] = {1, 2, 3, 2};
  assert_int_equal(bench->peer.batches, 4);
  assert_memory_equal(bench->peer.seqs, expected, sizeof expected);
  assert_int_equal(bench->rejected, 0);
  assert_int_equal(figures(bench).reconnects, 0);
}

static void a_slow_collector_gets_everything_in_the_end(void **state) {
  struct bench *bench = *state;
  append(bench, 1, 40, 100000);
  start_peer(bench, read_slowly);
  start_uplink(bench);
  run_until(bench, is_idle);
  assert_int_equal(bench->peer.batches, 40);
  assert_int_equal(bench->peer.duplicates, 0);
}

static void an_expired_board_keeps_its_spool_and_says_why(void **state) {
  struct bench *bench = *state;
  append(bench, 1, 2, 100);
  fleet_add(&bench->fleet, &(struct fleet_leaf){"board", "clientAuth", -2 * FLEET_DAY, -FLEET_DAY},
            NULL);
  start_peer(bench, ack_all);
  start_uplink(bench);
  run_until(bench, has_reason);
  assert_non_null(strstr(figures(bench).why, "expired"));
  assert_int_equal(waiting(bench), 2);
  fleet_add(&bench->fleet, &(struct fleet_leaf){"board", "clientAuth", -FLEET_DAY, FLEET_DAY},
            NULL); /* renewed: no restart is needed */
  run_until(bench, is_idle);
}

static void an_expired_collector_is_not_trusted(void **state) {
  struct bench *bench = *state;
  append(bench, 1, 2, 100);
  fleet_add(&bench->fleet, &(struct fleet_leaf){"old", "serverAuth", -2 * FLEET_DAY, -FLEET_DAY},
            NULL);
  start_peer_as(bench, "old", ack_all);
  start_uplink(bench);
  run_until(bench, has_reason);
  assert_non_null(strstr(figures(bench).why, "expired"));
  assert_int_equal(waiting(bench), 2);
  assert_int_equal(bench->peer.batches, 0);
}

static void a_collector_of_another_fleet_gets_nothing(void **state) {
  struct bench *bench = *state;
  append(bench, 1, 2, 100);
  struct fleet_pair other =
      fleet_make(&(struct fleet_leaf){"other", NULL, -FLEET_DAY, FLEET_DAY}, NULL);
  fleet_add(&bench->fleet, &(struct fleet_leaf){"stranger", "serverAuth", -FLEET_DAY, FLEET_DAY},
            &other);
  fleet_pair_fini(&other);
  start_peer_as(bench, "stranger", ack_all);
  start_uplink(bench);
  run_until(bench, has_reason);
  assert_non_null(strstr(figures(bench).why, "unknown CA"));
  assert_int_equal(waiting(bench), 2);
  assert_int_equal(bench->peer.handshakes, 0);
}

static void a_board_of_another_fleet_is_told_why(void **state) {
  struct bench *bench = *state;
  append(bench, 1, 2, 100);
  struct fleet_pair other =
      fleet_make(&(struct fleet_leaf){"other", NULL, -FLEET_DAY, FLEET_DAY}, NULL);
  fleet_add(&bench->fleet, &(struct fleet_leaf){"board", "clientAuth", -FLEET_DAY, FLEET_DAY},
            &other);
  fleet_pair_fini(&other);
  start_peer(bench, ack_all);
  start_uplink(bench);
  run_until(bench, has_reason);
  assert_non_null(strstr(figures(bench).why, "unknown CA"));
  assert_int_equal(waiting(bench), 2);
}

static void a_collector_that_is_away_is_tried_again(void **state) {
  struct bench *bench = *state;
  append(bench, 1, 2, 100);
  start_peer(bench, ack_all);
  uint16_t port = bench->peer.port;
  peer_stop(&bench->peer);
  bench->has_peer = false;
  start_uplink(bench);
  run_until(bench, has_reason);
  struct uplink_figures now = figures(bench);
  assert_non_null(strstr(now.why, "refused"));
  assert_true(now.retry_in_ms <= 1000);
  assert_false(now.is_connected);
  assert_int_equal(waiting(bench), 2);
  assert_true(port != 0);
}

static void a_board_that_is_enrolled_later_connects_then(void **state) {
  struct bench *bench = *state;
  append(bench, 1, 1, 100);
  char aside[FLEET_PATH_BYTES];
  fleet_path(&bench->fleet, "aside", aside);
  assert_int_equal(rename(bench->certificate, aside), 0);
  start_peer(bench, ack_all);
  start_uplink(bench);
  run_until(bench, has_reason);
  assert_string_equal(figures(bench).why, "not enrolled: run fleetprof enroll");
  assert_int_equal(bench->peer.connections, 0);
  assert_int_equal(rename(aside, bench->certificate), 0);
  run_until(bench, is_idle);
}

static void without_an_address_the_uplink_is_off(void **state) {
  struct bench *bench = *state;
  start_uplink(bench);
  run_for(bench, 50);
  assert_string_equal(figures(bench).state, "off");
  assert_false(is_idle(bench));
  uplink_kick(bench->uplink);
}

static void an_address_that_is_none_is_named(void **state) {
  struct bench *bench = *state;
  snprintf(bench->address, sizeof bench->address, "localhost");
  start_uplink(bench);
  run_until(bench, has_reason);
  assert_non_null(strstr(figures(bench).why, "HOST:PORT"));
}

static void a_name_is_resolved_beside_the_loop(void **state) {
  struct bench *bench = *state;
  append(bench, 1, 2, 100);
  start_peer(bench, ack_all);
  snprintf(bench->address, sizeof bench->address, "localhost:%u", bench->peer.port);
  start_uplink(bench);
  run_until(bench, is_idle);
}

static void a_wanted_file_is_sent_and_idle_waits_for_its_end(void **state) {
  struct bench *bench = *state;
  uint8_t id[64] = {0};
  char command[256];
  snprintf(command, sizeof command,
           "readelf -n /proc/%d/exe 2>/dev/null | sed -n 's/.*Build ID: //p'", (int)getpid());
  FILE *pipe = popen(command, "r");
  unsigned byte, len = 0;
  while (pipe != NULL && len < sizeof id && fscanf(pipe, "%2x", &byte) == 1)
    id[len++] = (uint8_t)byte;
  if (pipe != NULL) pclose(pipe);
  if (len == 0) skip();
  test_id = span_of(id, len);
  debug_sender_note(bench->debug, test_id, "/x", "/proc/self/exe");
  append(bench, 1, 1, 100);
  start_peer(bench, want_a_file);
  start_uplink(bench);
  run_until(bench, is_idle);
  assert_int_equal(bench->peer.step, 1);
  int fd = open("/proc/self/exe", O_RDONLY);
  struct stat status;
  assert_int_equal(fstat(fd, &status), 0);
  assert_int_equal(bench->peer.file.len, status.st_size);
  uint8_t *own = malloc((size_t)status.st_size);
  assert_int_equal(read(fd, own, (size_t)status.st_size), status.st_size);
  assert_memory_equal(bench->peer.file.data, own, (size_t)status.st_size);
  free(own);
  close(fd);
}

static bool has_stepped(struct bench *bench) {
  return bench->peer.step == 1;
}

static void a_file_nobody_has_is_refused_with_a_reason(void **state) {
  struct bench *bench = *state;
  start_peer(bench, want_an_unknown_file);
  start_uplink(bench);
  run_until(bench, has_stepped);
  run_until(bench, is_idle);
}

static void an_unknown_command_is_answered(void **state) {
  struct bench *bench = *state;
  start_peer(bench, give_a_command);
  start_uplink(bench);
  run_until(bench, has_stepped);
}

/* --- The session's own clock, without waiting for it --- */

static void begin_session(struct bench *bench, struct uplink_parts *parts,
                          struct uplink_session *session) {
  struct buf out = {0};
  *parts = (struct uplink_parts){
      .spool = bench->spool, .fill_hello = fill_hello, .fill_ping = fill_ping};
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
  for (uint64_t s = 15; s < 45; s += 15) {
    uint64_t now_ns = 1 + s * NS_PER_SECOND;
    assert_int_equal(uplink_session_due_ns(&session), now_ns);
    buf_clear(&out);
    assert_int_equal(uplink_session_tick(&session, now_ns, &out), 0);
    assert_int_equal(out.data[4], FRAME_PING);
  }
  assert_int_equal(uplink_session_tick(&session, 1 + 45 * NS_PER_SECOND, &out), -ETIMEDOUT);
  assert_non_null(strstr(session.why, "silent"));
  buf_fini(&out);
}

static void a_batch_that_is_never_answered_ends_the_session(void **state) {
  struct bench *bench = *state;
  struct uplink_parts parts;
  struct uplink_session session;
  struct buf out = {0};
  append(bench, 1, 1, 100);
  begin_session(bench, &parts, &session);
  assert_int_equal(uplink_session_give(&session, 1, &out), 0);
  session.heard_ns = 120 * NS_PER_SECOND; /* pongs came */
  assert_int_equal(uplink_session_tick(&session, 1 + 120 * NS_PER_SECOND, &out), -ETIMEDOUT);
  assert_non_null(strstr(session.why, "acked"));
  buf_fini(&out);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  log_set_level(LOG_LEVEL_ERROR);
  signal(SIGPIPE, SIG_IGN); /* the peer's side of it */
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
      CASE(an_expired_board_keeps_its_spool_and_says_why),
      CASE(an_expired_collector_is_not_trusted),
      CASE(a_collector_of_another_fleet_gets_nothing),
      CASE(a_board_of_another_fleet_is_told_why),
      CASE(a_collector_that_is_away_is_tried_again),
      CASE(a_board_that_is_enrolled_later_connects_then),
      CASE(without_an_address_the_uplink_is_off),
      CASE(an_address_that_is_none_is_named),
      CASE(a_name_is_resolved_beside_the_loop),
      CASE(a_wanted_file_is_sent_and_idle_waits_for_its_end),
      CASE(a_file_nobody_has_is_refused_with_a_reason),
      CASE(an_unknown_command_is_answered),
      CASE(pings_go_out_and_silence_ends_the_session),
      CASE(a_batch_that_is_never_answered_ends_the_session),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
