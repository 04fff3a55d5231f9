/* SPDX-License-Identifier: Apache-2.0 */
/* Each instruction of call frame information becomes the equivalent rule, or its function is
   omitted with the reason and no other is affected. */
#include "frames_fixture.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { F = 0x2000, NEXT = 0x3000 }; /* the function of a test, and a following one */

static int set_up(void **state) {
  struct frames *frames = calloc(1, sizeof *frames);
  assert_non_null(frames);
  frames_init(frames, EM_X86_64);
  *state = frames;
  return 0;
}

static int tear_down(void **state) {
  frames_fini(*state);
  free(*state);
  return 0;
}

/* One function of PROGRAM at F, followed by an ordinary one. */
static void read_one(struct frames *frames, struct span program) {
  size_t cie = frames_usual_cie(frames);
  frames_function(frames, cie, F, 0x1000, program);
  frames_function(frames, cie, NEXT, 0x10, PROGRAM(0x41, 0x0e, 48));
  frames_read(frames);
  assert_string_equal(frames_at(frames, NEXT),
                      frames->arch->has_lr ? "sp+0 u u u" : "sp+8 c-8 u u");
  const char *later = frames_at(frames, NEXT + (frames->code_factor == 4 ? 4 : 1));
  assert_string_equal(later, frames->arch->has_lr ? "sp+48 u u u" : "sp+48 c-8 u u");
}

/* The same, where the function is refused because of WHY. */
static void read_refused(struct frames *frames, const char *why, struct span program) {
  read_one(frames, program);
  assert_int_equal(frames->report.functions_refused, 1);
  assert_string_equal(frames->report.why, why);
  assert_string_equal(frames_at(frames, F), "none");
  assert_string_equal(frames_at(frames, F + 0x800), "none");
}

#define assert_rule(address, words) assert_string_equal(frames_at(frames, address), words)

static void a_function_with_a_frame_pointer(void **state) {
  struct frames *frames = *state;
  read_one(frames, PROGRAM(0x41, 0x0e, 16, 0x86, 2,        /* push %rbp */
                           0x43, 0x0d, 6,                  /* mov %rsp, %rbp */
                           0x42, 0x83, 3,                  /* push %rbx */
                           0x7f, 0x0c, 7, 8, 0xc3, 0xc6)); /* leave */
  assert_rule(F, "sp+8 c-8 u u");
  assert_rule(F + 1, "sp+16 c-8 c-16 u");
  assert_rule(F + 3, "sp+16 c-8 c-16 u");
  assert_rule(F + 4, "t0+16 c-8 c-16 u");
  assert_rule(F + 6, "t0+16 c-8 c-16 c-24");
  assert_rule(F + 6 + 63, "sp+8 c-8 u u");
  assert_rule(F + 0xfff, "sp+8 c-8 u u");
  assert_int_equal(frames->report.functions, 2);
  assert_int_equal(frames->report.functions_refused, 0);
}

static void all_ways_to_go_on(void **state) {
  struct frames *frames = *state;
  frames->encoding = 0x04; /* 8 bytes, absolute, so that set_loc can be written here */
  read_one(frames, PROGRAM(0x41, 0x0e, 1, 0x02, 0xff, 0x0e, 2, 0x03, 0x00, 0x02, 0x0e, 3, /**/
                           0x04, 0x00, 0x01, 0, 0, 0x0e, 4, 0x1d, 0x40, 0, 0, 0, 0, 0, 0, 0, 0x0e,
                           5, 0x01, 0x00, 0x28, 0, 0, 0, 0, 0, 0, 0x0e, 6));
  assert_rule(F + 1, "sp+1 c-8 u u");
  assert_rule(F + 0x100, "sp+2 c-8 u u");
  assert_rule(F + 0x2ff, "sp+2 c-8 u u");
  assert_rule(F + 0x300, "sp+3 c-8 u u");
  assert_rule(F + 0x400, "sp+4 c-8 u u");
  assert_rule(F + 0x440, "sp+5 c-8 u u");
  assert_rule(F + 0x7ff, "sp+5 c-8 u u");
  assert_rule(F + 0x800, "sp+6 c-8 u u");
}

