/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/window.h"

#include "common/arena.h"
#include "common/buf.h"
#include "common/text.h"
#include "proto/batch_codec.h"
#include "proto/limits.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct modules *modules;
static struct window *window;

static void on_file(void *context, const struct module_found *found) {
  (void)context;
  (void)found;
}

static void achieved(void *context, uint32_t target, struct window_told *ret) {
  (void)context;
  ret->asked_mhz = target == 4 ? 250000 : 0;
  ret->achieved_mhz = target * 1000;
}

static int make_window(void **state) {
  (void)state;
  return modules_new(on_file, NULL, &modules) || window_new(modules, &window);
}

static int free_window(void **state) {
  (void)state;
  window_free(window);
  modules_free(modules);
  return 0;
}

static const struct window_series series = {.target = 3,
                                            .service = "shop",
                                            .exe = "/usr/bin/shop",
                                            .labels = "rack=7\nbad\n=x\nzone=a=b",
                                            .sampler = "perf",
                                            .why = "",
                                            .exe_module = MODULE_NONE,
                                            .asked_mhz = 99000};

static int add(const struct window_series *of, const char *thread, const struct code_frame *frames,
               uint32_t depth) {
  struct window_sample sample = {of, thread, frames, depth, SAMPLE_CPU, STACK_UNTOLD, 1, 10000};
  return window_add(window, &sample);
}

static void what_was_told_of_an_ended_target_stays(void **state) {
  (void)state;
  struct batch batch;
  struct window_series other = series;
  const struct code_frame frame = {0, 10};
  const struct window_told told = {
      .achieved_mhz = 77, .marks = MARK_WENT_ON, .sampler = "timer", .why = "it fell"};
  other.target = 4;
  assert_int_equal(add(&series, "main", &frame, 1), 0);
  assert_int_equal(add(&other, "main", &frame, 1), 0);
  window_tell_target(window, 3, &told);
  assert_int_equal(window_batch(window, achieved, NULL, &batch), 0);
  assert_int_equal(batch.target_count, 2);
  assert_int_equal(batch.targets[0].achieved_mhz, 77);
  assert_int_equal(batch.targets[0].marks, MARK_WENT_ON);
  assert_string_equal(batch.targets[0].sampler, "timer");
  assert_string_equal(batch.targets[0].why, "it fell");
  assert_int_equal(batch.targets[1].achieved_mhz, 4000);
  assert_string_equal(batch.targets[1].sampler, "perf");
}

static void stacks_that_share_their_outer_frames_share_nodes(void **state) {
  (void)state;
  struct batch batch;
  const struct code_frame deep[] = {{0, 30}, {0, 20}, {0, 10}}, shallow[] = {{0, 20}, {0, 10}};
  assert_int_equal(add(&series, "main", deep, 3), 0);
  assert_int_equal(add(&series, "main", deep, 3), 0);
  assert_int_equal(add(&series, "main", shallow, 2), 0);
  assert_int_equal(window_records(window), 3);
  assert_int_equal(window_batch(window, achieved, NULL, &batch), 0);
  assert_int_equal(batch.node_count, 3);
  assert_int_equal(batch.sample_count, 2);
  assert_int_equal(batch.samples[0].count, 2);
  assert_int_equal(batch.samples[0].weight, 20000);
  assert_int_equal(batch.nodes[0].address, 10);
  assert_int_equal(batch.nodes[0].parent, BATCH_NONE);
  assert_int_equal(batch.nodes[batch.samples[0].node].address, 30);
  assert_int_equal(batch_record_count(&batch), 3);
}

static void add_weighing(uint64_t count, uint64_t weight) {
  const struct code_frame frame = {0, 10};
  struct window_sample sample = {&series,    "main",       &frame, 1,
                                 SAMPLE_CPU, STACK_UNTOLD, count,  weight};
  assert_int_equal(window_add(window, &sample), 0);
}

/* Ten at 1000 Hz, of varied periods, and two after the rate was lowered to 1 Hz. */
static void samples_of_unlike_weight_stay_apart(void **state) {
  (void)state;
  struct batch batch;
  for (unsigned i = 0; i < 10; i++) add_weighing(1, 800000 + i * 44000);
  add_weighing(1, 1000000000), add_weighing(1, 900000), add_weighing(1, 1000000000);
  assert_int_equal(window_batch(window, achieved, NULL, &batch), 0);
  assert_int_equal(batch.sample_count, 2);
  assert_int_equal(batch.samples[0].count, 11);
  assert_int_equal(batch.samples[1].count, 2);
  assert_int_equal(batch.samples[1].weight, 2000000000);
  assert_int_equal(batch.samples[1].node, batch.samples[0].node);
}

