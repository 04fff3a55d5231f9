/* SPDX-License-Identifier: Apache-2.0 */
#include "common/arena.h"
#include "common/buf.h"
#include "proto/limits.h"
#include "proto/messages.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { ARENA_BYTES = 4 << 20 };

static struct buf bytes;
static struct arena arena;
static struct message got;
static char why[256];
static uint8_t blob[LIMIT_BATCH_ZSTD_BYTES + 1];
static char long_text[LIMIT_PATH_BYTES + 2];

static int reset(void **state) {
  (void)state;
  buf_fini(&bytes);
  arena_fini(&arena);
  return 0;
}

/* Decodes the content of bytes into got. */
static int decode(void) {
  struct frame frame;
  arena_fini(&arena);
  arena_init(&arena, ARENA_BYTES);
  why[0] = '\0';
  assert_int_equal(frame_decode(buf_span(&bytes), &frame), (long)bytes.len);
  return message_decode(&frame, &arena, &got, why, sizeof why);
}

/* Sends MESSAGE into got. */
static void send(const struct message *message) {
  buf_clear(&bytes);
  assert_int_equal(message_encode(message, &bytes), 0);
  if (decode() != 0) fail_msg("%s", why);
  assert_int_equal(got.type, message->type);
}

static const char *text_of(size_t len) {
  memset(long_text, 'x', sizeof long_text);
  long_text[len] = '\0';
  return long_text;
}

static const struct label labels[] = {{"site", "north"}, {"empty", ""}};
static const struct counters counters = {
    .run = UINT64_MAX, .produced = INT64_MAX, .shipped = 5, .dropped = {1, 0, 3}, .final = 1};

static void expect_counters(const struct counters *a) {
  assert_memory_equal(a, &counters, offsetof(struct counters, final));
  assert_int_equal(a->final, counters.final);
}

static const struct effort effort = {
    .asked_mhz = 4000000,
    .rate_reason = "budget",
    .handler_p50_ns = 61,
    .handler_p99_ns = 480,
    .sample_ns = 13000,
    .daemon_cpu_ppm = 840,
    .added_cpu_ppm = 2100,
    .bytes_day = INT64_MAX,
    .budget_cpu_ppm = 2000,
    .budget_bytes_day = 5 << 20,
    .budget_state = "cpu",
    .stacks_ns = {[STACK_COMPLETE] = INT64_MAX - 7, [STACK_NO_TABLE] = 7}};

static void expect_effort(const struct effort *a) {
  assert_int_equal(a->asked_mhz, effort.asked_mhz);
  assert_string_equal(a->rate_reason, effort.rate_reason);
  assert_int_equal(a->handler_p50_ns, effort.handler_p50_ns);
  assert_int_equal(a->handler_p99_ns, effort.handler_p99_ns);
  assert_int_equal(a->sample_ns, effort.sample_ns);
  assert_int_equal(a->daemon_cpu_ppm, effort.daemon_cpu_ppm);
  assert_int_equal(a->added_cpu_ppm, effort.added_cpu_ppm);
  assert_true(a->bytes_day == effort.bytes_day);
  assert_int_equal(a->budget_cpu_ppm, effort.budget_cpu_ppm);
  assert_int_equal(a->budget_bytes_day, effort.budget_bytes_day);
  assert_string_equal(a->budget_state, effort.budget_state);
  assert_memory_equal(a->stacks_ns, effort.stacks_ns, sizeof a->stacks_ns);
}

static void a_hello_tells_of_earlier_boots(void **state) {
  static struct boot_time boots[LIMIT_BOOTS + 1] = {
      {.boot_id = "one", .offset_ns = 1764000000ULL * 1000000000, .alive_ns = 5},
      {.boot_id = "two", .alive_ns = INT64_MAX}};
  struct message sent = {.type = FRAME_HELLO, .hello = {.boot_count = 2, .boots = boots}};
  (void)state;
  send(&sent);
  assert_int_equal(got.hello.boot_count, 2);
  assert_memory_equal(got.hello.boots, boots, 2 * sizeof *boots);
  sent.hello.boot_count = LIMIT_BOOTS + 1;
  assert_int_equal(message_encode(&sent, &bytes), -EOVERFLOW);
  boots[0].offset_ns = UINT64_MAX; /* a nonsensical value from a peer */
  sent.hello.boot_count = 1;
  buf_clear(&bytes);
  assert_int_equal(message_encode(&sent, &bytes), 0);
  assert_int_equal(decode(), -EOVERFLOW);
}