static void addresses_count_in_the_code_factor(void **state) {
  struct frames *frames = *state;
  frames_init(frames, EM_AARCH64);
  frames->code_factor = 4;
  read_one(frames, PROGRAM(0x42, 0x0e, 16));
  assert_rule(F + 7, "sp+0 u u u");
  assert_rule(F + 8, "sp+16 u u u");
}

static void all_ways_to_say_where_a_register_is(void **state) {
  struct frames *frames = *state;
  read_one(frames, PROGRAM(0x05, 6, 2, 0x41, 0x11, 6, 0x7d, 0x41, 0x2f, 6, 2, 0x41, 0x06, 6, /**/
                           0x41, 0x86, 5, 0x41, 0x08, 6, 0x41, 0x86, 5, 0x41, 0x07, 6, 0x41, 0x86,
                           5, 0x41, 0x09, 6, 6));
  assert_rule(F, "sp+8 c-8 c-16 u");
  assert_rule(F + 1, "sp+8 c-8 c+24 u");
  assert_rule(F + 2, "sp+8 c-8 c+16 u");
  assert_rule(F + 3, "sp+8 c-8 u u");
  assert_rule(F + 4, "sp+8 c-8 c-40 u");
  assert_rule(F + 5, "sp+8 c-8 u u");
  assert_rule(F + 6, "sp+8 c-8 c-40 u");
  assert_rule(F + 7, "sp+8 c-8 u u");
  assert_rule(F + 9, "sp+8 c-8 u u");
}

static void all_ways_to_say_where_the_cfa_is(void **state) {
  struct frames *frames = *state;
  read_one(frames, PROGRAM(0x12, 6, 0x7e, 0x41, 0x13, 0x7c, 0x41, 0x0d, 3, 0x41, 0x0c, 3, 40, /**/
                           0x41, 0x0c, 12, 8, 0x41, 0x0d, 7));
  assert_rule(F, "t0+16 c-8 u u");
  assert_rule(F + 1, "t0+32 c-8 u u");
  assert_rule(F + 2, "t1+32 c-8 u u");
  assert_rule(F + 3, "t1+40 c-8 u u");
  assert_rule(F + 4, "untold"); /* from an untracked register */
  assert_rule(F + 5, "sp+8 c-8 u u");
  assert_int_equal(frames->report.untold[TABLE_UNTOLD_CFA_REGISTER], 1);
}

static void states_are_remembered_and_restored(void **state) {
  struct frames *frames = *state;
  read_one(frames, PROGRAM(0x0e, 16, 0x0a, 0x41, 0x0e, 24, 0x86, 2, 0x0a, 0x41, 0x0e, 32, 0x41,
                           0x0b, 0x41, 0x0b));
  assert_rule(F, "sp+16 c-8 u u");
  assert_rule(F + 1, "sp+24 c-8 c-16 u");
  assert_rule(F + 2, "sp+32 c-8 c-16 u");
  assert_rule(F + 3, "sp+24 c-8 c-16 u");
  assert_rule(F + 4, "sp+16 c-8 u u");
}

static void what_makes_no_difference_is_passed_over(void **state) {
  struct frames *frames = *state;
  read_one(frames, PROGRAM(0x00, 0x2e, 0x80, 0x01, 0x8c, 3, 0x10, 12, 2, 0x70, 0, 0x16, 13, 1, 0x96,
                           0x14, 12, 1, 0x15, 12, 1, 0x09, 12, 13, 0x41, 0x0e, 16));
  assert_rule(F, "sp+8 c-8 u u");
  assert_rule(F + 1, "sp+16 c-8 u u");
}

static void an_undefined_return_address_is_where_all_begins(void **state) {
  struct frames *frames = *state;
  read_one(frames, PROGRAM(0x07, 16, 0x41, 0x90, 1));
  assert_rule(F, "end");
  assert_rule(F + 1, "sp+8 c-8 u u");
}

static void a_return_address_elsewhere_is_untold(void **state) {
  struct frames *frames = *state;
  read_one(frames, PROGRAM(0x09, 16, 1, 0x41, 0x08, 16, 0x41, 0x14, 16, 1, 0x41, 0x90, 1));
  assert_rule(F, "untold");
  assert_rule(F + 1, "untold");
  assert_rule(F + 2, "untold");
  assert_rule(F + 3, "sp+8 c-8 u u");
  assert_int_equal(frames->report.untold[TABLE_UNTOLD_RETURN_ADDRESS], 3);
}

