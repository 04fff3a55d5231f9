/* SPDX-License-Identifier: Apache-2.0 */
/* Each function was assembled from the text beside it. */
#include "tables/prologue.h"

#include <stdarg.h>
#include <stddef.h>

#include <setjmp.h>

#include <cmocka.h>

enum { START = 0x10000, BYTES_MAX = 256, NOBODY = INT16_MAX };

/* From offset AT on; RETURN_ADDRESS is NOBODY if the rule is unknown. */
struct expected {
  uint64_t at;
  enum unwind_cfa cfa;
  int offset, return_address;
};

struct told {
  const struct instruction_cpu *cpu;
  struct unwind_rule rules[BYTES_MAX];
  bool is_told[BYTES_MAX];
};

static void tell(void *context, uint64_t address, const struct prologue_state *state) {
  struct told *told = context;
  assert_in_range(address, START, START + BYTES_MAX - 1);
  told->rules[address - START] = prologue_state_rule(told->cpu, state);
  told->is_told[address - START] = true;
}

static uint64_t scan(const struct instruction_cpu *cpu, struct span code, struct told *ret) {
  struct prologue_scan *scan = prologue_scan_new();
  struct prologue_function function = {
      .cpu = cpu, .code = code, .start = START, .bytes = code.len, .is_open = true};
  assert_non_null(scan);
  *ret = (struct told){.cpu = cpu};
  uint64_t bytes = prologue_scan_function(scan, &function);
  prologue_scan_tell(scan, tell, ret);
  prologue_scan_free(scan);
  return bytes;
}

static void assert_rules(const struct told *told, const struct expected *expected, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const struct unwind_rule *rule = &told->rules[expected[i].at];
    assert_true(told->is_told[expected[i].at]);
    assert_int_equal(rule->cfa, expected[i].cfa);
    if (expected[i].return_address == NOBODY) continue;
    assert_int_equal(rule->offset, expected[i].offset);
    assert_int_equal(rule->return_address, expected[i].return_address);
  }
}

#define CHECK(cpu, code, told, ...)                         \
  do {                                                      \
    const struct expected list[] = {__VA_ARGS__};           \
    scan(cpu, span_of(code, sizeof(code)), told);           \
    assert_rules(told, list, sizeof list / sizeof list[0]); \
  } while (0)

static void behind_a_conditional_return_all_is_as_before(void **state) {
  static const uint32_t code[] = {
      0xe3500000, /* 00 cmp r0, #0 */
      0x012fff1e, /* 04 bxeq lr */
      0xe92d4890, /* 08 push {r4, r7, fp, lr} */
      0xe24dda01, /* 0c sub sp, sp, #4096 */
      0xe2504001, /* 10 subs r4, r0, #1 */
      0x028dda01, /* 14 addeq sp, sp, #4096 */
      0x08bd8890, /* 18 popeq {r4, r7, fp, pc} */
      0xeb000003, /* 1c bl 30 */
      0xe28dda01, /* 20 add sp, sp, #4096 */
      0xe8bd4890, /* 24 pop {r4, r7, fp, lr} */
      0xea000000, /* 28 b 30 */
  };
  struct told told;
  (void)state;
  CHECK(&instruction_arm, code, &told, {0x00, UNWIND_CFA_SP, 0, UNWIND_SAME},
        {0x08, UNWIND_CFA_SP, 0, UNWIND_SAME}, {0x0c, UNWIND_CFA_SP, 16, -4},
        {0x10, UNWIND_CFA_SP, 4112, -4}, {0x18, UNWIND_CFA_SP, 16, -4},
        {0x1c, UNWIND_CFA_SP, 4112, -4}, {0x20, UNWIND_CFA_SP, 4112, -4},
        {0x24, UNWIND_CFA_SP, 16, -4}, {0x28, UNWIND_CFA_SP, 0, UNWIND_SAME});
  assert_int_equal(told.rules[0x1c].saved[0], -8);  /* r11 */
  assert_int_equal(told.rules[0x1c].saved[1], -12); /* r7 */
  assert_int_equal(told.rules[0x28].saved[0], UNWIND_SAME);
}