static void hello_comes_back(void **state) {
  (void)state;
  struct message sent = {.type = FRAME_HELLO,
                         .hello = {.version = 1,
                                   .boot_id = "0123456789abcde",
                                   .boottime_ns = 1,
                                   .walltime_ns = INT64_MAX,
                                   .program_version = "0.1.0",
                                   .arch = "aarch64",
                                   .kernel = "Linux 6.1",
                                   .label_count = 2,
                                   .labels = labels,
                                   .first_seq = 9,
                                   .capabilities = UINT32_MAX,
                                   .counters = counters,
                                   .sampler = "perf",
                                   .achieved_mhz = 98990,
                                   .effort = effort}};
  send(&sent);
  assert_int_equal(got.hello.version, 1);
  assert_memory_equal(got.hello.boot_id, sent.hello.boot_id, BATCH_BOOT_ID_BYTES);
  assert_int_equal(got.hello.boottime_ns, 1);
  assert_true(got.hello.walltime_ns == INT64_MAX);
  assert_string_equal(got.hello.program_version, "0.1.0");
  assert_string_equal(got.hello.arch, "aarch64");
  assert_string_equal(got.hello.kernel, "Linux 6.1");
  assert_int_equal(got.hello.label_count, 2);
  assert_string_equal(got.hello.labels[0].value, "north");
  assert_string_equal(got.hello.labels[1].name, "empty");
  assert_int_equal(got.hello.first_seq, 9);
  assert_true(got.hello.capabilities == UINT32_MAX);
  expect_counters(&got.hello.counters);
  assert_string_equal(got.hello.sampler, "perf");
  assert_int_equal(got.hello.achieved_mhz, 98990);
  expect_effort(&got.hello.effort);
}

static void welcome_ack_and_reject_come_back(void **state) {
  (void)state;
  send(&(struct message){.type = FRAME_WELCOME,
                         .welcome = {1, 2, 3, "http://x/", 5, .prefix_bytes_max = 6}});
  assert_int_equal(got.welcome.version, 1);
  assert_int_equal(got.welcome.walltime_ns, 2);
  assert_int_equal(got.welcome.last_seq, 3);
  assert_string_equal(got.welcome.page_url, "http://x/");
  assert_int_equal(got.welcome.batch_bytes_max, 5);
  assert_int_equal(got.welcome.prefix_bytes_max, 6);
  send(&(struct message){.type = FRAME_ACK, .ack = {UINT64_MAX, 7}});
  assert_true(got.ack.run == UINT64_MAX);
  assert_int_equal(got.ack.seq, 7);
  send(&(struct message){.type = FRAME_REJECT, .reject = {1, 2, "no room", true, 500}});
  assert_int_equal(got.reject.run, 1);
  assert_int_equal(got.reject.seq, 2);
  assert_string_equal(got.reject.reason, "no room");
  assert_true(got.reject.permanent);
  assert_int_equal(got.reject.retry_after_ms, 500);
  assert_false(got.reject.over_quota);
}

static void patience_and_quotas_come_back(void **state) {
  (void)state;
  send(&(struct message){.type = FRAME_WELCOME, .welcome = {.return_within_ms = UINT32_MAX}});
  assert_true(got.welcome.return_within_ms == UINT32_MAX);
  send(&(struct message){.type = FRAME_PONG, .pong = {.return_within_ms = 25000}});
  assert_int_equal(got.pong.return_within_ms, 25000);
  send(&(struct message){.type = FRAME_REJECT, .reject = {.permanent = true, .over_quota = true}});
  assert_true(got.reject.over_quota);
}

static void a_batch_travels_up_to_its_limit(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof blob; i++) blob[i] = (uint8_t)(i * 31);
  struct message sent = {.type = FRAME_BATCH,
                         .batch = {.run = 1,
                                   .seq = 2,
                                   .records = 3,
                                   .raw_len = LIMIT_BATCH_RAW_BYTES,
                                   .zstd = span_of(blob, LIMIT_BATCH_ZSTD_BYTES),
                                   .after = 1}};
  send(&sent);
  assert_int_equal(got.batch.run, 1);
  assert_int_equal(got.batch.seq, 2);
  assert_int_equal(got.batch.records, 3);
  assert_int_equal(got.batch.after, 1);
  assert_int_equal(got.batch.raw_len, LIMIT_BATCH_RAW_BYTES);
  assert_true(span_is_equal(got.batch.zstd, sent.batch.zstd));
  sent.batch.zstd.len++;
  assert_int_equal(message_encode(&sent, &bytes), -EOVERFLOW);
  sent.batch.zstd.len--;
  sent.batch.raw_len++;
  assert_int_equal(message_encode(&sent, &bytes), -EOVERFLOW);
}

