/* SPDX-License-Identifier: Apache-2.0 */
/* The boards' door with real sockets, real TLS and the real store: what good boards get, and that
   bad peers get a reason and change nothing for the others. */
#include "ingest/ingest.h"

#include "../identity/request_fixture.h"
#include "common/clock.h"
#include "door_fixture.h"
#include "identity/ca_files.h"
#include "identity/certificate.h"
#include "peer_fixture.h"
#include "proto/batch_codec.h"
#include "proto/compress.h"
#include "store/store_read.h"

#include <errno.h>
#include <openssl/pem.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>

#include <cmocka.h>

#define HOUR_NS (3600 * NS_PER_SECOND)

static struct door door;
static struct peer peer, other;
static struct message heard;
static struct request request;

static int start(void **state) {
  (void)state;
  return door_start(&door);
}

static int stop(void **state) {
  (void)state;
  door_stop(&door);
  return 0;
}

/* Waits, for a while, until figure NAME is VALUE: the door may still be at it when a peer knows. */
static void assert_metric(const char *name, unsigned long value) {
  unsigned long found = door_metric(&door, name);
  for (unsigned i = 0; i < 500 && found != value; i++) {
    usleep(10000);
    found = door_metric(&door, name);
  }
  if (found != value) fail_msg("%s is %lu, not %lu", name, found, value);
}

/* --- enrolling --- */

static void make_token(const char *board, uint64_t ttl_ns, char token[ACCESS_TOKEN_BYTES]) {
  uint8_t fingerprint[32];
  ca_fingerprint(door.ca, fingerprint);
  assert_int_equal(access_token_make(door.access, ROLE_ENROLL, board, ttl_ns, fingerprint, token),
                   0);
}

static void connect_stranger(struct peer *stranger) {
  uint8_t fingerprint[32];
  char error[256];
  ca_fingerprint(door.ca, fingerprint);
  SSL_CTX *context = tls_enrol_context(fingerprint, error, sizeof error);
  assert_int_equal(peer_connect(stranger, context, ingest_port(door.ingest)), 1);
}

/* Sends TOKEN and CSR; returns the answer, whose strings live until the stranger is closed. */
static struct enrolled ask_to_enrol(struct peer *stranger, const char *token, struct span csr) {
  struct message message = {
      .type = FRAME_ENROLL,
      .enroll = {.version = LIMIT_PROTOCOL_VERSION, .token = token, .csr = csr}};
  connect_stranger(stranger);
  assert_true(peer_say(stranger, &message));
  assert_true(peer_hear(stranger, &heard));
  assert_int_equal(heard.type, FRAME_ENROLLED);
  return heard.enrolled;
}

