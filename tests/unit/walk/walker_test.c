/* SPDX-License-Identifier: Apache-2.0 */
#include "table_fixture.h"
#include "targets/process_maps.h"
#include "walk/walker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum {
  PATIENCE_MS = 20000,
  CODE = 0x10000,
  CODE_END = 0x20000,
  JIT = 0x30000,
  SP = 0x70000,
  ROOM = 8
};
enum { OF_STARTS = 9 /* a module in which everything begins a thread */ };

static struct modules *modules;
static struct table_store *store;
static struct walker walker;
static struct process process;
static uint64_t pcs[ROOM], words[8];
static struct unwind_path path;
static const struct walker_chain no_chain;

static enum table_state build(const struct table_wanted *wanted, struct buf *ret, char *why) {
  struct unwind_rule *rule;
  (void)why;
  fixture_table(2 * sizeof(uintptr_t), ret);
  rule = (struct unwind_rule *)(void *)(ret->data + ret->len - sizeof *rule);
  if (wanted->id[0] == OF_STARTS) rule->cfa = UNWIND_CFA_END;
  return TABLE_READY;
}

static void on_file(void *context, const struct module_found *found) {
  (void)context;
  (void)found;
}

static void map(uint64_t start, uint64_t end, uint8_t first) {
  struct table_wanted wanted = fixture_wanted(first);
  struct batch_module module = {.path = "/some/module", .id = fixture_id(&wanted)};
  struct process_map one = {.start = start, .end = end, .module = modules_adopt(modules, &module)};
  process_maps_insert(&process, &one);
}

static int make(void **state) {
  (void)state;
  if (modules_new(on_file, NULL, &modules) || table_store_new(NULL, build, &store)) return -1;
  walker_init(&walker, modules, store);
  process = (struct process){.pid = getpid(), .maps_serial = 1};
  path = (struct unwind_path){.pcs = pcs, .room = ROOM};
  map(CODE, CODE_END, 1);
  return 0;
}

static int unmake(void **state) {
  (void)state;
  walker_fini(&walker);
  table_store_free(store);
  modules_free(modules);
  free(process.maps);
  return 0;
}

/* Three frames of two words; the first two return into the code, the third begins the thread. */
static struct perf_copy copy_of_three(void) {
  uintptr_t *stack = (uintptr_t *)(void *)words;
  memset(words, 0, sizeof words);
  stack[1] = CODE + 0x100;
  stack[3] = CODE + 0x200;
  return (struct perf_copy){.word = sizeof(uintptr_t) == 8 ? PERF_WORD_64 : PERF_WORD_32,
                            .pc = CODE + 0x10,
                            .sp = SP,
                            .stack = span_of((const uint8_t *)words, sizeof words)};
}

static void make_tables(void) {
  for (int ms = 0; ms < PATIENCE_MS && table_store_is_busy(store); ms++) {
    table_store_step(store);
    usleep(1000);
  }
}

static void a_stack_is_walked_as_soon_as_its_table_is_there(void **state) {
  (void)state;
  struct perf_copy copy = copy_of_three();
  assert_true(walker_should_wait(&walker, &process, &copy));
  walker_walk(&walker, &process, &copy, &no_chain, &path);
  assert_int_equal(path.depth, 1);
  make_tables();
  assert_false(walker_should_wait(&walker, &process, &copy));
  walker_walk(&walker, &process, &copy, &no_chain, &path);
  assert_int_equal(path.end, UNWIND_COMPLETE);
  assert_int_equal(path.depth, 3);
  assert_int_equal(pcs[1], CODE + 0x100);
  assert_int_equal(pcs[2], CODE + 0x200);
}

static void a_table_that_no_frame_needs_is_not_waited_for(void **state) {
  (void)state;
  struct perf_copy copy = copy_of_three();
  walker_should_wait(&walker, &process, &copy);
  make_tables();
  map(CODE_END, CODE_END + 0x1000, 2);
  assert_false(walker_should_wait(&walker, &process, &copy));
  assert_true(table_store_is_busy(store));
}

static void what_was_mapped_since_is_known(void **state) {
  (void)state;
  struct perf_copy copy = copy_of_three();
  ((uintptr_t *)(void *)words)[1] = CODE_END + 0x100; /* code that is mapped later */
  walker_should_wait(&walker, &process, &copy);
  make_tables();
  walker_walk(&walker, &process, &copy, &no_chain, &path);
  assert_int_equal(path.end, UNWIND_BAD);
  map(CODE_END, CODE_END + 0x1000, 1);
  walker_walk(&walker, &process, &copy, &no_chain, &path);
  assert_int_equal(path.end, UNWIND_COMPLETE);
  assert_int_equal(pcs[1], CODE_END + 0x100);
  process_exec(&process, "other");
  walker_walk(&walker, &process, &copy, &no_chain, &path);
  assert_int_equal(path.depth, 1);
}