static void debug_messages_come_back(void **state) {
  (void)state;
  const struct span id = span_of("\xb1\x1d", 2), sha = span_of(blob, MESSAGE_SHA256_BYTES);
  send(&(struct message){.type = FRAME_DEBUG_WANTED, .debug_wanted = {id, "/usr/bin/x", 77}});
  assert_true(span_is_equal(got.debug_wanted.id, id));
  assert_string_equal(got.debug_wanted.path, "/usr/bin/x");
  assert_int_equal(got.debug_wanted.offset, 77);
  struct message chunk = {.type = FRAME_DEBUG_CHUNK,
                          .debug_chunk = {.id = id,
                                          .offset = LIMIT_DEBUG_FILE_BYTES - 10,
                                          .total = LIMIT_DEBUG_FILE_BYTES,
                                          .sha256 = sha,
                                          .raw_len = 10,
                                          .zstd = span_of(blob, LIMIT_DEBUG_CHUNK_ZSTD_BYTES)}};
  send(&chunk);
  assert_true(span_is_equal(got.debug_chunk.id, id));
  assert_true(got.debug_chunk.offset == LIMIT_DEBUG_FILE_BYTES - 10);
  assert_true(got.debug_chunk.total == LIMIT_DEBUG_FILE_BYTES);
  assert_true(span_is_equal(got.debug_chunk.sha256, sha));
  assert_int_equal(got.debug_chunk.raw_len, 10);
  assert_true(span_is_equal(got.debug_chunk.zstd, chunk.debug_chunk.zstd));
  send(&(struct message){.type = FRAME_DEBUG_END, .debug_end = {id, "over budget"}});
  assert_true(span_is_equal(got.debug_end.id, id));
  assert_string_equal(got.debug_end.reason, "over budget");
}

static void the_small_messages_come_back(void **state) {
  (void)state;
  send(&(struct message){.type = FRAME_PING, .ping = {1, 2, counters, "timer", 3, effort}});
  assert_int_equal(got.ping.boottime_ns, 1);
  assert_int_equal(got.ping.walltime_ns, 2);
  expect_counters(&got.ping.counters);
  assert_string_equal(got.ping.sampler, "timer");
  assert_int_equal(got.ping.achieved_mhz, 3);
  expect_effort(&got.ping.effort);
  send(&(struct message){.type = FRAME_PONG, .pong = {9}});
  assert_int_equal(got.pong.walltime_ns, 9);
  send(&(struct message){.type = FRAME_COMMAND, .command = {4, "rate", 2, labels}});
  assert_int_equal(got.command.id, 4);
  assert_string_equal(got.command.verb, "rate");
  assert_int_equal(got.command.argument_count, 2);
  assert_string_equal(got.command.arguments[0].name, "site");
  send(&(struct message){.type = FRAME_RESULT, .result = {4, "no such service"}});
  assert_int_equal(got.result.id, 4);
  assert_string_equal(got.result.error, "no such service");
}

static void enrolment_comes_back(void **state) {
  (void)state;
  const struct span csr = span_of(blob, LIMIT_CSR_BYTES);
  send(&(struct message){.type = FRAME_ENROLL, .enroll = {1, "fp_token", csr}});
  assert_int_equal(got.enroll.version, 1);
  assert_string_equal(got.enroll.token, "fp_token");
  assert_true(span_is_equal(got.enroll.csr, csr));
  const struct span largest = span_of(blob, LIMIT_CERTIFICATE_BYTES);
  send(&(struct message){.type = FRAME_ENROLLED, .enrolled = {"b1", largest, largest, ""}});
  assert_string_equal(got.enrolled.board, "b1");
  assert_true(span_is_equal(got.enrolled.certificate, largest));
  assert_true(span_is_equal(got.enrolled.ca, largest));
  assert_string_equal(got.enrolled.error, "");
}

