/* SPDX-License-Identifier: Apache-2.0 */
/* The possible states of the link register, place by place; each function was assembled from the
   text beside it. */
#include "symbol/lr_flow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { START = 0x10000, UNITS_MAX = 64 };

struct followed {
  uint8_t units[UNITS_MAX];
  bool is_told;
};

static struct followed follow(const struct instruction_cpu *cpu, struct span code) {
  struct followed ret = {.is_told = false};
  struct lr_flow flow = {.cpu = cpu,
                         .code = code,
                         .start = START,
                         .units = ret.units,
                         .unit_count = code.len / cpu->step};
  assert_true(flow.unit_count <= UNITS_MAX);
  ret.is_told = lr_flow_run(&flow);
  return ret;
}

static struct span span_of_words(const uint32_t *words, size_t count) {
  return span_of(words, count * sizeof *words);
}
#define FOLLOW(cpu, words) follow(cpu, span_of_words(words, sizeof(words) / sizeof *(words)))

static void saved_and_not_yet_overwritten_is_untouched(void **state) {
  static const uint32_t words[] = {
      0xa9bf7bfd, /*  0: stp x29, x30, [sp, #-16]! */
      0x910003fd, /*  4: mov x29, sp */
      0x91000400, /*  8: add x0, x0, #1 */
      0x94000010, /*  c: bl elsewhere */
      0x91000400, /* 10: add x0, x0, #1 */
      0xa8c17bfd, /* 14: ldp x29, x30, [sp], #16 */
      0xd65f03c0, /* 18: ret */
  };
  (void)state;
  struct followed got = FOLLOW(&instruction_aarch64, words);
  assert_true(got.is_told);
  for (int i = 0; i <= 3; i++) assert_int_equal(got.units[i], LR_UNTOUCHED);
  assert_int_equal(got.units[4], LR_CHANGED);
  assert_int_equal(got.units[5], LR_CHANGED);
  assert_int_equal(got.units[6], LR_RELOADED);
}

/* The scan that tables are made by believes the way from above. */
static void a_loop_with_a_call_at_its_end_takes_it_to_its_head(void **state) {
  static const uint32_t words[] = {
      0xa9bf7bfd, /*  0: stp x29, x30, [sp, #-16]! */
      0x91000400, /*  4: add x0, x0, #1      the head */
      0x94000010, /*  8: bl elsewhere */
      0xb5ffffc0, /*  c: cbnz x0, 4 */
      0xa8c17bfd, /* 10: ldp x29, x30, [sp], #16 */
      0xd65f03c0, /* 14: ret */
  };
  (void)state;
  struct followed got = FOLLOW(&instruction_aarch64, words);
  assert_true(got.is_told);
  assert_int_equal(got.units[0], LR_UNTOUCHED);
  assert_int_equal(got.units[1], LR_UNTOUCHED | LR_CHANGED);
  assert_int_equal(got.units[2], LR_UNTOUCHED | LR_CHANGED);
  assert_int_equal(got.units[3], LR_CHANGED);
}

static void a_way_around_the_call_stays_untouched_until_they_meet(void **state) {
  static const uint32_t words[] = {
      0xb4000060, /*  0: cbz x0, c */
      0x94000010, /*  4: bl elsewhere */
      0x14000002, /*  8: b 10 */
      0x91000400, /*  c: add x0, x0, #1 */
      0xd503201f, /* 10: nop */
      0xd65f03c0, /* 14: ret */
  };
  (void)state;
  struct followed got = FOLLOW(&instruction_aarch64, words);
  assert_true(got.is_told);
  assert_int_equal(got.units[2], LR_CHANGED);
  assert_int_equal(got.units[3], LR_UNTOUCHED);
  assert_int_equal(got.units[4], LR_UNTOUCHED | LR_CHANGED);
}

static void code_that_nothing_leads_to_makes_what_it_leads_to_doubtful(void **state) {
  static const uint32_t words[] = {
      0x91000400, /*  0: add x0, x0, #1 */
      0x14000002, /*  4: b c */
      0x14000001, /*  8: b c, a landing pad */
      0xd65f03c0, /*  c: ret */
  };
  (void)state;
  struct followed got = FOLLOW(&instruction_aarch64, words);
  assert_true(got.is_told);
  assert_int_equal(got.units[2], LR_UNSEEN);
  assert_int_equal(got.units[3], LR_UNTOUCHED | LR_UNSEEN);
}

static void a_computed_jump_behind_a_call_tells_nothing(void **state) {
  static const uint32_t words[] = {
      0x94000010, /* 0: bl elsewhere */
      0xd61f0060, /* 4: br x3 */
      0xd65f03c0, /* 8: ret */
  };
  static const uint32_t before[] = {
      0xd61f0060, /* 0: br x3, a tail call */
      0xd65f03c0, /* 4: ret */
  };
  (void)state;
  assert_false(FOLLOW(&instruction_aarch64, words).is_told);
  assert_true(FOLLOW(&instruction_aarch64, before).is_told);
}

static void a_conditional_call_leaves_both_possible(void **state) {
  static const uint32_t words[] = {
      0xe92d4010, /* 0: push {r4, lr} */
      0xe3500000, /* 4: cmp r0, #0 */
      0x1b000010, /* 8: blne elsewhere */
      0xe8bd8010, /* c: pop {r4, pc} */
  };
  (void)state;
  struct followed got = FOLLOW(&instruction_arm, words);
  assert_true(got.is_told);
  assert_int_equal(got.units[2], LR_UNTOUCHED);
  assert_int_equal(got.units[3], LR_UNTOUCHED | LR_CHANGED);
}

static void a_register_used_for_something_else_is_changed(void **state) {
  static const uint32_t words[] = {
      0xe52de004, /* 0: push {lr} */
      0xe3a0e005, /* 4: mov lr, #5 */
      0xe080000e, /* 8: add r0, r0, lr */
      0xe49df004, /* c: pop {pc} */
  };
  (void)state;
  struct followed got = FOLLOW(&instruction_arm, words);
  assert_true(got.is_told);
  assert_int_equal(got.units[1], LR_UNTOUCHED);
  assert_int_equal(got.units[2], LR_CHANGED);
}

static void what_stands_behind_a_delayed_call_is_done_before_it(void **state) {
  static const uint32_t words[] = {
      0x0c000010, /*  0: jal elsewhere */
      0x24840001, /*  4: addiu a0, a0, 1 */
      0x03e00008, /*  8: jr ra */
      0x00000000, /*  c: nop */
  };
  (void)state;
  struct followed got = FOLLOW(&instruction_mips, words);
  assert_true(got.is_told);
  assert_int_equal(got.units[1], LR_UNTOUCHED);
  assert_int_equal(got.units[2], LR_CHANGED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(saved_and_not_yet_overwritten_is_untouched),
      cmocka_unit_test(a_loop_with_a_call_at_its_end_takes_it_to_its_head),
      cmocka_unit_test(a_way_around_the_call_stays_untouched_until_they_meet),
      cmocka_unit_test(code_that_nothing_leads_to_makes_what_it_leads_to_doubtful),
      cmocka_unit_test(a_computed_jump_behind_a_call_tells_nothing),
      cmocka_unit_test(a_conditional_call_leaves_both_possible),
      cmocka_unit_test(a_register_used_for_something_else_is_changed),
      cmocka_unit_test(what_stands_behind_a_delayed_call_is_done_before_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