static void a_link_register_has_it_until_it_is_saved(void **state) {
  struct frames *frames = *state;
  frames_init(frames, EM_AARCH64);
  read_one(frames, PROGRAM(0x2d, 0x41, 0x0e, 32, 0x9d, 4, 0x9e, 3, 0x93, 2, 0x41, 0x2c, 0x0e, 0,
                           0xdd, 0xde, 0xd3, 0x41, 0x09, 30, 30, 0x41, 0x09, 30, 9));
  assert_rule(F, "sp+0 u u u");
  assert_rule(F + 1, "sp+32 c-24 c-32 c-16");
  assert_rule(F + 2, "sp+0 u u u");
  assert_rule(F + 3, "sp+0 u u u");
  assert_rule(F + 4, "untold");
}

static void a_return_column_of_another_register_is_untold(void **state) {
  struct frames *frames = *state;
  frames_init(frames, EM_RISCV);
  size_t usual = frames_usual_cie(frames);
  frames->return_column = 5;
  size_t other = frames_usual_cie(frames);
  frames_function(frames, usual, F, 0x10, PROGRAM(0));
  frames_function(frames, other, F + 0x10, 0x10, PROGRAM(0x41, 0x85, 1));
  frames_read(frames);
  assert_rule(F, "sp+0 u u u");
  assert_rule(F + 0x10, "untold");
  assert_rule(F + 0x11, "sp+0 c-8 u u");
}

static void a_stack_pointer_that_is_not_the_cfa_is_untold(void **state) {
  struct frames *frames = *state;
  read_one(frames,
           PROGRAM(0x14, 7, 0, 0x41, 0x09, 7, 8, 0x41, 0x08, 7, 0x41, 0x14, 7, 1, 0x41, 0x07, 7));
  assert_rule(F, "sp+8 c-8 u u"); /* it only repeats the defaults */
  assert_rule(F + 1, "untold");
  assert_rule(F + 2, "sp+8 c-8 u u");
  assert_rule(F + 3, "untold");
  assert_rule(F + 4, "sp+8 c-8 u u");
}

static void a_followed_register_elsewhere_is_untold(void **state) {
  struct frames *frames = *state;
  read_one(frames, PROGRAM(0x09, 6, 12, 0x41, 0x14, 6, 1, 0x41, 0x16, 6, 1, 0x96, 0x41, 0x15, 3,
                           0x7f, 0x41, 0xc6, 0xc3));
  for (unsigned i = 0; i < 4; i++) assert_rule(F + i, "untold");
  assert_rule(F + 4, "sp+8 c-8 u u");
  assert_int_equal(frames->report.untold[TABLE_UNTOLD_SAVED], 4);
}

static void what_is_too_far_for_a_rule_is_untold(void **state) {
  struct frames *frames = *state;
  read_one(frames, PROGRAM(0x86, 0xfb, 0x1f, 0x41, 0x86, 0xfd, 0x1f, 0x41, 0xc6, 0x0e, 0xff, 0xff,
                           0xff, 0xff, 0x07, 0x41, 0x0e, 0x80, 0x80, 0x80, 0x80, 0x08));
  assert_rule(F, "sp+8 c-8 c-32728 u");
  assert_rule(F + 1, "untold");
  assert_rule(F + 2, "sp+2147483647 c-8 u u");
  assert_rule(F + 3, "untold");
  assert_int_equal(frames->report.untold[TABLE_UNTOLD_FAR], 2);
}

/* AArch64 saves at the bottom of a frame of 128 KiB, and x86-64 at its top. */
static void the_bottom_of_a_large_frame_is_told(void **state) {
  struct frames *frames = *state;
  frames_init(frames, EM_AARCH64);
  read_one(frames, PROGRAM(0x0e, 0x80, 0x80, 0x08, 0x9d, 0x80, 0x80, 0x01, 0x9e, 0xff, 0x7f, 0x41,
                           0x0d, 29, 0x41, 0x0d, 19, 0x41, 0x93, 2, 0x41, 0xd3, 0x0c, 7, 8));
  assert_rule(F, "sp+131072 b+8 b+0 u");
  assert_rule(F + 1, "t0+131072 b+8 b+0 u");
  assert_rule(F + 2, "t1+131072 b+8 b+0 u");
  assert_rule(F + 3, "untold"); /* at both ends at once */
  assert_rule(F + 4, "untold");
  assert_int_equal(frames->report.untold[TABLE_UNTOLD_FAR], 1);
}