static const char *path_of(const char *board, const char *what) {
  static char paths[4][160];
  static unsigned turn;
  char *path = paths[turn++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s.%s", door.dir, board, what);
  return path;
}

/* Enrols BOARD and leaves its key, certificate and CA in the door's folder. */
static void enrol(const char *board) {
  char token[ACCESS_TOKEN_BYTES];
  EVP_PKEY *key = EVP_EC_gen("P-256");
  request_make(key, key, &request);
  make_token(board, HOUR_NS, token);
  struct enrolled enrolled = ask_to_enrol(&other, token, request_span(&request));
  assert_string_equal(enrolled.error, "");
  assert_string_equal(enrolled.board, board);
  assert_int_equal(ca_files_write(path_of(board, "crt"), enrolled.certificate, 0644), 0);
  assert_int_equal(ca_files_write(path_of(board, "ca"), enrolled.ca, 0644), 0);
  assert_int_equal(ca_files_write_key(path_of(board, "key"), key), 0);
  EVP_PKEY_free(key);
  peer_close(&other);
}

static SSL_CTX *context_of(const char *board) {
  char error[256];
  struct tls_paths paths = {path_of(board, "crt"), path_of(board, "key"), path_of(board, "ca")};
  SSL_CTX *context = tls_client_context(&paths, error, sizeof error);
  if (context == NULL) fail_msg("%s", error);
  return context;
}

static void connect_board(struct peer *board, const char *name) {
  assert_int_equal(peer_connect(board, context_of(name), ingest_port(door.ingest)), 1);
}

/* --- talking --- */

static struct message hello_of(uint64_t run) {
  struct message message = {.type = FRAME_HELLO,
                            .hello = {.version = LIMIT_PROTOCOL_VERSION,
                                      .boottime_ns = clock_boottime_ns(),
                                      .walltime_ns = clock_walltime_ns(),
                                      .program_version = "0.1.0",
                                      .arch = "x86_64",
                                      .kernel = "6.1",
                                      .sampler = "perf",
                                      .counters = {.run = run}}};
  clock_boot_id(message.hello.boot_id);
  return message;
}

static void greet(struct peer *board, const char *name, uint64_t run) {
  struct message hello = hello_of(run);
  connect_board(board, name);
  assert_true(peer_say(board, &hello));
  assert_true(peer_hear(board, &heard));
  assert_int_equal(heard.type, FRAME_WELCOME);
}

struct content {
  uint64_t run, seq, produced;
  struct span module_id;
};

/* Makes the envelope of a batch with one sample of one record. */
static struct envelope pack(const struct content *content, struct buf *raw, struct buf *zstd) {
  struct batch_module module = {
      .id = content->module_id, .path = "/usr/bin/thing", .kind = MODULE_ELF};
  struct batch_target target = {.service = "thing",
                                .exe = "/usr/bin/thing",
                                .sampler = "perf",
                                .achieved_mhz = 98765,
                                .why = ""};
  struct batch_thread thread = {.name = "main"};
  struct batch_node node = {.parent = BATCH_NONE, .address = 0x1000};
  struct batch_sample sample = {.count = 1, .weight = 10 * NS_PER_MS};
  struct batch batch = {.start_boottime_ns = clock_boottime_ns() - NS_PER_SECOND,
                        .end_boottime_ns = clock_boottime_ns(),
                        .counters = {.run = content->run, .produced = content->produced},
                        .module_count = 1,
                        .target_count = 1,
                        .thread_count = 1,
                        .node_count = 1,
                        .sample_count = 1,
                        .modules = &module,
                        .targets = &target,
                        .threads = &thread,
                        .nodes = &node,
                        .samples = &sample};
  batch.counters.shipped = content->produced;
  clock_boot_id(batch.boot_id);
  assert_int_equal(batch_encode(&batch, raw), 0);
  assert_int_equal(compress(buf_span(raw), 1, zstd), 0);
  return (struct envelope){.run = content->run,
                           .seq = content->seq,
                           .records = 1,
                           .raw_len = (uint32_t)raw->len,
                           .zstd = buf_span(zstd)};
}

static void send_content(struct peer *board, const struct content *content) {
  struct buf raw = {0}, zstd = {0};
  struct message message = {.type = FRAME_BATCH, .batch = pack(content, &raw, &zstd)};
  assert_true(peer_say(board, &message));
  buf_fini(&raw);
  buf_fini(&zstd);
}

static void send_batch(struct peer *board, uint64_t run, uint64_t seq) {
  send_content(board, &(struct content){run, seq, seq, span_of_string("build-id")});
}

static void assert_acked(struct peer *board, uint64_t seq) {
  assert_true(peer_await(board, FRAME_ACK, &heard));
  assert_int_equal(heard.ack.seq, seq);
}

/* The connection ends; what was said before it is dropped. */
static void assert_ends(struct peer *board) {
  while (peer_hear(board, &heard)) {
  }
  assert_int_not_equal(errno, EAGAIN);
  peer_close(board);
}

struct board_figures {
  const char *name;
  uint64_t produced, stored, pending;
  uint32_t achieved_mhz;
  char sampler[32], clock[32];
};

static int on_board(void *context, const struct store_board *board) {
  struct board_figures *figures = context;
  if (strcmp(board->name, figures->name) != 0) return 0;
  figures->produced = board->produced;
  figures->stored = board->stored;
  figures->pending = board->pending;
  figures->achieved_mhz = board->achieved_mhz;
  snprintf(figures->sampler, sizeof figures->sampler, "%s", board->sampler);
  snprintf(figures->clock, sizeof figures->clock, "%s", board->clock);
  return 0;
}

static struct board_figures figures_of(const char *name) {
  struct board_figures figures = {.name = name};
  assert_int_equal(store_boards(door.store, on_board, &figures), 0);
  return figures;
}

/* --- the claims --- */

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

static void wrong_used_and_expired_tokens_are_refused_in_words(void **state) {
  char token[ACCESS_TOKEN_BYTES];
  (void)state;
  EVP_PKEY *key = EVP_EC_gen("P-256");
  request_make(key, key, &request);
  struct enrolled answer = ask_to_enrol(&peer, "fpt_nonsense", request_span(&request));
  assert_string_equal(answer.error, "unknown token");
  assert_ends(&peer);
  make_token("b", 0, token);
  answer = ask_to_enrol(&peer, token, request_span(&request));
  assert_string_equal(answer.error, "token has expired");
  peer_close(&peer);
  make_token("b", HOUR_NS, token);
  answer = ask_to_enrol(&peer, token, request_span(&request));
  assert_string_equal(answer.error, "");
  peer_close(&peer);
  answer = ask_to_enrol(&peer, token, request_span(&request));
  assert_string_equal(answer.error, "token was used");
  assert_int_equal(answer.certificate.len, 0);
  peer_close(&peer);
  assert_metric("refused_total{reason=\"token\"}", 3);
  assert_metric("enrolled_total", 1);
  EVP_PKEY_free(key);
}

static void a_broken_request_does_not_use_its_token_up(void **state) {
  char token[ACCESS_TOKEN_BYTES];
  (void)state;
  EVP_PKEY *key = EVP_EC_gen("P-384");
  request_make(key, key, &request);
  make_token("b", HOUR_NS, token);
  struct enrolled answer = ask_to_enrol(&peer, token, request_span(&request));
  assert_string_equal(answer.error, "key is not on the curve P-256");
  peer_close(&peer);
  EVP_PKEY_free(key);
  key = EVP_EC_gen("P-256");
  request_make(key, key, &request);
  answer = ask_to_enrol(&peer, token, request_span(&request));
  assert_string_equal(answer.error, "");
  peer_close(&peer);
  EVP_PKEY_free(key);
}

static void a_request_for_more_gets_a_board_s_certificate_only(void **state) {
  (void)state;
  enrol("edge-1"); /* the fixture's request asks for CA:TRUE, serverAuth and other names */
  X509 *certificate = ca_files_read_certificate(path_of("edge-1", "crt"));
  assert_int_equal(X509_check_ca(certificate), 0);
  assert_int_equal(X509_get_extended_key_usage(certificate), XKU_SSL_CLIENT);
  assert_int_equal(X509_check_host(certificate, "evil.example", 0, 0, NULL), 0);
  X509_free(certificate);
}

static void a_stranger_gets_nothing_but_enrolment(void **state) {
  (void)state;
  struct message hello = hello_of(1);
  connect_stranger(&peer);
  peer_say(&peer, &hello);
  assert_true(peer_hear(&peer, &heard));
  assert_int_equal(heard.type, FRAME_ENROLLED);
  assert_non_null(strstr(heard.enrolled.error, "wrong_order"));
  assert_ends(&peer);
  assert_metric("refused_total{reason=\"wrong_order\"}", 1);
}

/* Sends BYTES without TLS and waits for the end. */
static void knock_with(const char *bytes) {
  char answer[512];
  int fd = peer_socket(ingest_port(door.ingest));
  assert_int_equal(send(fd, bytes, strlen(bytes), MSG_NOSIGNAL), strlen(bytes));
  while (recv(fd, answer, sizeof answer, 0) > 0) {
  }
  assert_int_not_equal(errno, EAGAIN);
  close(fd);
}

static void what_is_not_tls_is_closed_and_counted(void **state) {
  (void)state;
  enrol("edge-1");
  greet(&peer, "edge-1", 11);
  knock_with("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  knock_with("SSH-2.0-OpenSSH_9.2\r\n");
  send_batch(&peer, 11, 1);
  assert_acked(&peer, 1);
  assert_metric("handshakes_total{result=\"protocol\"}", 2);
  peer_close(&peer);
}

static void a_certificate_of_another_authority_is_refused(void **state) {
  (void)state;
  enrol("edge-1");
  EVP_PKEY *key = ca_files_read_key(path_of("edge-1", "key"));
  X509 *root = ca_files_read_certificate(ca_root_path(door.ca));
  char name[128];
  X509_NAME_get_text_by_NID(X509_get_subject_name(root), NID_commonName, name, sizeof name);
  struct certificate_terms root_terms = {.use = CERTIFICATE_ROOT, .name = name, .days = 10};
  struct certificate_terms terms = {.use = CERTIFICATE_BOARD,
                                    .name = "edge-1",
                                    .alt_names = "URI:spiffe://fleetprof/board/edge-1",
                                    .days = 10};
  EVP_PKEY *false_key = certificate_key_make();
  X509 *false_root = certificate_make(&root_terms, false_key, NULL, false_key);
  X509 *forged = certificate_make(&terms, key, false_root, false_key);
  assert_int_equal(ca_files_write_chain(path_of("edge-1", "crt"), forged, NULL), 0);
  int result = peer_connect(&peer, context_of("edge-1"), ingest_port(door.ingest));
  if (result == 1) assert_false(peer_hear(&peer, &heard)); /* TLS 1.3: told at the first read */
  peer_close(&peer);
  assert_metric("handshakes_total{result=\"unknown_ca\"}", 1);
  assert_metric("boards_connected", 0);
  X509_free(forged);
  X509_free(false_root);
  X509_free(root);
  EVP_PKEY_free(false_key);
  EVP_PKEY_free(key);
}

static void an_expired_certificate_is_refused_and_counted_as_such(void **state) {
  (void)state;
  char root_key_path[160];
  enrol("edge-1");
  snprintf(root_key_path, sizeof root_key_path, "%s/ca/root.key", door.dir);
  EVP_PKEY *key = ca_files_read_key(path_of("edge-1", "key"));
  EVP_PKEY *root_key = ca_files_read_key(root_key_path);
  X509 *root = ca_files_read_certificate(ca_root_path(door.ca));
  struct certificate_terms terms = {.use = CERTIFICATE_BOARD, .name = "edge-1", .days = 0};
  X509 *expired = certificate_make(&terms, key, root, root_key);
  assert_int_equal(ca_files_write_chain(path_of("edge-1", "crt"), expired, NULL), 0);
  usleep(1100 * 1000); /* its last second must be over */
  int result = peer_connect(&peer, context_of("edge-1"), ingest_port(door.ingest));
  if (result == 1) assert_false(peer_hear(&peer, &heard));
  peer_close(&peer);
  assert_metric("handshakes_total{result=\"expired\"}", 1);
  X509_free(expired);
  X509_free(root);
  EVP_PKEY_free(root_key);
  EVP_PKEY_free(key);
}

static void a_revoked_board_is_cut_off_and_refused_in_its_next_handshake(void **state) {
  (void)state;
  char why[256];
  struct message hello = hello_of(11);
  enrol("edge-1");
  enrol("edge-2");
  greet(&peer, "edge-1", 11);
  assert_int_equal(access_revoke(door.access, "edge-1"), 0);
  connect_board(&other, "edge-1"); /* the list is not read again yet: the hello is what meets it */
  assert_true(peer_say(&other, &hello));
  assert_true(peer_hear(&other, &heard));
  assert_int_equal(heard.type, FRAME_REJECT);
  assert_string_equal(heard.reject.reason, "the certificate of this board is revoked");
  assert_ends(&other);
  assert_true(peer_hear(&peer, &heard)); /* and its other session ends with the same words */
  assert_int_equal(heard.type, FRAME_REJECT);
  assert_true(heard.reject.permanent);
  assert_ends(&peer);
  int result = peer_connect(&peer, context_of("edge-1"), ingest_port(door.ingest));
  if (result == 1) assert_false(peer_hear(&peer, &heard));
  tls_failure(peer.ssl, why, sizeof why);
  peer_close(&peer);
  assert_metric("handshakes_total{result=\"revoked\"}", 1);
  greet(&other, "edge-2", 22);
  peer_close(&other);
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

/* Larger than what libevent holds by default: the buffer must grow for it, and shrink again. */
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

/* Three that say nothing: before TLS, after TLS, and in the middle of a frame. */
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

/* Reads this very program and finds its build-id. */
static struct span own_build_id(struct buf *file) {
  static const uint8_t note[] = {4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0};
  FILE *self = fopen("/proc/self/exe", "rb");
  uint8_t block[4096];
  for (size_t len; (len = fread(block, 1, sizeof block, self)) > 0;) buf_append(file, block, len);
  fclose(self);
  const uint8_t *at = memmem(file->data, file->len, note, sizeof note);
  assert_non_null(at);
  return span_of(at + sizeof note, 20);
}

static void send_piece(struct span file, struct span id, uint64_t offset, const uint8_t *sha256) {
  struct buf zstd = {0};
  size_t len = file.len - offset;
  if (len > LIMIT_DEBUG_CHUNK_BYTES) len = LIMIT_DEBUG_CHUNK_BYTES;
  assert_int_equal(compress(span_of(file.data + offset, len), 1, &zstd), 0);
  struct message piece = {.type = FRAME_DEBUG_CHUNK,
                          .debug_chunk = {.id = id,
                                          .offset = offset,
                                          .total = file.len,
                                          .sha256 = span_of(sha256, 32),
                                          .raw_len = (uint32_t)len,
                                          .zstd = buf_span(&zstd)}};
  assert_true(peer_say(&peer, &piece));
  buf_fini(&zstd);
}

static void a_module_without_a_name_is_asked_for_before_its_ack(void **state) {
  (void)state;
  struct buf file = {0};
  uint8_t sha256[32];
  struct symbol symbol;
  struct span id = own_build_id(&file);
  EVP_Digest(file.data, file.len, sha256, NULL, EVP_sha256(), NULL);
  enrol("edge-1");
  greet(&peer, "edge-1", 11);
  send_content(&peer, &(struct content){11, 1, 1, id});
  assert_true(peer_hear(&peer, &heard));
  assert_int_equal(heard.type, FRAME_DEBUG_WANTED);
  assert_true(span_is_equal(heard.debug_wanted.id, id));
  assert_string_equal(heard.debug_wanted.path, "/usr/bin/thing");
  assert_int_equal(heard.debug_wanted.offset, 0);
  assert_acked(&peer, 1);
  for (uint64_t at = 0; at < file.len; at += LIMIT_DEBUG_CHUNK_BYTES)
    send_piece(buf_span(&file), id, at, sha256);
  assert_true(peer_await(&peer, FRAME_DEBUG_END, &heard));
  assert_string_equal(heard.debug_end.reason, "");
  struct debug_file found;
  assert_int_equal(debug_store_find(door.debug, "edge-1", id, &found), 0);
  assert_true(found.quality >= DEBUG_SYMTAB);
  assert_int_equal(symbolizer_find(door.symbolizer, "edge-1", id, 1, &symbol), -ENOENT);
  send_content(&peer, &(struct content){11, 2, 2, id});
  assert_true(peer_hear(&peer, &heard));
  assert_int_equal(heard.type, FRAME_ACK);
  buf_fini(&file);
  peer_close(&peer);
}

static void a_debug_file_with_a_wrong_hash_ends_with_the_reason(void **state) {
  (void)state;
  static const uint8_t sha256[32] = {1};
  struct span file = span_of_string("\x7f"
                                    "ELF, or so it says");
  enrol("edge-1");
  greet(&peer, "edge-1", 11);
  send_batch(&peer, 11, 1);
  assert_true(peer_await(&peer, FRAME_DEBUG_WANTED, &heard));
  assert_acked(&peer, 1);
  send_piece(file, span_of_string("build-id"), 0, sha256);
  assert_true(peer_await(&peer, FRAME_DEBUG_END, &heard));
  assert_true(heard.debug_end.reason[0] != 0);
  send_batch(&peer, 11, 2);
  assert_acked(&peer, 2);
  peer_close(&peer);
}

static void a_debug_file_of_another_module_ends_with_that_reason(void **state) {
  (void)state;
  struct buf file = {0};
  uint8_t sha256[32];
  own_build_id(&file);
  EVP_Digest(file.data, file.len, sha256, NULL, EVP_sha256(), NULL);
  enrol("edge-1");
  greet(&peer, "edge-1", 11);
  send_batch(&peer, 11, 1);
  assert_true(peer_await(&peer, FRAME_DEBUG_WANTED, &heard));
  assert_acked(&peer, 1);
  for (uint64_t at = 0; at < file.len; at += LIMIT_DEBUG_CHUNK_BYTES)
    send_piece(buf_span(&file), span_of_string("build-id"), at, sha256);
  assert_true(peer_await(&peer, FRAME_DEBUG_END, &heard));
  if (strstr(heard.debug_end.reason, "another module") == NULL)
    fail_msg("%s", heard.debug_end.reason);
  buf_fini(&file);
  peer_close(&peer);
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

int main(void) {
  const struct CMUnitTest tests[] = {
#define AT_DOOR(test) cmocka_unit_test_setup_teardown(test, start, stop)
      AT_DOOR(two_boards_enrol_and_what_is_acked_is_stored),
      AT_DOOR(a_repeated_batch_is_acked_again_and_counted_once),
      AT_DOOR(wrong_used_and_expired_tokens_are_refused_in_words),
      AT_DOOR(a_broken_request_does_not_use_its_token_up),
      AT_DOOR(a_request_for_more_gets_a_board_s_certificate_only),
      AT_DOOR(a_stranger_gets_nothing_but_enrolment),
      AT_DOOR(what_is_not_tls_is_closed_and_counted),
      AT_DOOR(a_certificate_of_another_authority_is_refused),
      AT_DOOR(an_expired_certificate_is_refused_and_counted_as_such),
      AT_DOOR(a_revoked_board_is_cut_off_and_refused_in_its_next_handshake),
      AT_DOOR(a_malformed_batch_is_rejected_alone_and_counted_as_lost),
      AT_DOOR(an_envelope_that_lies_about_its_batch_is_rejected),
      AT_DOOR(frames_that_are_too_long_or_nonsense_end_only_their_session),
      AT_DOOR(half_a_frame_holds_nobody_up),
      AT_DOOR(a_frame_larger_than_the_input_buffer_comes_through),
      AT_DOOR(a_board_in_two_places_is_served_twice_and_noticed),
      AT_DOOR(what_was_sent_before_the_end_is_acked_before_the_end),
      AT_DOOR(who_says_nothing_is_sent_away_in_time),
      AT_DOOR(a_module_without_a_name_is_asked_for_before_its_ack),
      AT_DOOR(a_debug_file_with_a_wrong_hash_ends_with_the_reason),
      AT_DOOR(a_debug_file_of_another_module_ends_with_that_reason),
      AT_DOOR(pings_are_answered_and_keep_the_books),
      AT_DOOR(an_address_that_cannot_be_had_is_an_error_in_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
