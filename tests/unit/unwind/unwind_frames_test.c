/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks made by hand, with correct frame pointers and with wrong ones of every kind. The stack
   ends at its own mapping's end, followed by an unreadable page: a load one byte too far ends the
   test. */
#include "unwind/unwind_frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { PAGE = 4096, PAGES = 4, WORDS = PAGE * PAGES / sizeof(uintptr_t), ROOM = 16 };

struct fixture {
  char *mapping;
  uintptr_t *words; /* the whole stack, lowest first */
  struct unwind_stack stack;
  uint64_t pcs[ROOM];
  struct unwind_trace trace;
};

static struct fixture fixture;

static int setup(void **state) {
  (void)state;
  size_t size = PAGE * (PAGES + 2);
  char *mapping = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return -1;
  if (mprotect(mapping + PAGE, PAGE * PAGES, PROT_READ | PROT_WRITE) != 0) return -1;
  memset(&fixture, 0, sizeof fixture);
  fixture.mapping = mapping;
  fixture.words = (uintptr_t *)(void *)(mapping + PAGE);
  fixture.stack.low = (uintptr_t)fixture.words;
  fixture.stack.high = fixture.stack.low + PAGE * PAGES;
  fixture.trace = (struct unwind_trace){.pcs = fixture.pcs, .room = ROOM};
  return 0;
}

static int teardown(void **state) {
  (void)state;
  return munmap(fixture.mapping, PAGE * (PAGES + 2));
}

static uintptr_t at(unsigned word) {
  return (uintptr_t)&fixture.words[word];
}

/* A frame at WORD whose caller's frame is at NEXT, returning to PC. */
static void frame(unsigned word, uintptr_t next, uintptr_t pc) {
  fixture.words[word] = next;
  fixture.words[word + 1] = pc;
}

static unsigned walk(uintptr_t sp, uintptr_t fp) {
  struct unwind_registers registers = {.pc = 0x1000, .sp = sp, .tracked = {fp}};
  unwind_frames(&registers, &fixture.stack, &fixture.trace);
  return fixture.trace.depth;
}

static void an_honest_chain_is_walked_to_its_end(void **state) {
  (void)state;
  frame(10, at(20), 0x2000);
  frame(20, at(30), 0x3000);
  frame(30, 0, 0x4000);
  assert_int_equal(walk(at(5), at(10)), 4);
  assert_int_equal(fixture.pcs[0], 0x1000);
  assert_int_equal(fixture.pcs[1], 0x2000);
  assert_int_equal(fixture.pcs[2], 0x3000);
  assert_int_equal(fixture.pcs[3], 0x4000);
  assert_false(fixture.trace.is_truncated);
}

static void a_zero_return_address_ends_the_walk(void **state) {
  (void)state;
  frame(10, at(20), 0x2000);
  frame(20, at(30), 0);
  frame(30, 0, 0x4000);
  assert_int_equal(walk(at(5), at(10)), 2);
}

static void a_frame_in_the_last_two_words_is_the_last(void **state) {
  (void)state;
  frame(WORDS - 2, fixture.stack.high, 0x2000);
  assert_int_equal(walk(at(5), at(WORDS - 2)), 2);
}

static void a_frame_that_only_half_fits_is_not_read(void **state) {
  (void)state;
  assert_int_equal(walk(at(5), at(WORDS - 1)), 1);
  assert_int_equal(walk(at(5), fixture.stack.high), 1);
}

static void a_frame_pointer_into_a_guard_page_is_not_followed(void **state) {
  (void)state;
  assert_int_equal(walk(at(5), (uintptr_t)fixture.mapping + 64), 1);
  assert_int_equal(walk(at(5), fixture.stack.high + 64), 1);
  frame(10, fixture.stack.high + 64, 0x2000);
  assert_int_equal(walk(at(5), at(10)), 2);
  assert_false(fixture.trace.is_truncated); /* as the first function's caller leaves it */
}

static void a_frame_pointer_below_the_stack_pointer_is_not_followed(void **state) {
  (void)state;
  frame(4, at(20), 0x2000);
  assert_int_equal(walk(at(5), at(4)), 1);
}

static void a_cycle_ends_after_one_turn(void **state) {
  (void)state;
  frame(10, at(20), 0x2000);
  frame(20, at(10), 0x3000);
  assert_int_equal(walk(at(5), at(10)), 3);
  assert_true(fixture.trace.is_truncated);
  frame(10, at(10), 0x2000);
  assert_int_equal(walk(at(5), at(10)), 2);
  assert_true(fixture.trace.is_truncated);
}

