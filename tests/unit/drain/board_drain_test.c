/* SPDX-License-Identifier: Apache-2.0 */
/* The records of the whole board, one by one. */
#include "common/options.h"
#include "drain/drain_parts.h"
#include "perf/perf_record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { BOARD = 1, RUN = 2, STRANGER = 0x3ffffff0 /* above every pid_max */, PERIOD_NS = 1000 };

static struct modules *modules;
static struct processes *processes;
static struct window *window;
static struct target board, other;
static struct targets targets;
static struct drain drain;
static struct counters tally;
static struct option_list allow, deny;

static void on_file(void *context, const struct module_found *found) {
  (void)context;
  (void)found;
}

static int make(void **state) {
  (void)state;
  memset(&tally, 0, sizeof tally);
  memset(&allow, 0, sizeof allow);
  memset(&deny, 0, sizeof deny);
  memset(&targets, 0, sizeof targets);
  board = (struct target){.held = {.id = BOARD, .kind = HOLD_BOARD, .period_ns = PERIOD_NS}};
  other = (struct target){.held = {.id = RUN, .kind = HOLD_TIMER, .pid = STRANGER}};
  targets.rows[0] = &board;
  targets.rows[1] = &other;
  if (modules_new(on_file, NULL, &modules) || processes_new(modules, &processes) ||
      window_new(modules, &window))
    return -1;
  drain = (struct drain){.targets = &targets,
                         .processes = processes,
                         .modules = modules,
                         .window = window,
                         .allow = &allow,
                         .deny = &deny};
  return 0;
}

static int unmake(void **state) {
  (void)state;
  window_free(window);
  processes_free(processes);
  modules_free(modules);
  return 0;
}

static void sample(int32_t pid, uint32_t kernel_depth, uint32_t depth) {
  struct perf_record record = {.kind = PERF_RECORD_KIND_SAMPLE, .pid = pid, .tid = pid};
  record.sample.period_ns = PERIOD_NS;
  record.sample.kernel_depth = kernel_depth;
  record.sample.depth = depth;
  for (uint32_t i = 0; i < depth; i++)
    record.sample.pc[i] = i < kernel_depth ? 0xffffffff80000000 + i : (uintptr_t)on_file + i;
  board_drain_record(&drain, &board, &record, &tally);
}

static void no_rate(void *context, uint32_t id, struct window_told *ret) {
  (void)context, (void)id, (void)ret;
}

static struct batch batch(void) {
  struct batch described;
  assert_int_equal(window_batch(window, no_rate, NULL, &described), 0);
  return described;
}

static void a_program_has_its_file_name(void **state) {
  (void)state;
  sample(getpid(), 0, 1);
  struct batch b = batch();
  assert_int_equal(tally.produced, 1);
  assert_int_equal(b.target_count, 1);
  assert_string_equal(b.targets[0].service, "unit_drain_board_drain_test");
  assert_string_equal(b.targets[0].sampler, "system");
  assert_int_equal(b.samples[0].weight, PERIOD_NS);
}

static void the_idle_task_counts_as_nothing(void **state) {
  (void)state;
  sample(0, 3, 3);
  assert_int_equal(tally.produced, 0);
  assert_int_equal(window_records(window), 0);
}

static void a_nameless_kernel_is_one_frame_above_the_program(void **state) {
  (void)state;
  sample(getpid(), 3, 4);
  struct batch b = batch();
  assert_int_equal(b.node_count, 2);
  const struct batch_node *leaf = &b.nodes[b.samples[0].node];
  assert_string_equal(b.modules[leaf->module].path, "[kernel]");
  assert_int_equal(leaf->address, 0);
  assert_true(leaf->parent != BATCH_NONE);
}