static void what_clocks_told_is_one_row_however_unlike(void **state) {
  (void)state;
  struct batch batch;
  for (uint64_t weight = 1; weight < 1000000000; weight *= 10) add_weighing(0, weight);
  add_weighing(1, 1000);
  assert_int_equal(window_batch(window, achieved, NULL, &batch), 0);
  assert_int_equal(batch.sample_count, 2); /* a sample among it is a separate row */
  assert_int_equal(batch.samples[0].weight, 111111111);
}

static void one_name_in_two_targets_is_two_threads(void **state) {
  (void)state;
  struct batch batch;
  const struct code_frame frame = {0, 1};
  struct window_series other = series;
  other.target = 4;
  add(&series, "main", &frame, 1);
  add(&other, "main", &frame, 1);
  add(&series, "io", &frame, 1);
  assert_int_equal(window_batch(window, achieved, NULL, &batch), 0);
  assert_int_equal(batch.target_count, 2);
  assert_int_equal(batch.thread_count, 3);
  assert_int_equal(batch.targets[0].achieved_mhz, 3000);
  assert_int_equal(batch.targets[1].achieved_mhz, 4000);
  assert_int_equal(batch.targets[0].asked_mhz, 99000); /* as it began */
  assert_int_equal(batch.targets[1].asked_mhz, 250000);
  assert_int_equal(batch.node_count, 1);
}

static void add_ending(const struct window_series *of, enum stack_end end, uint64_t count) {
  const struct code_frame frame = {0, 10};
  struct window_sample sample = {of, "main", &frame, 1, SAMPLE_CPU, end, count, 1000};
  assert_int_equal(window_add(window, &sample), 0);
}

static void ends_are_told_where_every_stack_of_a_target_tells(void **state) {
  (void)state;
  struct batch batch;
  struct window_series mixed = series, timed = series, alone = series;
  struct window_sample pair = {&alone, "main", &(struct code_frame){0, 10}, 1, SAMPLE_CPU_LR, 0,
                               1,      1000};
  mixed.target = 4, timed.target = 5, alone.target = 6;
  add_ending(&series, STACK_COMPLETE, 1);
  add_ending(&series, STACK_TRUNCATED, 1);
  add_ending(&series, STACK_UNTOLD, 0); /* clock time is no stack */
  add_ending(&mixed, STACK_COMPLETE, 1);
  add_ending(&mixed, STACK_UNTOLD, 1);
  add_ending(&timed, STACK_COMPLETE, 0);
  assert_int_equal(window_add(window, &pair), 0);
  assert_int_equal(window_batch(window, achieved, NULL, &batch), 0);
  assert_int_equal(batch.target_count, 4);
  assert_int_equal(batch.targets[0].marks, MARK_ENDS_TOLD);
  for (unsigned i = 1; i < 4; i++) assert_int_equal(batch.targets[i].marks, 0);
}

static void labels_are_split_and_nonsense_left_out(void **state) {
  (void)state;
  struct batch batch;
  const struct code_frame frame = {0, 1};
  add(&series, "main", &frame, 1);
  assert_int_equal(window_batch(window, achieved, NULL, &batch), 0);
  assert_int_equal(batch.targets[0].label_count, 2);
  assert_string_equal(batch.targets[0].labels[0].name, "rack");
  assert_string_equal(batch.targets[0].labels[0].value, "7");
  assert_string_equal(batch.targets[0].labels[1].value, "a=b");
}

static void texts_from_targets_are_cut_and_cleaned(void **state) {
  (void)state;
  struct batch batch;
  const struct code_frame frame = {0, 1};
  char service[LIMIT_NAME_BYTES + 50];
  struct window_series odd = series;
  memset(service, 's', sizeof service - 1);
  service[0] = '\n';
  service[sizeof service - 1] = '\0';
  odd.service = service;
  odd.exe = "/tmp/\xff\xfe";
  add(&odd, "\x1b[2J", &frame, 1);
  assert_int_equal(window_batch(window, achieved, NULL, &batch), 0);
  assert_int_equal(strlen(batch.targets[0].service), LIMIT_NAME_BYTES);
  assert_true(text_is_clean(span_of_string(batch.targets[0].service)));
  assert_true(text_is_clean(span_of_string(batch.targets[0].exe)));
  assert_true(text_is_clean(span_of_string(batch.threads[0].name)));
}

static void a_full_window_refuses_and_counts_nothing(void **state) {
  (void)state;
  struct code_frame frame = {0, 0};
  int error = 0;
  uint64_t taken = 0;
  while (!error && taken < 2 * WINDOW_NODES_MAX) {
    frame.address++;
    error = add(&series, "main", &frame, 1);
    if (!error) taken++;
    if (taken == WINDOW_NODES_MAX / 2) assert_false(window_is_nearly_full(window));
    if (taken == WINDOW_NODES_MAX * 4 / 5) assert_true(window_is_nearly_full(window));
  }
  assert_int_equal(error, -ENOSPC);
  assert_int_equal(taken, WINDOW_NODES_MAX);
  assert_int_equal(window_records(window), taken);
}