static void frames_that_overlap_are_not_walked(void **state) {
  (void)state;
  frame(10, at(11), 0x2000);
  fixture.words[12] = 0x3000;
  assert_int_equal(walk(at(5), at(10)), 2);
}

static void an_unaligned_frame_pointer_is_not_followed(void **state) {
  (void)state;
  for (unsigned i = 5; i < 40; i++) fixture.words[i] = 0x0707070707070707;
  assert_int_equal(walk(at(5), at(10) + 1), 1);
  frame(10, at(20) + 4, 0x2000);
  assert_int_equal(walk(at(5), at(10)), 2);
  assert_true(fixture.trace.is_truncated);
}

static void kernel_and_extreme_addresses_are_not_followed(void **state) {
  (void)state;
  static const uintptr_t lies[] = {
      0, 8, UINTPTR_MAX, UINTPTR_MAX - 7, UINTPTR_MAX - 15, (uintptr_t)1 << 63, UINTPTR_MAX << 12};
  for (unsigned i = 0; i < sizeof lies / sizeof *lies; i++)
    assert_int_equal(walk(at(5), lies[i]), 1);
}

static void a_stack_pointer_elsewhere_gives_the_pc_alone(void **state) {
  (void)state;
  uintptr_t elsewhere[8] = {0};
  frame(10, at(20), 0x2000);
  assert_int_equal(walk((uintptr_t)elsewhere, at(10)), 1);
  assert_int_equal(walk(fixture.stack.low - 8, at(10)), 1);
  assert_int_equal(walk(fixture.stack.high, at(10)), 1);
}

static void unknown_bounds_give_the_pc_alone(void **state) {
  (void)state;
  frame(10, at(20), 0x2000);
  fixture.stack = (struct unwind_stack){.low = 0};
  assert_int_equal(walk(at(5), at(10)), 1);
}

static void a_chain_longer_than_the_room_is_cut_and_says_so(void **state) {
  (void)state;
  for (unsigned i = 0; i < 2 * ROOM; i++) frame(10 + 2 * i, at(12 + 2 * i), 0x2000 + i);
  assert_int_equal(walk(at(5), at(10)), ROOM);
  assert_true(fixture.trace.is_truncated);
}

static void a_chain_that_just_fits_is_not_called_cut(void **state) {
  (void)state;
  for (unsigned i = 0; i < ROOM - 1; i++)
    frame(10 + 2 * i, i == ROOM - 2 ? 0 : at(12 + 2 * i), 0x2000 + i);
  assert_int_equal(walk(at(5), at(10)), ROOM);
  assert_false(fixture.trace.is_truncated);
}

static void a_link_register_stands_in_for_the_first_caller(void **state) {
  (void)state;
  struct unwind_registers registers = {.pc = 0x1000, .sp = at(5), .lr = 0x2000};
  unwind_frames(&registers, &fixture.stack, &fixture.trace);
  assert_int_equal(fixture.trace.depth, unwind_arch.has_lr ? 2 : 1);
  assert_int_equal(fixture.trace.has_lr, unwind_arch.has_lr);
  if (unwind_arch.has_lr) assert_int_equal(fixture.pcs[1], 0x2000);
  frame(10, 0, 0x3000);
  registers.tracked[0] = at(10);
  unwind_frames(&registers, &fixture.stack, &fixture.trace);
  assert_int_equal(fixture.pcs[1], 0x3000);
  assert_false(fixture.trace.has_lr);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(an_honest_chain_is_walked_to_its_end),
      CLAIM(a_zero_return_address_ends_the_walk),
      CLAIM(a_frame_in_the_last_two_words_is_the_last),
      CLAIM(a_frame_that_only_half_fits_is_not_read),
      CLAIM(a_frame_pointer_into_a_guard_page_is_not_followed),
      CLAIM(a_frame_pointer_below_the_stack_pointer_is_not_followed),
      CLAIM(a_cycle_ends_after_one_turn),
      CLAIM(frames_that_overlap_are_not_walked),
      CLAIM(an_unaligned_frame_pointer_is_not_followed),
      CLAIM(kernel_and_extreme_addresses_are_not_followed),
      CLAIM(a_stack_pointer_elsewhere_gives_the_pc_alone),
      CLAIM(unknown_bounds_give_the_pc_alone),
      CLAIM(a_chain_longer_than_the_room_is_cut_and_says_so),
      CLAIM(a_chain_that_just_fits_is_not_called_cut),
      CLAIM(a_link_register_stands_in_for_the_first_caller),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