/* A stack of the board's with END, DEPTH frames deep. */
static void add_stack(enum stack_end end, enum sample_type type, uint32_t depth) {
  uint64_t pc[LIMIT_STACK_DEPTH + 1];
  for (unsigned i = 0; i <= LIMIT_STACK_DEPTH; i++) pc[i] = (uintptr_t)on_file + i;
  struct drain_stack stack = {.target = &board,
                              .process = processes_get(processes, getpid(), BOARD, -1),
                              .thread = "main",
                              .pc = pc,
                              .depth = depth,
                              .type = type,
                              .end = end,
                              .weight_ns = PERIOD_NS};
  drain_add(&drain, &stack, &tally);
}

/* Returns the depth of sample AT and its outermost module's path. */
static uint32_t depth_of(const struct batch *b, uint32_t at, const char **ret_root) {
  uint32_t depth = 0;
  for (uint32_t node = b->samples[at].node; node != BATCH_NONE; node = b->nodes[node].parent) {
    *ret_root = b->modules[b->nodes[node].module].path;
    depth++;
  }
  return depth;
}

static void a_stack_that_is_not_complete_has_its_end_at_its_root(void **state) {
  (void)state;
  static const char *const roots[] = {[STACK_TRUNCATED] = "[truncated]",
                                      [STACK_NO_TABLE] = "[no table]",
                                      [STACK_BAD] = "[bad stack]",
                                      [STACK_OTHER] = "[other stack]"};
  const char *root = NULL;
  for (unsigned end = 0; end < STACK_END_COUNT; end++)
    add_stack((enum stack_end)end, SAMPLE_CPU, 5 + end);
  add_stack(STACK_BAD, SAMPLE_CPU_LR, 1);
  struct batch b = batch();
  assert_int_equal(b.sample_count, STACK_END_COUNT + 1);
  for (unsigned end = 0; end < STACK_END_COUNT; end++) {
    bool is_short = end >= STACK_TRUNCATED;
    assert_int_equal(depth_of(&b, end, &root), 5 + end + is_short);
    if (is_short) assert_string_equal(root, roots[end]);
    assert_int_equal(board.stacks_ns[end], PERIOD_NS);
    assert_int_equal(drain.stacks_ns[end], PERIOD_NS);
  }
  assert_int_equal(depth_of(&b, STACK_END_COUNT, &root), 1); /* a PC alone is no stack */
}

static void no_stack_is_deeper_for_its_end(void **state) {
  (void)state;
  const char *root = NULL;
  add_stack(STACK_NO_TABLE, SAMPLE_CPU, LIMIT_STACK_DEPTH);
  add_stack(STACK_COMPLETE, SAMPLE_CPU, LIMIT_STACK_DEPTH + 1);
  struct batch b = batch();
  assert_int_equal(depth_of(&b, 0, &root), LIMIT_STACK_DEPTH);
  assert_string_equal(root, "[no table]");
  assert_int_equal(depth_of(&b, 1, &root), LIMIT_STACK_DEPTH);
  assert_string_equal(root, "[truncated]");
}

static void a_chain_of_the_kernels_tells_that_it_was_cut_and_no_more(void **state) {
  (void)state;
  sample(getpid(), 0, LIMIT_STACK_DEPTH - 2);
  sample(getpid(), 3, LIMIT_STACK_DEPTH - 1);
  assert_int_equal(board.stacks_ns[STACK_UNTOLD], PERIOD_NS);
  assert_int_equal(board.stacks_ns[STACK_TRUNCATED], PERIOD_NS);
  assert_int_equal(batch().targets[0].marks & MARK_ENDS_TOLD, 0);
  processes_get(processes, getpid(), BOARD, -1)->is_kernel = true;
  sample(getpid(), 3, 3);
  assert_int_equal(board.stacks_ns[STACK_COMPLETE], PERIOD_NS);
}

static void what_another_target_covers_is_left_to_it(void **state) {
  (void)state;
  assert_non_null(processes_get(processes, getpid(), RUN, -1));
  sample(getpid(), 0, 1);
  assert_int_equal(tally.produced, 0);
  assert_int_equal(processes_find(processes, getpid())->target, RUN);
}

