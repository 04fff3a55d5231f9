/* SPDX-License-Identifier: Apache-2.0 */
/* What a question allocates, wherever, is counted, and what is beyond its limit is refused by name:
   at whichever of its allocations that falls, the answer is whole or it is that. */
#include "api_world.h"

#include "common/meter.h"

enum { WINDOWS = 40, DEPTH = 12, RICH_BYTES = 256 << 20 };

static const char *const formats[] = {"top",         "tree",       "columns",   "folded",
                                      "pprof",       "speedscope", "callgrind", "perf-script"};

/* Stacks of which each has addresses of its own: 30 000 nodes. */
static int set_up_many(void **state) {
  static struct window window;
  int failed = set_up(state);
  uint64_t address = 0x1000, now_ms = clock_walltime_ns() / NS_PER_MS;
  for (uint64_t seq = 1; seq <= WINDOWS && !failed; seq++) {
    window_init(&window, "shop", 1);
    for (unsigned stack = 0; stack < STACKS_MAX; stack++) {
      uint64_t frames[DEPTH][2] = {{0, 0x100}};
      for (unsigned i = 1; i < DEPTH; i++) frames[i][1] = address += 16;
      window_add(&window, (const uint64_t(*)[2])frames, DEPTH, 1, 10);
    }
    window_append(&window, service.parts.store, "press-7", seq, now_ms - 60000);
  }
  return failed;
}

/* Asks for FORMAT within BYTES.  Returns the most that it took. */
static size_t ask_within(const char *format, size_t bytes) {
  end_request(NULL);
  meter_start(bytes);
  ask(api_profile, "format", format, NULL, NULL);
  return meter_stop();
}

static void a_question_takes_what_is_counted(void **state) {
  (void)state;
  size_t most = ask_within("tree", RICH_BYTES);
  assert_int_equal(request.answer.status, 0);
  assert_true(most > request.answer.body.len + request.arena.used_bytes);
  assert_true(most < RICH_BYTES / 4);
}

static void a_question_that_takes_more_is_refused_by_name(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    size_t enough = ask_within(formats[i], RICH_BYTES), refused = 0;
    assert_int_equal(request.answer.status, 0);
    for (size_t part = 1; part < 24; part++) {
      size_t limit = enough * part / 24, most = ask_within(formats[i], limit);
      const char *body = buf_text(&request.answer.body);
      assert_true(most < limit + limit / 8 + (1 << 20));
      if (request.answer.status == 0) continue; /* it went without what only speeds it up */
      assert_int_equal(request.answer.status, 422);
      assert_has(body, "\"detail\":\"limit memory: ");
      refused++;
    }
    assert_true(refused > 12);
    ask_within(formats[i], RICH_BYTES);
    assert_int_equal(request.answer.status, 0); /* nothing was kept of the failures */
  }
}

static void threads_that_ask_nothing_are_not_counted(void **state) {
  (void)state;
  void *large = malloc(64 << 20);
  assert_non_null(large);
  meter_start(1 << 20);
  void *more = malloc(2 << 20), *moved = realloc(NULL, 2 << 20);
  assert_null(more);
  assert_null(moved);
  assert_null(calloc(2, 1 << 20));
  assert_null(reallocarray(NULL, 2, 1 << 20));
  more = malloc(METER_SMALL_BYTES - 1);
  assert_non_null(more);
  free(more);
  free(large); /* was there before: so much more may be had now */
  more = malloc(2 << 20);
  assert_non_null(more);
  meter_stop();
  free(more);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_question_takes_what_is_counted),
      cmocka_unit_test(a_question_that_takes_more_is_refused_by_name),
      cmocka_unit_test(threads_that_ask_nothing_are_not_counted),
  };
  return cmocka_run_group_tests(tests, set_up_many, tear_down);
}