static void a_copy_that_ends_too_soon_is_told(void **state) {
  (void)state;
  struct perf_copy copy = copy_of_three();
  copy.stack.len = 3 * sizeof(uintptr_t);
  walker_should_wait(&walker, &process, &copy);
  make_tables();
  walker_walk(&walker, &process, &copy, &no_chain, &path);
  assert_int_equal(path.end, UNWIND_TRUNCATED);
  assert_int_equal(path.depth, 2);
}

static void what_cannot_be_walked_is_where_it_was(void **state) {
  (void)state;
  struct perf_copy copy = copy_of_three();
  copy.word = sizeof(uintptr_t) == 8 ? PERF_WORD_32 : PERF_WORD_64;
  walker_walk(&walker, &process, &copy, &no_chain, &path);
  assert_int_equal(path.depth, 1);
  assert_int_equal(path.end, UNWIND_UNKNOWN);
  assert_int_equal(walker.foreign, 1);
  copy = copy_of_three();
  copy.sp++;
  walker_walk(&walker, &process, &copy, &no_chain, &path);
  assert_int_equal(path.end, UNWIND_BAD);
  copy.sp = UINTPTR_MAX - sizeof(uintptr_t) + 1;
  walker_walk(&walker, &process, &copy, &no_chain, &path);
  assert_int_equal(path.end, UNWIND_BAD);
  assert_int_equal(pcs[0], CODE + 0x10);
}

/* More of them than are kept. */
static void processes_are_not_taken_for_each_other(void **state) {
  (void)state;
  struct perf_copy copy = copy_of_three();
  struct process other = {.pid = 0};
  walker_should_wait(&walker, &process, &copy);
  make_tables();
  for (int round = 0; round < 2; round++)
    for (pid_t pid = 100; pid < 100 + 2 * PROCESS_CODES_MAX; pid++) {
      other.pid = pid;
      other.maps_serial = 1;
      walker_walk(&walker, &other, &copy, &no_chain, &path);
      assert_int_equal(path.depth, 1);
    }
  walker_walk(&walker, &process, &copy, &no_chain, &path);
  assert_int_equal(path.depth, 3);
}

static void expect(enum unwind_end end, unsigned depth, const uint64_t *expected) {
  assert_int_equal(path.depth, depth);
  for (unsigned i = 0; i < depth; i++) assert_int_equal(pcs[i], expected[i]);
  assert_int_equal(path.end, end);
}

#define LIST(...)                                                      \
  sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (uint64_t[]) { \
    __VA_ARGS__                                                        \
  }

/* Walks the first WORDS of copy_of_three, where the return address of the Nth frame is INSTEAD if N
   is not 0. */
static void walk_with(unsigned words_copied, unsigned n, uint64_t instead, unsigned chain_depth,
                      const uint64_t *chain_pcs) {
  struct perf_copy copy = copy_of_three();
  struct walker_chain chain = {.pcs = chain_pcs, .depth = chain_depth};
  if (n != 0) ((uintptr_t *)(void *)words)[2 * n - 1] = (uintptr_t)instead;
  copy.stack.len = words_copied * sizeof(uintptr_t);
  walker_should_wait(&walker, &process, &copy);
  make_tables();
  walker_walk(&walker, &process, &copy, &chain, &path);
}

enum { LEAF = CODE + 0x10, FIRST = CODE + 0x100, SECOND = CODE + 0x200, THIRD = CODE + 0x300 };

static void callers_beyond_the_copy_follow_from_the_kernels_chain(void **state) {
  (void)state;
  walk_with(3, 0, 0, LIST(LEAF, FIRST, SECOND, THIRD));
  expect(UNWIND_TRUNCATED, LIST(LEAF, FIRST, SECOND, THIRD));
  walk_with(5, 0, 0, LIST(LEAF, FIRST, THIRD)); /* a function without a frame pointer between */
  expect(UNWIND_TRUNCATED, LIST(LEAF, FIRST, SECOND, THIRD));
  walk_with(5, 2, FIRST, LIST(LEAF, FIRST, FIRST, FIRST, THIRD)); /* recursion */
  expect(UNWIND_TRUNCATED, LIST(LEAF, FIRST, FIRST, FIRST, THIRD));
}

static void a_chain_is_followed_only_from_a_caller_that_was_found_as_well(void **state) {
  (void)state;
  walk_with(3, 0, 0, LIST(LEAF, SECOND, THIRD));
  expect(UNWIND_TRUNCATED, LIST(LEAF, FIRST));
  walk_with(3, 0, 0, LIST(LEAF + 1, FIRST, THIRD)); /* of another sample */
  expect(UNWIND_TRUNCATED, LIST(LEAF, FIRST));
  walk_with(3, 0, 0, LIST(LEAF, FIRST));
  expect(UNWIND_TRUNCATED, LIST(LEAF, FIRST));
  walk_with(1, 0, 0, LIST(LEAF, FIRST, SECOND)); /* the frame pointer may be any value */
  expect(UNWIND_TRUNCATED, LIST(LEAF));
}