static void renewal_comes_back(void **state) {
  (void)state;
  const struct span csr = span_of(blob, LIMIT_CSR_BYTES);
  const struct span largest = span_of(blob, LIMIT_CERTIFICATE_BYTES);
  send(&(struct message){.type = FRAME_RENEW, .renew = {csr}});
  assert_true(span_is_equal(got.renew.csr, csr));
  send(&(struct message){.type = FRAME_RENEWED, .renewed = {largest, largest, "no"}});
  assert_true(span_is_equal(got.renewed.certificate, largest));
  assert_true(span_is_equal(got.renewed.ca, largest));
  assert_string_equal(got.renewed.error, "no");
  send(&(struct message){.type = FRAME_WELCOME, .welcome = {.trust = 5, .renew_only = true}});
  assert_int_equal(got.welcome.trust, 5);
  assert_true(got.welcome.renew_only);
  send(&(struct message){.type = FRAME_PONG, .pong = {9, 6}});
  assert_int_equal(got.pong.trust, 6);
}

static void no_string_is_ever_null(void **state) {
  (void)state;
  send(&(struct message){.type = FRAME_HELLO});
  assert_string_equal(got.hello.kernel, "");
  assert_string_equal(got.hello.sampler, "");
  assert_string_equal(got.hello.effort.budget_state, "");
  assert_string_equal(got.hello.effort.rate_reason, "");
  assert_int_equal(got.hello.label_count, 0);
  send(&(struct message){.type = FRAME_ENROLLED});
  assert_string_equal(got.enrolled.board, "");
  assert_int_equal(got.enrolled.ca.len, 0);
}

static void stacks_with_an_end_of_tomorrow_are_not_told(void **state) {
  (void)state;
  static const char weights[] = "\x01\x02\x03\x04\x05\x06\x07"; /* a cell per end, one too many */
  send(&(struct message){.type = FRAME_PING, .ping = {.effort = effort}});
  for (size_t i = 0; i + 1 < bytes.len; i++) {
    bool is_field = bytes.data[i] == (12 << 3 | 2) && bytes.data[i + 1] == 12; /* its length */
    if (!is_field) continue;
    memcpy(bytes.data + i + 2, weights, 7);
    memset(bytes.data + i + 9, 0, 5);
    assert_int_equal(decode(), 0);
    assert_int_equal(got.ping.effort.stacks_ns[STACK_UNTOLD], 1 + 7);
    assert_int_equal(got.ping.effort.stacks_ns[STACK_BAD], 5);
    assert_int_equal(got.ping.effort.stacks_ns[STACK_OTHER], 6);
    memset(bytes.data + i + 2, 0xff, 12);
    assert_int_equal(decode(), -EBADMSG);
    memcpy(bytes.data + i + 2, "\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x01\0", 12);
    assert_int_equal(decode(), -EOVERFLOW);
    return;
  }
  fail_msg("the weights are not on the wire");
}

static void the_largest_hello_fits_a_control_frame(void **state) {
  (void)state;
  char name[LIMIT_NAME_BYTES + 1], value[LIMIT_VALUE_BYTES + 1];
  struct label many[LIMIT_LABELS];
  memset(name, 'n', sizeof name);
  memset(value, 'v', sizeof value);
  name[LIMIT_NAME_BYTES] = value[LIMIT_VALUE_BYTES] = '\0';
  for (size_t i = 0; i < LIMIT_LABELS; i++) many[i] = (struct label){name, value};
  send(&(struct message){.type = FRAME_HELLO,
                         .hello = {.label_count = LIMIT_LABELS, .labels = many, .kernel = value}});
  assert_int_equal(got.hello.label_count, LIMIT_LABELS);
  assert_string_equal(got.hello.labels[LIMIT_LABELS - 1].value, value);
}

