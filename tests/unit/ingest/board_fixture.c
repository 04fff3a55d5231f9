/* SPDX-License-Identifier: Apache-2.0 */
#include "board_fixture.h"

#include "proto/batch_codec.h"
#include "proto/compress.h"
#include "store/store_read.h"

#include <openssl/pem.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct door door;
struct peer peer, other;
struct message heard;
struct request request;

int start(void **state) {
  (void)state;
  return door_start(&door);
}

int stop(void **state) {
  (void)state;
  door_stop(&door);
  return 0;
}

void assert_metric(const char *name, unsigned long value) {
  unsigned long found = door_metric(&door, name);
  for (unsigned i = 0; i < 500 && found != value; i++) {
    usleep(10000);
    found = door_metric(&door, name);
  }
  if (found != value) fail_msg("%s is %lu, not %lu", name, found, value);
}

static unsigned count_logged(const char *log, const char *line) {
  static char text[256 << 10];
  unsigned count = 0;
  char path[96];
  snprintf(path, sizeof path, "%s/%s", door.dir, log);
  FILE *file = fopen(path, "re");
  if (file == NULL) return 0;
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  for (const char *at = text; (at = strstr(at, line)) != NULL; at++) count++;
  return count;
}

static bool is_logged(const char *log, const char *line) {
  return count_logged(log, line) > 0;
}

void assert_audited(const char *line) {
  if (!is_logged("audit.log", line)) fail_msg("no \"%s\" in audit.log", line);
}

void assert_not_audited(const char *line) {
  if (is_logged("audit.log", line)) fail_msg("\"%s\" in audit.log", line);
}

void assert_denied(const char *line) {
  for (unsigned i = 0; i < 500 && !is_logged("denials.log", line); i++) usleep(10000);
  if (!is_logged("denials.log", line)) fail_msg("no \"%s\" in denials.log", line);
}

void assert_denied_once(const char *line) {
  access_audit_denial(door.access, "nobody", "the last of all"); /* they are written in order */
  assert_denied("nobody: the last of all");
  unsigned count = count_logged("denials.log", line);
  if (count != 1) fail_msg("\"%s\" is %u times in denials.log", line, count);
}

void make_token(const char *board, uint64_t ttl_ns, char token[ACCESS_TOKEN_BYTES]) {
  uint8_t fingerprint[32];
  ca_fingerprint(door.ca, fingerprint);
  assert_int_equal(access_token_make(door.access, ROLE_ENROLL, board, ttl_ns, fingerprint, token),
                   0);
}

void connect_stranger(struct peer *stranger) {
  uint8_t fingerprint[32];
  char error[256];
  ca_fingerprint(door.ca, fingerprint);
  SSL_CTX *context = tls_enrol_context(fingerprint, error, sizeof error);
  assert_int_equal(peer_connect(stranger, context, ingest_port(door.ingest)), 1);
}

struct enrolled ask_to_enrol(struct peer *stranger, const char *token, struct span csr) {
  struct message message = {
      .type = FRAME_ENROLL,
      .enroll = {.version = LIMIT_PROTOCOL_VERSION, .token = token, .csr = csr}};
  connect_stranger(stranger);
  assert_true(peer_say(stranger, &message));
  assert_true(peer_hear(stranger, &heard));
  assert_int_equal(heard.type, FRAME_ENROLLED);
  return heard.enrolled;
}

const char *path_of(const char *board, const char *what) {
  static char paths[4][160];
  static unsigned turn;
  char *path = paths[turn++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s.%s", door.dir, board, what);
  return path;
}

void enrol(const char *board) {
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

SSL_CTX *context_of(const char *board) {
  char error[256];
  struct tls_paths paths = {.certificate = path_of(board, "crt"),
                            .key = path_of(board, "key"),
                            .ca = path_of(board, "ca")};
  SSL_CTX *context = tls_client_context(&paths, error, sizeof error);
  if (context == NULL) fail_msg("%s", error);
  return context;
}

void connect_board(struct peer *board, const char *name) {
  assert_int_equal(peer_connect(board, context_of(name), ingest_port(door.ingest)), 1);
}

struct message hello_of(uint64_t run) {
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

void greet(struct peer *board, const char *name, uint64_t run) {
  struct message hello = hello_of(run);
  connect_board(board, name);
  assert_true(peer_say(board, &hello));
  assert_true(peer_hear(board, &heard));
  assert_int_equal(heard.type, FRAME_WELCOME);
}

struct envelope pack(const struct content *content, struct buf *raw, struct buf *zstd) {
  struct batch_module module = {
      .id = content->module_id, .path = "/usr/bin/thing", .kind = MODULE_ELF};
  struct batch_target target = {.service = "thing",
                                .exe = "/usr/bin/thing",
                                .sampler = "perf",
                                .asked_mhz = 199000,
                                .achieved_mhz = 98765,
                                .why = ""};
  struct batch_thread thread = {.name = "main"};
  struct batch_node node = {.parent = BATCH_NONE, .address = 0x1000};
  struct batch_sample sample = {.count = 1, .weight = 10 * NS_PER_MS};
  struct batch batch = {.start_boottime_ns = clock_boottime_ns() - NS_PER_SECOND,
                        .end_boottime_ns = clock_boottime_ns(),
                        .counters = {.run = content->run, .produced = content->produced},
                        .effort = {.asked_mhz = 1, .sample_ns = 61, .budget_state = "within"},
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

void send_content(struct peer *board, const struct content *content) {
  struct buf raw = {0}, zstd = {0};
  struct message message = {.type = FRAME_BATCH, .batch = pack(content, &raw, &zstd)};
  assert_true(peer_say(board, &message));
  buf_fini(&raw);
  buf_fini(&zstd);
}

void send_batch(struct peer *board, uint64_t run, uint64_t seq) {
  send_content(board, &(struct content){run, seq, seq, span_of_string("build-id")});
}

void assert_acked(struct peer *board, uint64_t seq) {
  assert_true(peer_await(board, FRAME_ACK, &heard));
  assert_int_equal(heard.ack.seq, seq);
}

void assert_ends(struct peer *board) {
  while (peer_hear(board, &heard)) {
  }
  assert_int_not_equal(errno, EAGAIN);
  peer_close(board);
}

static int on_board(void *context, const struct store_board *board) {
  struct board_figures *figures = context;
  if (strcmp(board->name, figures->name) != 0) return 0;
  figures->produced = board->produced;
  figures->stored = board->stored;
  figures->pending = board->pending;
  figures->achieved_mhz = board->achieved_mhz;
  figures->asked_mhz = board->effort.asked_mhz;
  figures->sample_ns = board->effort.sample_ns;
  snprintf(figures->sampler, sizeof figures->sampler, "%s", board->sampler);
  snprintf(figures->clock, sizeof figures->clock, "%s", board->clock);
  return 0;
}

struct board_figures figures_of(const char *name) {
  struct board_figures figures = {.name = name};
  assert_int_equal(store_boards(door.store, on_board, &figures), 0);
  return figures;
}
