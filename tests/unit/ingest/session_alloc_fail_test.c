/* SPDX-License-Identifier: Apache-2.0 */
/* A board's session with its first allocation failing, then its second, and so on until none is
   left to fail. The board is disconnected, or the session continues. No batch is acked that was not
   stored. Each stored batch is acked, or the board is disconnected, so that it sends it again. */
#include "ingest/session.h"

#include "common/clock.h"

#include "allocations_fail.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define NOW_NS (1800000000 * NS_PER_SECOND)

enum { ATTEMPTS_MAX = 5000, BATCHES = 3, ARENA_BYTES = 1 << 20 };

static struct figures figures;

struct talk {
  struct session session;
  struct buf wire;        /* the peer's messages, made before anything fails */
  unsigned stored, acked; /* batches */
  bool is_welcome, is_sent_away;
};

static void say(struct talk *talk, const struct message *message) {
  assert_int_equal(message_encode(message, &talk->wire), 0);
}

static void say_all(struct talk *talk) {
  const struct message hello = {.type = FRAME_HELLO,
                                .hello = {.version = LIMIT_PROTOCOL_VERSION,
                                          .boottime_ns = NS_PER_SECOND,
                                          .walltime_ns = NOW_NS,
                                          .arch = "x86_64",
                                          .counters = {.run = 7}}};
  const struct message ping = {.type = FRAME_PING};
  say(talk, &hello);
  for (uint64_t seq = 1; seq <= BATCHES; seq++) {
    const struct message batch = {.type = FRAME_BATCH,
                                  .batch = {.run = 7,
                                            .seq = seq,
                                            .records = 1,
                                            .raw_len = 4,
                                            .zstd = span_of_string("zstd")}};
    say(talk, &batch);
    say(talk, &ping);
  }
}

/* A worker that stores every batch. */
static void work(struct talk *talk, struct job *job) {
  static const struct debug_wanted wanted[] = {{.path = "/bin/a"}};
  if (job->kind == JOB_BATCH) {
    talk->stored++;
    job->wanted = wanted;
    job->wanted_count = 1;
  }
  session_finish(&talk->session, job, NOW_NS);
  job_free(job);
}

static void listen_all(struct talk *talk) {
  struct span wire = buf_span(&talk->wire);
  struct session *session = &talk->session;
  while (wire.len > 0 && session_wants_input(session)) {
    struct job *job = NULL;
    size_t shown = session->need_bytes < wire.len ? session->need_bytes : wire.len;
    long used = session_receive(session, span_of(wire.data, shown), NOW_NS, &job);
    if (job != NULL) work(talk, job);
    if (used < 0) break;
    wire = span_of(wire.data + used, wire.len - (size_t)used);
  }
}

/* Reads the messages sent to the peer. */
static void hear_all(struct talk *talk) {
  struct span out = buf_span(&talk->session.out);
  struct arena arena;
  arena_init(&arena, ARENA_BYTES);
  while (out.len > 0) {
    struct frame frame;
    struct message message;
    char why[256];
    long len = frame_decode(out, &frame);
    assert_true(len > 0); /* whole frames only */
    assert_int_equal(message_decode(&frame, &arena, &message, why, sizeof why), 0);
    talk->is_welcome |= message.type == FRAME_WELCOME;
    talk->acked += message.type == FRAME_ACK;
    out = span_of(out.data + len, out.len - (size_t)len);
  }
  talk->is_sent_away = talk->session.state == SESSION_CLOSING;
  arena_fini(&arena);
}

static struct talk hold(unsigned n, bool *ret_has_failed) {
  struct talk talk = {.stored = 0};
  session_init(&talk.session, 1, "http://page/", &figures);
  session_start(&talk.session, "edge-1");
  say_all(&talk);
  allocations_fail_at(n);
  listen_all(&talk);
  *ret_has_failed = allocations_fail_at(0);
  hear_all(&talk);
  session_fini(&talk.session);
  buf_fini(&talk.wire);
  return talk;
}

static void a_talk_survives_every_failing_allocation(void **state) {
  (void)state;
  unsigned n = 1, sent_away = 0;
  for (bool has_failed = true; has_failed && n < ATTEMPTS_MAX; n++) {
    struct talk talk = hold(n, &has_failed);
    assert_true(talk.acked <= talk.stored);
    assert_true(talk.is_sent_away || talk.acked == talk.stored);
    assert_true(talk.is_sent_away || (talk.is_welcome && talk.stored == BATCHES));
    sent_away += talk.is_sent_away;
    if (!has_failed) assert_false(talk.is_sent_away);
  }
  print_message("%u allocations failed, the board was sent away for %u\n", n - 2, sent_away);
  assert_true(n > 10 && sent_away > 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_talk_survives_every_failing_allocation)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
