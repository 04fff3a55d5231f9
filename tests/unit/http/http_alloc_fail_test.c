/* SPDX-License-Identifier: Apache-2.0 */
/* Each kind of query with its first allocation failing, then its second, and so on until none
   fails. The answer is complete or reports the problem, and never a part; and nothing leaks
   (checked by the sanitizer build). */
#include "api_world.h"

#include "allocations_fail.h"

enum { ATTEMPTS_MAX = 20000, STRIDE = 7 }; /* TORTURE_LONG: each in turn */

/* Some answers change from one moment to the next. */
enum { IS_STEADY, IS_OF_NOW };

static const struct question {
  void (*handler)(struct request *request);
  int is_of_now;
  const char *argument;
  const char *parameters[5];
} questions[] = {
    {api_boards, IS_STEADY, NULL, {NULL}},
    {api_loss, IS_STEADY, NULL, {NULL}},
    {api_labels, IS_STEADY, NULL, {NULL}},
    {api_label_values, IS_STEADY, "board", {NULL}},
    {api_profile, IS_STEADY, NULL, {"format", "top", "match", "{board=~\"press-.*\"}"}},
    {api_profile, IS_STEADY, NULL, {"format", "tree", "by", "board"}},
    {api_profile, IS_STEADY, NULL, {"format", "columns"}},
    {api_profile, IS_STEADY, NULL, {"format", "folded"}},
    {api_profile,
     IS_OF_NOW,
     NULL,
     {"format", "pprof"}}, /* gzipped: its length depends on the order */
    {api_profile, IS_STEADY, NULL, {"format", "speedscope"}},
    {api_profile, IS_STEADY, NULL, {"format", "callgrind"}},
    {api_profile, IS_STEADY, NULL, {"format", "perf-script"}},
    {api_callers, IS_STEADY, NULL, {"function", "tool+0x20"}},
    {api_callees, IS_STEADY, NULL, {"function", "tool+0x10"}},
    {api_function, IS_STEADY, NULL, {"function", "tool+0x10"}},
    {api_load, IS_STEADY, NULL, {"by", "function"}},
    {api_load, IS_STEADY, NULL, {"by", "board"}},
    {api_series, IS_STEADY, NULL, {"by", "service", "step", "600"}},
    {api_diff, IS_STEADY, NULL, {"a", "{board=\"press-7\"}", "b", "{board=\"press-8\"}"}},
    {api_debug_list, IS_STEADY, NULL, {NULL}},
    {api_debug_files, IS_STEADY, NULL, {NULL}},
    {api_sources_list, IS_STEADY, NULL, {NULL}},
    {api_buildid, IS_STEADY, "01020304/debuginfo", {NULL}},
    {api_openapi, IS_STEADY, NULL, {NULL}},
    {api_metrics, IS_OF_NOW, NULL, {NULL}},
};

static int set_up_two(void **state) {
  int failed = set_up(state);
  if (failed) return failed;
  append_hundred("press-7", 77);
  append_hundred("press-8", 78);
  return 0;
}

/* Always over the same hours, so the answers are equal. */
static void put(const struct question *question, const char *from, const char *to) {
  end_request(NULL);
  request = (struct request){.service = &service,
                             .route = &of_samples,
                             .started_ns = clock_monotonic_ns(),
                             .argument = question->argument};
  arena_init(&request.arena, REQUEST_ARENA_BYTES);
  struct parameters *parameters = &request.parameters;
  for (const char *const *at = question->parameters; *at != NULL; at += 2)
    parameters->rows[parameters->count++] = (struct parameter){at[0], at[1]};
  parameters->rows[parameters->count++] = (struct parameter){"from", from};
  parameters->rows[parameters->count++] = (struct parameter){"to", to};
}

static void assert_is_whole_or_a_problem(const struct question *question, const struct buf *whole,
                                         int status, unsigned n) {
  const struct answer *answer = &request.answer;
  bool is_whole = question->is_of_now || answer->body.len == whole->len; /* in any order */
  if (answer->status == status && is_whole) return;
  if (answer->status >= 400) return;
  fail_msg("question %zu, allocation %u: status %d, %zu of %zu bytes: %.300s",
           (size_t)(question - questions), n, answer->status, answer->body.len, whole->len,
           answer->body.len > 0 ? (const char *)answer->body.data : "");
}

/* Returns how many allocations failed. */
static unsigned fail_each(const struct question *question, const char *from, const char *to) {
  struct buf whole = {0};
  unsigned n = 1, stride = getenv("TORTURE_LONG") != NULL ? 1 : STRIDE, failed = 0;
  put(question, from, to);
  question->handler(&request);
  int status = request.answer.status;
  buf_append(&whole, request.answer.body.data, request.answer.body.len);
  for (bool has_failed = true; has_failed && n < ATTEMPTS_MAX; n += stride) {
    put(question, from, to);
    allocations_fail_at(n);
    question->handler(&request);
    has_failed = allocations_fail_at(0);
    failed += has_failed;
    assert_is_whole_or_a_problem(question, &whole, status, n);
  }
  put(question, from, to);
  question->handler(&request);
  assert_is_whole_or_a_problem(question, &whole, status, 0);
  assert_int_equal(request.answer.status, status);
  buf_fini(&whole);
  return failed;
}

static void every_question_survives_every_failing_allocation(void **state) {
  (void)state;
  char from[32], to[32];
  uint64_t now_s = clock_walltime_ns() / NS_PER_SECOND;
  snprintf(from, sizeof from, "%llu", (unsigned long long)now_s - 3600);
  snprintf(to, sizeof to, "%llu", (unsigned long long)now_s);
  unsigned failed = 0;
  for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
    failed += fail_each(&questions[i], from, to);
  print_message("%u allocations failed\n", failed);
  assert_true(failed > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_question_survives_every_failing_allocation),
  };
  return cmocka_run_group_tests(tests, set_up_two, tear_down);
}