static void a_chain_is_followed_as_long_as_it_is_code_and_as_there_is_room(void **state) {
  (void)state;
  walk_with(3, 0, 0, LIST(LEAF, FIRST, SECOND, 0x5000, THIRD));
  expect(UNWIND_TRUNCATED, LIST(LEAF, FIRST, SECOND));
  walk_with(3, 0, 0, LIST(LEAF, FIRST, CODE, THIRD)); /* a function's first byte */
  expect(UNWIND_TRUNCATED, LIST(LEAF, FIRST));
  walk_with(3, 0, 0, LIST(LEAF, FIRST, THIRD, THIRD, THIRD, THIRD, THIRD, THIRD, SECOND));
  expect(UNWIND_TRUNCATED, LIST(LEAF, FIRST, THIRD, THIRD, THIRD, THIRD, THIRD, THIRD));
}

static void what_a_bad_walk_found_gives_way_to_the_chain(void **state) {
  (void)state;
  walk_with(8, 3, 0x5000, LIST(LEAF, FIRST, THIRD));
  expect(UNWIND_BAD, LIST(LEAF, FIRST, THIRD));
  walk_with(8, 3, 0x5000, LIST(LEAF, THIRD));
  expect(UNWIND_BAD, LIST(LEAF, FIRST, SECOND));
}

static void a_stack_that_the_program_left_goes_on_along_the_chain(void **state) {
  (void)state;
  walk_with(8, 0, 0, LIST(LEAF, FIRST, SECOND, THIRD));
  expect(UNWIND_OTHER, LIST(LEAF, FIRST, SECOND, THIRD));
  walk_with(8, 0, 0, LIST(LEAF, FIRST, THIRD));
  expect(UNWIND_COMPLETE, LIST(LEAF, FIRST, SECOND));
}

static void a_chain_is_complete_where_a_table_says_so(void **state) {
  (void)state;
  map(CODE_END, CODE_END + 0x1000, OF_STARTS);
  walk_with(3, 0, 0, LIST(LEAF, FIRST, SECOND, CODE_END + 0x100));
  expect(UNWIND_COMPLETE, LIST(LEAF, FIRST, SECOND, CODE_END + 0x100));
  walk_with(8, 0, 0, LIST(LEAF, FIRST, SECOND, CODE_END + 0x100));
  expect(UNWIND_COMPLETE, LIST(LEAF, FIRST, SECOND, CODE_END + 0x100));
}

static void code_without_a_table_is_left_by_the_chain(void **state) {
  (void)state;
  struct process_map one = {.start = JIT, .end = JIT + 0x1000, .module = MODULE_ANON};
  process_maps_insert(&process, &one);
  struct perf_copy copy = copy_of_three();
  const uint64_t chain_pcs[] = {JIT + 0x10, FIRST};
  struct walker_chain chain = {.pcs = chain_pcs, .depth = 2};
  copy.pc = JIT + 0x10;
  walker_should_wait(&walker, &process, &copy);
  make_tables();
  walker_walk(&walker, &process, &copy, &chain, &path);
  expect(UNWIND_UNKNOWN, LIST(JIT + 0x10, FIRST));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_stack_is_walked_as_soon_as_its_table_is_there, make,
                                      unmake),
      cmocka_unit_test_setup_teardown(a_table_that_no_frame_needs_is_not_waited_for, make, unmake),
      cmocka_unit_test_setup_teardown(what_was_mapped_since_is_known, make, unmake),
      cmocka_unit_test_setup_teardown(a_copy_that_ends_too_soon_is_told, make, unmake),
      cmocka_unit_test_setup_teardown(what_cannot_be_walked_is_where_it_was, make, unmake),
      cmocka_unit_test_setup_teardown(callers_beyond_the_copy_follow_from_the_kernels_chain, make,
                                      unmake),
      cmocka_unit_test_setup_teardown(a_chain_is_followed_only_from_a_caller_that_was_found_as_well,
                                      make, unmake),
      cmocka_unit_test_setup_teardown(
          a_chain_is_followed_as_long_as_it_is_code_and_as_there_is_room, make, unmake),
      cmocka_unit_test_setup_teardown(what_a_bad_walk_found_gives_way_to_the_chain, make, unmake),
      cmocka_unit_test_setup_teardown(a_stack_that_the_program_left_goes_on_along_the_chain, make,
                                      unmake),
      cmocka_unit_test_setup_teardown(a_chain_is_complete_where_a_table_says_so, make, unmake),
      cmocka_unit_test_setup_teardown(code_without_a_table_is_left_by_the_chain, make, unmake),
      cmocka_unit_test_setup_teardown(processes_are_not_taken_for_each_other, make, unmake),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