static void it_puts_thumb_instructions_under_a_condition(void **state) {
  static const uint16_t code[] = {
      0xb590,         /* 00 push {r4, r7, lr} */
      0xf5ad, 0x6d81, /* 02 sub.w sp, sp, #1032 */
      0xb130,         /* 06 cbz r0, 16 */
      0x2805,         /* 08 cmp r0, #5 */
      0xbf04,         /* 0a itt eq */
      0xf50d, 0x6d81, /* 0c addeq.w sp, sp, #1032 */
      0xbd90,         /* 10 popeq {r4, r7, pc} */
      0xf000, 0xf803, /* 12 bl 1c */
      0xf50d, 0x6d81, /* 16 add.w sp, sp, #1032 */
      0xbd90,         /* 1a pop {r4, r7, pc} */
  };
  struct told told;
  (void)state;
  CHECK(&instruction_thumb, code, &told, {0x02, UNWIND_CFA_SP, 12, -4},
        {0x0c, UNWIND_CFA_SP, 1044, -4}, {0x10, UNWIND_CFA_SP, 12, -4},
        {0x12, UNWIND_CFA_SP, 1044, -4}, {0x16, UNWIND_CFA_SP, 1044, -4},
        {0x1a, UNWIND_CFA_SP, 12, -4});
}

static void a_table_of_thumb_names_the_cases(void **state) {
  static const uint16_t code[] = {
      0xb508,         /* 00 push {r3, lr} */
      0x2802,         /* 02 cmp r0, #2 */
      0xd807,         /* 04 bhi 16 */
      0xe8df, 0xf000, /* 06 tbb [pc, r0] */
      0x0402, 0x0006, /* 0a the table: 0e, 12, 16 */
      0x2001,         /* 0e movs r0, #1 */
      0xbd08,         /* 10 pop {r3, pc} */
      0x2002,         /* 12 movs r0, #2 */
      0xbd08,         /* 14 pop {r3, pc} */
      0xf000, 0xf801, /* 16 bl 1c */
      0xbd08,         /* 1a pop {r3, pc} */
  };
  struct told told;
  (void)state;
  CHECK(&instruction_thumb, code, &told, {0x0e, UNWIND_CFA_SP, 8, -4}, {0x10, UNWIND_CFA_SP, 8, -4},
        {0x12, UNWIND_CFA_SP, 8, -4}, {0x1a, UNWIND_CFA_SP, 8, -4});
  assert_false(told.is_told[0x0a]);
}

static void where_the_stack_pointer_is_lost_the_frame_pointer_finds_the_frame(void **state) {
  static const uint16_t code[] = {
      0xb580,         /* 00 push {r7, lr} */
      0xb084,         /* 02 sub sp, #16 */
      0xaf02,         /* 04 add r7, sp, #8 */
      0xebad, 0x0d00, /* 06 sub.w sp, sp, r0 */
      0xf000, 0xf803, /* 0a bl 14 */
      0x3708,         /* 0e adds r7, #8 */
      0x46bd,         /* 10 mov sp, r7 */
      0xbd80,         /* 12 pop {r7, pc} */
  };
  struct told told;
  (void)state;
  CHECK(&instruction_thumb, code, &told, {0x06, UNWIND_CFA_SP, 24, -4},
        {0x0a, UNWIND_CFA_TRACKED_2, 16, -4}, {0x0e, UNWIND_CFA_TRACKED_2, 16, -4},
        {0x10, UNWIND_CFA_TRACKED_2, 8, -4}, {0x12, UNWIND_CFA_SP, 8, -4});
  assert_int_equal(told.rules[0x0a].saved[1], -8);
}

static void a_literal_is_read_and_is_no_instruction(void **state) {
  static const uint16_t code[] = {
      0xb500,         /* 00 push {lr} */
      0x4b03,         /* 02 ldr r3, 10 */
      0x449d,         /* 04 add sp, r3 */
      0xf000, 0xf807, /* 06 bl 18 */
      0x4b02,         /* 0a ldr r3, 14 */
      0x449d,         /* 0c add sp, r3 */
      0xbd00,         /* 0e pop {pc} */
      0xf05c, 0xffff, /* 10 -4004 */
      0x0fa4, 0x0000, /* 14 4004 */
  };
  struct told told;
  (void)state;
  CHECK(&instruction_thumb, code, &told, {0x04, UNWIND_CFA_SP, 4, -4},
        {0x06, UNWIND_CFA_SP, 4008, -4}, {0x0e, UNWIND_CFA_SP, 4, -4});
  assert_false(told.is_told[0x10]);
}

static void a_large_frame_is_told_from_its_bottom(void **state) {
  static const uint32_t code[] = {
      0x3c080001, /* 00 lui t0, 1 */
      0x35080010, /* 04 ori t0, t0, 16 */
      0x03a8e823, /* 08 subu sp, sp, t0 */
      0xafbf000c, /* 0c sw ra, 12(sp) */
      0x0320f809, /* 10 jalr t9 */
      0x00000000, /* 14 nop */
      0x8fbf000c, /* 18 lw ra, 12(sp) */
  };
  struct told told;
  (void)state;
  CHECK(&instruction_mips, code, &told, {0x08, UNWIND_CFA_SP, 0, UNWIND_SAME},
        {0x0c, UNWIND_CFA_SP, 65552, UNWIND_SAME}, {0x18, UNWIND_CFA_SP, 65552, 12});
}

