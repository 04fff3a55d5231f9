/* SPDX-License-Identifier: Apache-2.0 */
/* A session, its peer's data, and its output; for tests of a session without a socket. */
#ifndef TESTS_SESSION_FIXTURE_H
#define TESTS_SESSION_FIXTURE_H

#include "ingest/session.h"

#include "common/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define NOW_NS (1800000000 * NS_PER_SECOND)

static struct figures figures;
static struct session session;
static struct buf wire; /* the peer's data */
static struct arena arena;
static struct job *job;

static inline int begin(void **state) {
  (void)state;
  memset(&figures, 0, sizeof figures);
  session_init(&session, 1, "http://page/", &figures);
  arena_init(&arena, 1 << 20);
  return 0;
}

static inline int end(void **state) {
  (void)state;
  session_fini(&session);
  buf_fini(&wire);
  arena_fini(&arena);
  job_free(job);
  job = NULL;
  return 0;
}

static inline void put(const struct message *message) {
  buf_clear(&wire);
  assert_int_equal(message_encode(message, &wire), 0);
}

/* Feeds BYTES one at a time, like a slow line. */
static inline long feed(struct span bytes) {
  long used = 0;
  for (size_t len = 1; len <= bytes.len && used == 0; len++) {
    if (len < session.need_bytes) continue;
    assert_true(session_wants_input(&session));
    used = session_receive(&session, span_of(bytes.data, len), NOW_NS, &job);
  }
  return used;
}

static inline long send_message(const struct message *message) {
  put(message);
  return feed(buf_span(&wire));
}

/* Takes the next frame that the session wants to send. */
static inline struct message answer(void) {
  struct frame frame;
  struct message message;
  char why[256];
  long len = frame_decode(buf_span(&session.out), &frame);
  assert_true(len > 0);
  assert_int_equal(message_decode(&frame, &arena, &message, why, sizeof why), 0);
  memmove(session.out.data, session.out.data + len, session.out.len - (size_t)len);
  session.out.len -= (size_t)len;
  return message;
}

static inline void finish(void) {
  session_finish(&session, job, NOW_NS);
  job_free(job);
  job = NULL;
}

static inline struct message hello(void) {
  return (struct message){.type = FRAME_HELLO,
                          .hello = {.version = LIMIT_PROTOCOL_VERSION,
                                    .boottime_ns = NS_PER_SECOND,
                                    .walltime_ns = NOW_NS,
                                    .arch = "x86_64",
                                    .counters = {.run = 7}}};
}

static inline struct message batch(uint64_t seq) {
  return (struct message){
      .type = FRAME_BATCH,
      .batch = {.run = 7, .seq = seq, .records = 1, .raw_len = 4, .zstd = span_of_string("zstd")}};
}

static inline void open_session(void) {
  struct message message = hello();
  session_start(&session, "edge-1");
  assert_true(send_message(&message) > 0);
  assert_int_equal(session.state, SESSION_ADMITTING);
  job->last_seq = 41;
  finish();
  assert_int_equal(session.state, SESSION_OPEN);
  buf_clear(&session.out);
}

static inline void assert_refused(enum refusal refusal) {
  assert_int_equal(session.state, SESSION_CLOSING);
  assert_int_equal(session.refusal, refusal);
  assert_int_equal(figures.refused[refusal], 1);
  assert_false(session_wants_input(&session));
}

#endif