static void the_word_of_no_caller_is_not_a_distance(void **state) {
  struct frames *frames = *state;
  read_one(frames, PROGRAM(0x0e, 33, 0x86, 0x80, 0x20)); /* 32768 encodes not saved */
  assert_rule(F, "sp+33 b+25 b-32735 u");
}

/* The registers of x86-64, in the order of a table. */
static const struct unwind_arch with_general = {
    .machine = EM_X86_64,
    .pc = 16,
    .sp = 7,
    .lr = 16,
    .tracked = {6, 3},
    .general_count = 16,
    .general = {13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7},
};

static void a_frame_may_be_counted_from_any_general_register(void **state) {
  struct frames *frames = *state;
  frames->arch = &with_general;
  read_one(frames, PROGRAM(0x41, 0x0d, 9,                             /* r9 */
                           0x41, 0x0c, 0, 16,                         /* rax + 16 */
                           0x41, 0x0f, 3, 0x7d, 8, 0x06,              /* the word at r13 + 8 */
                           0x41, 0x0f, 3, 0x73, 8, 0x06,              /* at rbx + 8 */
                           0x41, 0x0c, 10, 8, 0x10, 6, 2, 0x7a, 0x70, /* rbp at r10 - 16 */
                           0x41, 0x0c, 7, 8, 0x10, 6, 2, 0x78, 0));   /* rbp at r8 */
  assert_rule(F, "sp+8 c-8 u u");
  assert_rule(F + 1, "g1+8 c-8 u u");
  assert_rule(F + 2, "g13+16 c-8 u u");
  assert_rule(F + 3, "*g5+8 c-8 u u");
  assert_rule(F + 4, "*t1+8 c-8 u u");
  assert_rule(F + 5, "g2+8 c-8 c-24 u");
  assert_rule(F + 6, "untold");
}

static void a_register_may_be_in_another_one(void **state) {
  struct frames *frames = *state;
  frames->arch = &with_general;
  read_one(frames, PROGRAM(0x41, 0x0e, 0, 0x09, 16, 5, /* the return address in rdi */
                           0x41, 0x09, 6, 11,          /* rbp in r11 */
                           0x41, 0x09, 16, 17));       /* in no general register */
  assert_rule(F, "sp+8 c-8 u u");
  assert_rule(F + 1, "sp+0 g8 u u");
  assert_rule(F + 2, "sp+0 g8 g3 u");
  assert_rule(F + 3, "untold");
}

static void a_program_may_reach_beyond_its_function(void **state) {
  struct frames *frames = *state;
  read_one(frames, PROGRAM(0x41, 0x0e, 16, 0x1d, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                           0x0e, 24, 0xff));
  assert_rule(F + 0xfff, "sp+16 c-8 u u");
  assert_int_equal(frames->report.functions_refused, 0);
}

static void what_cannot_be_is_refused(void **state) {
  struct frames *frames = *state;
  read_refused(frames, "an unknown instruction", PROGRAM(0x41, 0x0e, 16, 0x3f));
}

static void a_sign_of_another_cpu_is_refused(void **state) {
  read_refused(*state, "an unknown instruction", PROGRAM(0x2d));
}

static void a_cut_operand_is_refused(void **state) {
  read_refused(*state, "a cut instruction", PROGRAM(0x41, 0x0e, 16, 0x0c, 7));
}

static void a_cut_block_is_refused(void **state) {
  read_refused(*state, "a cut instruction", PROGRAM(0x41, 0x0f, 9, 0x77, 8));
}

static void a_number_without_end_is_refused(void **state) {
  read_refused(*state, "a cut instruction", PROGRAM(0x0e, 0x80, 0x80, 0x80));
}