static void what_is_over_a_limit_does_not_leave(void **state) {
  (void)state;
  const struct span id = span_of(blob, LIMIT_MODULE_ID_BYTES + 1);
  const struct message refused[] = {
      {.type = FRAME_HELLO, .hello = {.arch = text_of(LIMIT_PATH_BYTES + 1)}},
      {.type = FRAME_HELLO, .hello = {.label_count = LIMIT_LABELS + 1, .labels = labels}},
      {.type = FRAME_WELCOME, .welcome = {.page_url = long_text}},
      {.type = FRAME_REJECT, .reject = {.reason = long_text}},
      {.type = FRAME_DEBUG_WANTED, .debug_wanted = {.path = long_text}},
      {.type = FRAME_DEBUG_WANTED, .debug_wanted = {.id = id}},
      {.type = FRAME_DEBUG_CHUNK, .debug_chunk = {.raw_len = LIMIT_DEBUG_CHUNK_BYTES + 1}},
      {.type = FRAME_DEBUG_CHUNK, .debug_chunk = {.total = LIMIT_DEBUG_FILE_BYTES + 1}},
      {.type = FRAME_DEBUG_CHUNK, .debug_chunk = {.sha256 = id}},
      {.type = FRAME_DEBUG_END, .debug_end = {.reason = long_text}},
      {.type = FRAME_PING, .ping = {.sampler = long_text}},
      {.type = FRAME_PING, .ping = {.effort = {.budget_state = long_text}}},
      {.type = FRAME_HELLO, .hello = {.effort = {.rate_reason = long_text, .budget_state = "x"}}},
      {.type = FRAME_COMMAND, .command = {.verb = long_text}},
      {.type = FRAME_RESULT, .result = {.error = long_text}},
      {.type = FRAME_ENROLL, .enroll = {.token = long_text}},
      {.type = FRAME_ENROLL, .enroll = {.csr = span_of(blob, LIMIT_CSR_BYTES + 1)}},
      {.type = FRAME_ENROLLED, .enrolled = {.ca = span_of(blob, LIMIT_CERTIFICATE_BYTES + 1)}},
      {.type = FRAME_RENEW, .renew = {span_of(blob, LIMIT_CSR_BYTES + 1)}},
      {.type = FRAME_RENEWED, .renewed = {.ca = span_of(blob, LIMIT_CERTIFICATE_BYTES + 1)}},
  };
  buf_append_string(&bytes, "before");
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    if (message_encode(&refused[i], &bytes) != -EOVERFLOW) fail_msg("case %zu is sent", i);
    assert_int_equal(bytes.len, 6);
  }
  assert_int_equal(message_encode(&(struct message){.type = FRAME_TYPE_END}, &bytes), -EINVAL);
  assert_int_equal(message_encode(&(struct message){0}, &bytes), -EINVAL);
}

/* Builds a frame of TYPE with one length-delimited field. */
static void write_field(enum frame_type type, unsigned field, const void *data, size_t len) {
  uint8_t header[FRAME_HEADER_BYTES];
  buf_clear(&bytes);
  frame_header_encode(type, (uint32_t)(len < 128 ? len + 2 : len + 3), header);
  buf_append(&bytes, header, sizeof header);
  buf_append_byte(&bytes, (uint8_t)(field << 3 | 2));
  if (len >= 128) buf_append_byte(&bytes, (uint8_t)(len | 0x80));
  buf_append_byte(&bytes, (uint8_t)(len >= 128 ? len >> 7 : len));
  buf_append(&bytes, data, len);
}

static void what_arrives_over_a_limit_is_refused_by_name(void **state) {
  (void)state;
  static const struct {
    enum frame_type type;
    unsigned field;
    size_t len;
    const char *name;
  } cases[] = {
      {FRAME_WELCOME, 4, LIMIT_PATH_BYTES + 1, "page URL is 1025 bytes long, LIMIT_PATH_BYTES"},
      {FRAME_REJECT, 3, LIMIT_VALUE_BYTES + 1, "LIMIT_VALUE_BYTES"},
      {FRAME_DEBUG_WANTED, 1, LIMIT_MODULE_ID_BYTES + 1, "LIMIT_MODULE_ID_BYTES"},
      {FRAME_DEBUG_END, 1, LIMIT_MODULE_ID_BYTES + 1, "LIMIT_MODULE_ID_BYTES"},
      {FRAME_COMMAND, 2, LIMIT_NAME_BYTES + 1, "LIMIT_NAME_BYTES"},
      {FRAME_RESULT, 2, LIMIT_VALUE_BYTES + 1, "LIMIT_VALUE_BYTES"},
      {FRAME_ENROLL, 2, LIMIT_TOKEN_BYTES + 1, "LIMIT_TOKEN_BYTES"},
      {FRAME_ENROLL, 3, LIMIT_CSR_BYTES + 1, "LIMIT_CSR_BYTES"},
      {FRAME_ENROLLED, 1, LIMIT_NAME_BYTES + 1, "LIMIT_NAME_BYTES"},
  };
  memset(blob, 'x', sizeof blob);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_field(cases[i].type, cases[i].field, blob, cases[i].len);
    if (decode() != -EOVERFLOW) fail_msg("case %zu is taken", i);
    if (strstr(why, cases[i].name) == NULL) fail_msg("case %zu: %s", i, why);
    write_field(cases[i].type, cases[i].field, blob, cases[i].len - 1);
    assert_int_equal(decode(), 0);
  }
}