static void a_child_is_covered_like_its_parent_until_it_executes(void **state) {
  (void)state;
  struct perf_record fork = {.kind = PERF_RECORD_KIND_FORK, .pid = STRANGER + 1};
  struct perf_record exec = {.kind = PERF_RECORD_KIND_COMM, .pid = STRANGER + 1};
  fork.task.parent_pid = getpid();
  exec.comm.is_exec = true;
  processes_get(processes, getpid(), RUN, -1);
  board_drain_record(&drain, &board, &fork, &tally);
  assert_int_equal(processes_find(processes, STRANGER + 1)->target, RUN);
  sample(STRANGER + 1, 0, 1);
  assert_int_equal(tally.produced, 0);
  board_drain_record(&drain, &board, &exec, &tally);
  sample(STRANGER + 1, 0, 1);
  assert_int_equal(tally.produced, 1);
}

static void a_perf_targets_process_stays_its_own_through_an_exec(void **state) {
  (void)state;
  struct perf_record exec = {.kind = PERF_RECORD_KIND_COMM, .pid = getpid()};
  exec.comm.is_exec = true;
  other.held.kind = HOLD_PERF;
  processes_get(processes, getpid(), RUN, -1);
  board_drain_record(&drain, &board, &exec, &tally);
  assert_int_equal(processes_find(processes, getpid())->target, RUN);
}

static void what_is_denied_is_time_without_a_name(void **state) {
  (void)state;
  deny.values[deny.count++] = "unit_drain_b*";
  sample(getpid(), 0, 1);
  struct batch b = batch();
  assert_int_equal(tally.produced, 1);
  assert_string_equal(b.targets[0].service, "[others]");
  assert_string_equal(b.targets[0].exe, "");
  assert_string_equal(b.threads[0].name, "");
  assert_string_equal(b.modules[0].path, "[others]");
  assert_int_equal(b.module_count, 1);
  assert_int_equal(b.samples[0].weight, PERIOD_NS);
}

static void only_what_is_allowed_and_not_denied_has_a_name(void **state) {
  (void)state;
  allow.values[allow.count++] = "nginx";
  sample(getpid(), 0, 1);
  assert_string_equal(batch().targets[0].service, "[others]");
  window_clear(window);
  allow.values[allow.count++] = "unit_*";
  sample(getpid(), 0, 1);
  assert_string_equal(batch().targets[0].service, "unit_drain_board_drain_test");
  window_clear(window);
  deny.values[deny.count++] = "*_test";
  sample(getpid(), 0, 1);
  assert_string_equal(batch().targets[0].service, "[others]");
}

static void threads_of_the_kernel_are_one_service(void **state) {
  (void)state;
  struct process *process = processes_get(processes, STRANGER, BOARD, -1);
  process->is_kernel = true;
  process_name_thread(process, STRANGER, "kworker/3:1");
  sample(STRANGER, 2, 2);
  struct batch b = batch();
  assert_string_equal(b.targets[0].service, "[kernel]");
  assert_string_equal(b.threads[0].name, "kworker/3:1");
  assert_int_equal(b.node_count, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)
      TEST(a_program_has_its_file_name),
      TEST(the_idle_task_counts_as_nothing),
      TEST(a_nameless_kernel_is_one_frame_above_the_program),
      TEST(a_stack_that_is_not_complete_has_its_end_at_its_root),
      TEST(no_stack_is_deeper_for_its_end),
      TEST(a_chain_of_the_kernels_tells_that_it_was_cut_and_no_more),
      TEST(what_another_target_covers_is_left_to_it),
      TEST(a_child_is_covered_like_its_parent_until_it_executes),
      TEST(a_perf_targets_process_stays_its_own_through_an_exec),
      TEST(what_is_denied_is_time_without_a_name),
      TEST(only_what_is_allowed_and_not_denied_has_a_name),
      TEST(threads_of_the_kernel_are_one_service),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