static void a_register_behind_an_expression_has_the_last_offset(void **state) {
  struct frames *frames = *state;
  read_one(frames, PROGRAM(0x0e, 56, 0x41, 0x0f, 3, 0x77, 24, 0x06, 0x41, 0x0d, 7, 0x41, 0x0f, 3,
                           0x77, 24, 0x06, 0x0e, 16, 0x41, 0x0d, 6));
  assert_rule(F, "sp+56 c-8 u u");
  assert_rule(F + 1, "*sp+24 c-8 u u");
  assert_rule(F + 2, "sp+56 c-8 u u");
  assert_rule(F + 3, "*sp+24 c-8 u u");
  assert_rule(F + 4, "t0+16 c-8 u u");
}

static void restoring_what_was_not_remembered_is_refused(void **state) {
  read_refused(*state, "a state restored that was not remembered", PROGRAM(0x0a, 0x0b, 0x0b));
}

static void remembering_without_end_is_refused(void **state) {
  read_refused(*state, "more remembered states than any compiler has",
               PROGRAM(10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10));
}

static void an_address_that_falls_is_refused(void **state) {
  struct frames *frames = *state;
  frames->encoding = 0x04;
  read_refused(frames, "an address that falls",
               PROGRAM(0x42, 0x0e, 16, 0x01, 0x01, 0x20, 0, 0, 0, 0, 0, 0));
}

static void a_cie_with_addresses_refuses_its_functions(void **state) {
  struct frames *frames = *state;
  size_t wrong = frames_cie(frames, "zR", PROGRAM(0x0c, 7, 8, 0x41, 0x0e, 16));
  frames_function(frames, wrong, F, 0x10, PROGRAM(0));
  frames_function(frames, frames_usual_cie(frames), NEXT, 0x10, PROGRAM(0));
  frames_read(frames);
  assert_rule(F, "none");
  assert_rule(NEXT, "sp+8 c-8 u u");
  assert_string_equal(frames->report.why, "a CIE that has addresses");
}

static void a_cie_without_end_refuses_its_functions(void **state) {
  struct frames *frames = *state;
  uint8_t nothing[600] = {0};
  size_t wrong = frames_cie(frames, "zR", span_of(nothing, sizeof nothing));
  frames_function(frames, wrong, F, 0x10, PROGRAM(0));
  frames_read(frames);
  assert_rule(F, "none");
  assert_string_equal(frames->report.why, "a CIE with more than any compiler writes");
}

int main(void) {
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      CLAIM(a_function_with_a_frame_pointer),
      CLAIM(all_ways_to_go_on),
      CLAIM(addresses_count_in_the_code_factor),
      CLAIM(all_ways_to_say_where_a_register_is),
      CLAIM(all_ways_to_say_where_the_cfa_is),
      CLAIM(states_are_remembered_and_restored),
      CLAIM(what_makes_no_difference_is_passed_over),
      CLAIM(an_undefined_return_address_is_where_all_begins),
      CLAIM(a_return_address_elsewhere_is_untold),
      CLAIM(a_link_register_has_it_until_it_is_saved),
      CLAIM(a_return_column_of_another_register_is_untold),
      CLAIM(a_stack_pointer_that_is_not_the_cfa_is_untold),
      CLAIM(a_followed_register_elsewhere_is_untold),
      CLAIM(what_is_too_far_for_a_rule_is_untold),
      CLAIM(the_bottom_of_a_large_frame_is_told),
      CLAIM(the_word_of_no_caller_is_not_a_distance),
      CLAIM(a_frame_may_be_counted_from_any_general_register),
      CLAIM(a_register_may_be_in_another_one),
      CLAIM(a_program_may_reach_beyond_its_function),
      CLAIM(what_cannot_be_is_refused),
      CLAIM(a_sign_of_another_cpu_is_refused),
      CLAIM(a_cut_operand_is_refused),
      CLAIM(a_cut_block_is_refused),
      CLAIM(a_number_without_end_is_refused),
      CLAIM(a_register_behind_an_expression_has_the_last_offset),
      CLAIM(restoring_what_was_not_remembered_is_refused),
      CLAIM(remembering_without_end_is_refused),
      CLAIM(an_address_that_falls_is_refused),
      CLAIM(a_cie_with_addresses_refuses_its_functions),
      CLAIM(a_cie_without_end_refuses_its_functions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