static void what_contradicts_itself_is_refused(void **state) {
  (void)state;
  static const struct {
    enum frame_type type;
    const char *payload;
    size_t len;
    const char *words;
  } cases[] = {
      {FRAME_RESULT, "\x12\x01\n", 3, "error holds control characters"},
      {FRAME_RESULT, "\x12\x05x", 3, "not a protobuf message"},
      {FRAME_HELLO, "", 0, "boot id is 0 bytes long"},
      {FRAME_HELLO,
       "\x12\x10"
       "0123456789abcdef",
       18, "the counters are missing"},
      {FRAME_PING, "", 0, "the counters are missing"},
      {FRAME_DEBUG_END, "", 0, "module id is empty"},
      {FRAME_DEBUG_WANTED, "", 0, "module id is empty"},
      {FRAME_DEBUG_CHUNK, "\x0a\x01i\x10\x05\x18\x04", 7, "ends behind the end of its file"},
      {FRAME_DEBUG_CHUNK, "\x0a\x01i\x18\x04\x28\x05", 7, "ends behind the end of its file"},
      {FRAME_DEBUG_CHUNK, "\x0a\x01i", 3, "SHA-256 is 0 bytes long"},
      {FRAME_COMMAND, "\x1a\x00", 2, "a label has no name"},
      {FRAME_ACK, "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11,
       "seq is 18446744073709551615"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct frame frame = {cases[i].type, span_of(cases[i].payload, cases[i].len)};
    arena_fini(&arena);
    arena_init(&arena, ARENA_BYTES);
    got.type = FRAME_TYPE_END;
    int error = message_decode(&frame, &arena, &got, why, sizeof why);
    if (error != -EBADMSG && error != -EOVERFLOW) fail_msg("case %zu is taken", i);
    if (strstr(why, cases[i].words) == NULL) fail_msg("case %zu: %s", i, why);
    assert_int_equal(got.type, FRAME_TYPE_END);
  }
  const struct frame unknown = {FRAME_TYPE_END, {0}};
  assert_int_equal(message_decode(&unknown, &arena, &got, why, sizeof why), -EBADMSG);
}

static void odd_strings_are_sent_clean(void **state) {
  (void)state;
  const struct label odd[] = {{"na\tme", "\xff"}};
  send(&(struct message){.type = FRAME_COMMAND, .command = {1, "a\nb", 1, odd}});
  assert_string_equal(got.command.verb, "a?b");
  assert_string_equal(got.command.arguments[0].name, "na?me");
  assert_string_equal(got.command.arguments[0].value, "?");
}

static void frames_follow_each_other_in_one_buffer(void **state) {
  (void)state;
  struct frame frame;
  assert_int_equal(message_encode(&(struct message){.type = FRAME_PONG, .pong = {7}}, &bytes), 0);
  assert_int_equal(message_encode(&(struct message){.type = FRAME_ACK, .ack = {1, 2}}, &bytes), 0);
  long first = frame_decode(buf_span(&bytes), &frame);
  assert_true(first > 0);
  assert_int_equal(frame.type, FRAME_PONG);
  struct span rest = buf_span(&bytes), skipped;
  assert_true(span_take(&rest, (size_t)first, &skipped));
  assert_int_equal(frame_decode(rest, &frame), (long)rest.len);
  assert_int_equal(frame.type, FRAME_ACK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(a_hello_tells_of_earlier_boots, reset),
      cmocka_unit_test_teardown(hello_comes_back, reset),
      cmocka_unit_test_teardown(welcome_ack_and_reject_come_back, reset),
      cmocka_unit_test_teardown(patience_and_quotas_come_back, reset),
      cmocka_unit_test_teardown(a_batch_travels_up_to_its_limit, reset),
      cmocka_unit_test_teardown(debug_messages_come_back, reset),
      cmocka_unit_test_teardown(the_small_messages_come_back, reset),
      cmocka_unit_test_teardown(enrolment_comes_back, reset),
      cmocka_unit_test_teardown(renewal_comes_back, reset),
      cmocka_unit_test_teardown(no_string_is_ever_null, reset),
      cmocka_unit_test_teardown(stacks_with_an_end_of_tomorrow_are_not_told, reset),
      cmocka_unit_test_teardown(the_largest_hello_fits_a_control_frame, reset),
      cmocka_unit_test_teardown(what_is_over_a_limit_does_not_leave, reset),
      cmocka_unit_test_teardown(what_arrives_over_a_limit_is_refused_by_name, reset),
      cmocka_unit_test_teardown(what_contradicts_itself_is_refused, reset),
      cmocka_unit_test_teardown(odd_strings_are_sent_clean, reset),
      cmocka_unit_test_teardown(frames_follow_each_other_in_one_buffer, reset),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