static void a_full_window_still_encodes_and_reads_back(void **state) {
  (void)state;
  struct batch batch, back;
  struct buf bytes = {0};
  struct arena arena;
  char why[256] = "";
  srand(1);
  for (unsigned i = 0; i < 40000; i++) {
    struct code_frame frames[40];
    unsigned depth = 1 + (unsigned)rand() % 40;
    for (unsigned k = 0; k < depth; k++)
      frames[k] = (struct code_frame){(uint32_t)(rand() % 4), (uint64_t)(rand() % 8)};
    add(&series, i % 2 ? "a" : "b", frames, depth);
  }
  assert_int_equal(window_batch(window, achieved, NULL, &batch), 0);
  memset(&batch.counters, 0, sizeof batch.counters);
  assert_int_equal(batch_encode(&batch, &bytes), 0);
  arena_init(&arena, LIMIT_BATCH_UNPACK_BYTES);
  assert_int_equal(batch_decode(buf_span(&bytes), &arena, &back, why, sizeof why), 0);
  assert_int_equal(batch_record_count(&back), window_records(window));
  arena_fini(&arena);
  buf_fini(&bytes);
}

static void an_emptied_window_begins_anew(void **state) {
  (void)state;
  struct batch batch;
  const struct code_frame frame = {0, 1};
  assert_int_equal(window_start_ns(window), 0);
  add(&series, "main", &frame, 1);
  assert_true(window_start_ns(window) > 0);
  window_clear(window);
  assert_int_equal(window_records(window), 0);
  assert_int_equal(window_start_ns(window), 0);
  add(&series, "main", &frame, 1);
  assert_int_equal(window_batch(window, achieved, NULL, &batch), 0);
  assert_int_equal(batch.node_count, 1);
  assert_string_equal(batch.modules[0].path, "[anon]");
  assert_int_equal(batch.modules[0].kind, MODULE_PSEUDO);
}

/* The weight that is left of a program with HONEST_NS beside a liar with LYING_NS. */
static uint64_t weight_left(uint64_t honest_ns, uint64_t lying_ns, uint64_t span_ns,
                            uint64_t times) {
  const struct code_frame frame = {0, 1};
  struct window_series liar = series;
  struct batch batch;
  uint64_t left = 0;
  liar.target = series.target + 1;
  window_clear(window);
  const struct window_sample samples[] = {{.series = &series,
                                           .thread = "a",
                                           .frames = &frame,
                                           .depth = 1,
                                           .count = 1,
                                           .weight = honest_ns},
                                          {.series = &liar,
                                           .thread = "a",
                                           .frames = &frame,
                                           .depth = 1,
                                           .count = 1,
                                           .weight = lying_ns}};
  for (int i = 0; i < 2; i++) assert_int_equal(window_add(window, &samples[i]), 0);
  window_limit_weight(window, span_ns, times);
  assert_int_equal(window_records(window), 2);
  assert_int_equal(window_batch(window, achieved, NULL, &batch), 0);
  for (uint32_t i = 0; i < batch.sample_count; i++) left += batch.samples[i].weight;
  return left;
}

/* 256 CPUs for 420 days: the product does not fit 64 bits. */
static void one_liar_on_a_big_old_board_is_cut(void **state) {
  const uint64_t days_420 = UINT64_C(420) * 24 * 3600 * 1000000000, most = LIMIT_BATCH_WEIGHT_NS;
  (void)state;
  assert_true(weight_left(9, most + 1, days_420, 512) == 9);
  assert_true(weight_left(9, UINT64_MAX, days_420, 512) == 9);
  assert_true(weight_left(9, most, days_420, 512) == 9);
  assert_true(weight_left(9, most - 9, days_420, 512) == most);
  assert_true(weight_left(9, most - 9, UINT64_C(1) << 55, 512) == most); /* 2^64 */
  assert_true(weight_left(9, 11, 5, 4) == 20);
  assert_true(weight_left(9, 12, 5, 4) == 9);
  assert_true(weight_left(9, 12, 5, 0) == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_window, free_window)
      TEST(what_was_told_of_an_ended_target_stays),
      TEST(stacks_that_share_their_outer_frames_share_nodes),
      TEST(samples_of_unlike_weight_stay_apart),
      TEST(what_clocks_told_is_one_row_however_unlike),
      TEST(one_name_in_two_targets_is_two_threads),
      TEST(ends_are_told_where_every_stack_of_a_target_tells),
      TEST(labels_are_split_and_nonsense_left_out),
      TEST(texts_from_targets_are_cut_and_cleaned),
      TEST(a_full_window_refuses_and_counts_nothing),
      TEST(a_full_window_still_encodes_and_reads_back),
      TEST(an_emptied_window_begins_anew),
      TEST(one_liar_on_a_big_old_board_is_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
