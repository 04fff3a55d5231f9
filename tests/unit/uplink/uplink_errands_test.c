/* SPDX-License-Identifier: Apache-2.0 */
/* A collector's requests besides batches: debug files, commands. */
#include "uplink_fixture.h"

#include "proto/compress.h"
#include "proto/limits.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

static void a_wanted_file_is_sent_and_idle_waits_for_its_end(void **state) {
  struct bench *bench = *state;
  uint8_t id[LIMIT_MODULE_ID_BYTES];
  test_id = bench_own_build_id(id);
  if (test_id.len == 0) skip();
  debug_sender_note(bench->debug, test_id, "/x", "/proc/self/exe");
  bench_begin(bench, 1, want_a_file);
  bench_run_until(bench, bench_is_idle);
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
  bench_start_peer(bench, want_an_unknown_file);
  bench_start_uplink(bench);
  bench_run_until(bench, has_stepped);
  bench_run_until(bench, bench_is_idle);
}

static void an_unknown_command_is_answered(void **state) {
  struct bench *bench = *state;
  bench_start_peer(bench, give_a_command);
  bench_start_uplink(bench);
  bench_run_until(bench, has_stepped);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(a_wanted_file_is_sent_and_idle_waits_for_its_end),
      CASE(a_file_nobody_has_is_refused_with_a_reason),
      CASE(an_unknown_command_is_answered),
  };
  return cmocka_run_group_tests(tests, bench_begin_group, NULL);
}