static void a_delay_slot_is_done_before_its_branch(void **state) {
  static const uint32_t code[] = {
      0x27bdffe0, /* 00 addiu sp, sp, -32 */
      0xafbf001c, /* 04 sw ra, 28(sp) */
      0xafbe0018, /* 08 sw fp, 24(sp) */
      0x03a0f025, /* 0c move fp, sp */
      0x10800004, /* 10 beqz a0, 24 */
      0x27bdfff8, /* 14 addiu sp, sp, -8 */
      0x0320f809, /* 18 jalr t9 */
      0x00000000, /* 1c nop */
      0x00000000, /* 20 nop */
      0x03c0e825, /* 24 move sp, fp */
      0x8fbf001c, /* 28 lw ra, 28(sp) */
      0x8fbe0018, /* 2c lw fp, 24(sp) */
      0x03e00008, /* 30 jr ra */
      0x27bd0020, /* 34 addiu sp, sp, 32 */
  };
  struct told told;
  (void)state;
  CHECK(&instruction_mips, code, &told, {0x04, UNWIND_CFA_SP, 32, UNWIND_SAME},
        {0x08, UNWIND_CFA_SP, 32, -4}, {0x10, UNWIND_CFA_SP, 32, -4}, {0x18, UNWIND_CFA_SP, 40, -4},
        {0x24, UNWIND_CFA_SP, 40, -4}, {0x28, UNWIND_CFA_SP, 32, -4},
        {0x30, UNWIND_CFA_SP, 32, -4});
  assert_int_equal(told.rules[0x18].saved[0], -8);
}

static void a_frame_of_riscv_is_followed_through_short_and_long_instructions(void **state) {
  static const uint16_t code[] = {
      0x7139,         /* 00 addi sp, sp, -64 */
      0xfc06,         /* 02 sd ra, 56(sp) */
      0xf822,         /* 04 sd s0, 48(sp) */
      0x0080,         /* 06 addi s0, sp, 64 */
      0x72f9,         /* 08 lui t0, -2 */
      0x9116,         /* 0a add sp, sp, t0 */
      0x00ef, 0x0100, /* 0c jal 1c */
      0x0113, 0xfc04, /* 10 addi sp, s0, -64 */
      0x70e2,         /* 14 ld ra, 56(sp) */
      0x7442,         /* 16 ld s0, 48(sp) */
      0x6121,         /* 18 addi sp, sp, 64 */
      0x8082,         /* 1a ret */
  };
  struct told told;
  (void)state;
  CHECK(&instruction_riscv, code, &told, {0x02, UNWIND_CFA_SP, 64, UNWIND_SAME},
        {0x04, UNWIND_CFA_SP, 64, -8}, {0x0c, UNWIND_CFA_SP, 8256, -8},
        {0x14, UNWIND_CFA_SP, 64, -8}, {0x1a, UNWIND_CFA_SP, 0, UNWIND_SAME});
  assert_int_equal(told.rules[0x0c].saved[0], -16);
}

static void signing_a_return_address_leaves_it_where_it_is(void **state) {
  static const uint32_t code[] = {
      0xd503233f, /* 00 paciasp */
      0xa9bd7bfd, /* 04 stp x29, x30, [sp, #-48]! */
      0x910003fd, /* 08 mov x29, sp */
      0xf9000bf3, /* 0c str x19, [sp, #16] */
      0xd2824690, /* 10 mov x16, #0x1234 */
      0xf2a00030, /* 14 movk x16, #1, lsl #16 */
      0xcb3063ff, /* 18 sub sp, sp, x16 */
      0x94000006, /* 1c bl 34 */
      0x910003bf, /* 20 mov sp, x29 */
      0xf9400bf3, /* 24 ldr x19, [sp, #16] */
      0xa8c37bfd, /* 28 ldp x29, x30, [sp], #48 */
      0xd50323bf, /* 2c autiasp */
      0xd65f03c0, /* 30 ret */
  };
  struct told told;
  (void)state;
  CHECK(&instruction_aarch64, code, &told, {0x04, UNWIND_CFA_SP, 0, UNWIND_SAME},
        {0x08, UNWIND_CFA_SP, 48, -40}, {0x1c, UNWIND_CFA_SP, 48 + 0x11234, -40},
        {0x24, UNWIND_CFA_SP, 48, -40}, {0x2c, UNWIND_CFA_SP, 0, UNWIND_SAME},
        {0x30, UNWIND_CFA_SP, 0, UNWIND_SAME});
  assert_int_equal(told.rules[0x1c].saved[0], -48);
  assert_int_equal(told.rules[0x1c].saved[1], -32);
}

static void behind_a_return_the_middle_of_the_function_is_guessed(void **state) {
  static const uint16_t code[] = {
      0xb510,         /* 00 push {r4, lr} */
      0xf000, 0xf810, /* 02 bl 26 */
      0x4687,         /* 06 mov pc, r0: a switch */
      0xbd10,         /* 08 pop {r4, pc} */
      0x2001,         /* 0a movs r0, #1: only a table leads here */
      0xf000, 0xf80b, /* 0c bl 26 */
      0xbd10,         /* 10 pop {r4, pc} */
  };
  struct told told;
  (void)state;
  CHECK(&instruction_thumb, code, &told, {0x08, UNWIND_CFA_SP, 8, -4}, {0x0a, UNWIND_CFA_SP, 8, -4},
        {0x10, UNWIND_CFA_SP, 8, -4});
}

static void an_open_function_ends_where_another_begins(void **state) {
  static const uint16_t code[] = {
      0xb510,         /* 00 push {r4, lr} */
      0xd001,         /* 02 beq 08 */
      0xf000, 0xf810, /* 04 bl 28 */
      0xbd10,         /* 08 pop {r4, pc} */
      0xb500,         /* 0a push {lr} */
      0xbd00,         /* 0c pop {pc} */
  };
  struct told told;
  (void)state;
  assert_int_equal(scan(&instruction_thumb, span_of(code, sizeof code), &told), 0x0a);
  assert_false(told.is_told[0x0a]);
}

static void a_call_that_never_returns_may_be_a_functions_end(void **state) {
  static const uint16_t code[] = {
      0xb510,         /* 00 push {r4, lr} */
      0xf000, 0xf810, /* 02 bl 26 */
      0xb500,         /* 06 push {lr} */
      0xbd00,         /* 08 pop {pc} */
  };
  struct told told;
  (void)state;
  assert_int_equal(scan(&instruction_thumb, span_of(code, sizeof code), &told), 6);
}

static void a_thread_begins_where_a_call_by_register_loses_the_way_back(void **state) {
  static const uint16_t code[] = {
      0x9801,         /* 00 ldr r0, [sp, #4] */
      0xf85d, 0xcb08, /* 02 ldr.w ip, [sp], #8 */
      0x47e0,         /* 06 blx ip */
  };
  static const uint16_t caller[] = {
      0xb510, /* 00 push {r4, lr} */
      0x4780, /* 02 blx r0 */
      0xbd10, /* 04 pop {r4, pc} */
  };
  struct told told;
  (void)state;
  scan(&instruction_thumb, span_of(code, sizeof code), &told);
  assert_int_equal(told.rules[0x06].cfa, UNWIND_CFA_END);
  CHECK(&instruction_thumb, caller, &told, {0x02, UNWIND_CFA_SP, 8, -4});
}

static void code_that_is_cut_off_ends_there(void **state) {
  static const uint8_t code[] = {0x10, 0xb5, 0xf0};
  struct told told;
  (void)state;
  assert_int_equal(scan(&instruction_thumb, span_of(code, sizeof code), &told), 3);
  assert_int_equal(told.rules[2].offset, 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(behind_a_conditional_return_all_is_as_before),
      cmocka_unit_test(it_puts_thumb_instructions_under_a_condition),
      cmocka_unit_test(a_table_of_thumb_names_the_cases),
      cmocka_unit_test(where_the_stack_pointer_is_lost_the_frame_pointer_finds_the_frame),
      cmocka_unit_test(a_literal_is_read_and_is_no_instruction),
      cmocka_unit_test(a_large_frame_is_told_from_its_bottom),
      cmocka_unit_test(a_delay_slot_is_done_before_its_branch),
      cmocka_unit_test(a_frame_of_riscv_is_followed_through_short_and_long_instructions),
      cmocka_unit_test(signing_a_return_address_leaves_it_where_it_is),
      cmocka_unit_test(behind_a_return_the_middle_of_the_function_is_guessed),
      cmocka_unit_test(an_open_function_ends_where_another_begins),
      cmocka_unit_test(a_call_that_never_returns_may_be_a_functions_end),
      cmocka_unit_test(a_thread_begins_where_a_call_by_register_loses_the_way_back),
      cmocka_unit_test(code_that_is_cut_off_ends_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
