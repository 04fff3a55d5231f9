/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupted frames and frames without a caller: the address that names them, and the registers
   known there. Guessed rules: a walk's behaviour after a wrong guess. */
#include "walk_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { W = sizeof(uintptr_t), SAME = UNWIND_SAME, GENERAL = 4 };

const struct unwind_arch unwind_arch = {
    .call_bytes = 2,
    .has_frame_pairs = true,
    .is_pair_at_top = true,
    .red_zone = 2 * W,
    .return_mask = UINT64_MAX,
    .signal = {.tracked = {0, W}, .pc = 2 * W, .sp = 3 * W, .general = 4 * W, .general_step = W},
    .general_count = GENERAL,
};

enum {
  MAIN,
  PLAIN,
  BY_REG,  /* counts from general register 2 */
  KEPT,    /* the same; no callee writes it */
  BY_WORD, /* keeps the place in a word that general register 1 points at */
  BY_SECOND_WORD,
  MOVED,  /* has popped the return address into general register 3 */
  LENT,   /* keeps the first tracked register in general register 0 */
  NO_REG, /* relative to a register that does not exist */
  RETURN,
  UNSEEN,
  ENTERED, /* behind code without a rule */
  FRAMED,
  GUESSED,
  UNSEEN_2,
  RETURN_2, /* behind code without a rule */
  FUNCTIONS
};

#define TOLD .return_address = -W, .saved = {SAME, SAME}

static const struct unwind_rule rules[FUNCTIONS] = {
    [MAIN] = {.cfa = UNWIND_CFA_END},
    [PLAIN] = {.cfa = UNWIND_CFA_SP, .offset = W, TOLD},
    [BY_REG] = {.cfa = UNWIND_CFA_GENERAL, .reg = 2, .offset = W, TOLD},
    [KEPT] = {.cfa = UNWIND_CFA_GENERAL, .reg = 2, .offset = W, TOLD, .flags = UNWIND_REG_KEPT},
    [BY_WORD] = {.cfa = UNWIND_CFA_GENERAL_WORD, .reg = 1, .offset = 2 * W, .addend = W, TOLD},
    [BY_SECOND_WORD] = {.cfa = UNWIND_CFA_TRACKED_2_WORD, .offset = -W, .addend = W, TOLD},
    [MOVED] = {.cfa = UNWIND_CFA_SP,
               .return_address = UNWIND_IN_GENERAL + 3,
               .saved = {SAME, SAME}},
    [LENT] = {.cfa = UNWIND_CFA_SP,
              .offset = W,
              .return_address = -W,
              .saved = {UNWIND_IN_GENERAL, SAME}},
    [NO_REG] = {.cfa = UNWIND_CFA_GENERAL, .reg = GENERAL, .offset = W, TOLD},
    [RETURN] = {.cfa = UNWIND_CFA_SIGNAL},
    [UNSEEN] = {.cfa = UNWIND_CFA_NONE},
    [ENTERED] = {.cfa = UNWIND_CFA_SP, .offset = W, TOLD},
    [FRAMED] = {.cfa = UNWIND_CFA_TRACKED,
                .offset = 2 * W,
                .return_address = -W,
                .saved = {-2 * W, SAME}},
    [GUESSED] = {.cfa = UNWIND_CFA_SP, .offset = W, TOLD, .flags = UNWIND_GUESSED},
    [UNSEEN_2] = {.cfa = UNWIND_CFA_NONE},
    [RETURN_2] = {.cfa = UNWIND_CFA_SIGNAL},
};

static struct walk_fixture f;
static uintptr_t general[GENERAL];

static int setup(void **state) {
  (void)state;
  walk_fixture_init(&f, rules, FUNCTIONS);
  memset(general, 0, sizeof general);
  f.at.general = (const uint8_t *)general;
  return 0;
}

static int teardown(void **state) {
  (void)state;
  walk_fixture_fini(&f);
  return 0;
}

static void interrupted_code_may_count_its_frame_from_any_register(void **state) {
  (void)state;
  general[2] = walk_word(20);
  f.words[20] = walk_in(MAIN);
  walk_fixture_from(&f, BY_REG, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(BY_REG), walk_in(MAIN));
}

static void a_frames_place_may_be_in_a_word_that_any_register_points_at(void **state) {
  (void)state;
  general[1] = walk_word(10);
  f.words[12] = walk_word(20);
  f.words[20] = walk_in(MAIN);
  walk_fixture_from(&f, BY_WORD, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(BY_WORD), walk_in(MAIN));
  f.at.tracked[1] = walk_word(13);
  walk_fixture_from(&f, BY_SECOND_WORD, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(BY_SECOND_WORD), walk_in(MAIN));
}

static void a_caller_may_count_from_a_register_only_if_no_callee_writes_it(void **state) {
  (void)state;
  general[2] = walk_word(20);
  f.words[20] = walk_in(MAIN);
  f.words[5] = walk_in(BY_REG);
  walk_fixture_from(&f, PLAIN, 5);
  EXPECT(UNWIND_UNKNOWN, walk_in(PLAIN), walk_in(BY_REG));
  f.words[5] = walk_in(KEPT);
  walk_fixture_from(&f, PLAIN, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(PLAIN), walk_in(KEPT), walk_in(MAIN));
}

static void a_signals_frame_holds_the_registers_of_what_it_interrupted(void **state) {
  (void)state;
  general[2] = walk_word(60);
  f.words[5] = walk_in(RETURN);
  f.words[8] = walk_in(BY_REG);
  f.words[9] = walk_word(30);
  f.words[12] = walk_word(40); /* register 2 */
  f.words[40] = walk_in(MAIN);
  walk_fixture_from(&f, PLAIN, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(PLAIN), walk_in(RETURN) + 1, walk_in(BY_REG) + 1, walk_in(MAIN));
  f.stack.high = walk_word(13); /* the row of registers was not copied to its end */
  walk_fixture_from(&f, PLAIN, 5);
  EXPECT(UNWIND_UNKNOWN, walk_in(PLAIN), walk_in(RETURN) + 1, walk_in(BY_REG) + 1);
}

static void a_register_may_hold_the_return_address_or_another_register(void **state) {
  (void)state;
  general[3] = walk_in(PLAIN);
  f.words[5] = walk_in(MAIN);
  walk_fixture_from(&f, MOVED, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(MOVED), walk_in(PLAIN), walk_in(MAIN));
  general[0] = walk_word(20);
  f.words[5] = walk_in(FRAMED);
  f.words[21] = walk_in(MAIN);
  walk_fixture_from(&f, LENT, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(LENT), walk_in(FRAMED), walk_in(MAIN));
  f.words[5] = walk_in(LENT);
  walk_fixture_from(&f, PLAIN, 5);
  EXPECT(UNWIND_UNKNOWN, walk_in(PLAIN), walk_in(LENT));
}

static void without_the_register_the_walk_ends(void **state) {
  (void)state;
  for (unsigned i = 0; i < GENERAL; i++) general[i] = walk_word(20);
  f.words[20] = walk_in(MAIN);
  walk_fixture_from(&f, NO_REG, 5);
  EXPECT(UNWIND_UNKNOWN, walk_in(NO_REG));
  f.at.general = NULL;
  walk_fixture_from(&f, BY_REG, 5);
  EXPECT(UNWIND_UNKNOWN, walk_in(BY_REG));
  walk_fixture_from(&f, MOVED, 5);
  EXPECT(UNWIND_UNKNOWN, walk_in(MOVED));
}

static void a_function_that_was_entered_by_a_return_is_the_last_and_named_exactly(void **state) {
  uintptr_t first = WALK_CODE + ENTERED * WALK_FUNCTION_BYTES;
  (void)state;
  f.words[5] = first;
  f.words[6] = walk_in(PLAIN);
  walk_fixture_from(&f, PLAIN, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(PLAIN), first + 1);
  f.words[5] = first + 1; /* behind an instruction of its own */
  f.words[7] = walk_in(MAIN);
  walk_fixture_from(&f, PLAIN, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(PLAIN), first + 1, walk_in(PLAIN), walk_in(MAIN));
}

static void a_walk_that_fails_behind_a_guess_goes_on_by_the_frame_pointer(void **state) {
  (void)state;
  f.at.tracked[0] = walk_word(20);
  f.words[21] = walk_in(MAIN);
  f.words[5] = 0x10; /* no code */
  walk_fixture_from(&f, GUESSED, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(GUESSED), walk_in(MAIN));
  f.words[5] = walk_in(PLAIN); /* it fails one frame later */
  f.words[6] = 0x10;
  walk_fixture_from(&f, GUESSED, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(GUESSED), walk_in(MAIN));
  f.words[6] = walk_in(BY_REG); /* by a rule that cannot be followed */
  walk_fixture_from(&f, GUESSED, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(GUESSED), walk_in(MAIN));
}

static void a_guess_that_leads_to_the_end_is_believed(void **state) {
  (void)state;
  f.at.tracked[0] = walk_word(20);
  f.words[21] = walk_in(PLAIN);
  f.words[5] = walk_in(MAIN);
  walk_fixture_from(&f, GUESSED, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(GUESSED), walk_in(MAIN));
}

static void without_a_frame_pointer_in_the_stack_it_ends_as_it_failed(void **state) {
  static const uintptr_t lies[] = {0, 8, WALK_LOW + 3 * W, WALK_LOW + 20 * W + 1, UINTPTR_MAX};
  (void)state;
  f.words[5] = walk_in(PLAIN);
  f.words[6] = 0x10;
  for (unsigned i = 0; i < sizeof lies / sizeof *lies; i++) {
    f.at.tracked[0] = lies[i];
    walk_fixture_from(&f, GUESSED, 5);
    EXPECT(UNWIND_BAD, walk_in(GUESSED), walk_in(PLAIN));
  }
}

/* The start of ENTERED: no call ends one byte further. */
static void a_return_address_with_no_room_for_a_call_begins_the_stack(void **state) {
  (void)state;
  uintptr_t first = WALK_CODE + ENTERED * WALK_FUNCTION_BYTES;
  f.words[5] = first + 1;
  f.words[6] = 0x10;
  walk_fixture_from(&f, PLAIN, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(PLAIN), first + 1);
  f.stack.high = walk_word(6);
  walk_fixture_from(&f, PLAIN, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(PLAIN), first + 1);
  f.words[5] = first + 2; /* a call of two bytes has room */
  walk_fixture_from(&f, PLAIN, 5);
  EXPECT(UNWIND_TRUNCATED, walk_in(PLAIN), first + 2);
  f.words[5] = WALK_CODE + FRAMED * WALK_FUNCTION_BYTES + 1; /* behind code: a call ends there */
  f.at.tracked[0] = walk_word(20);
  f.words[21] = 0x10;
  walk_fixture_from(&f, PLAIN, 5);
  EXPECT(UNWIND_TRUNCATED, walk_in(PLAIN), f.words[5]);
}

/* Its rule may begin a byte early so that the byte before a return address has it. */
static void a_signals_trampoline_begins_no_stack(void **state) {
  (void)state;
  f.words[5] = WALK_CODE + RETURN_2 * WALK_FUNCTION_BYTES + 1;
  f.stack.high = walk_word(6);
  walk_fixture_from(&f, PLAIN, 5);
  EXPECT(UNWIND_TRUNCATED, walk_in(PLAIN), f.words[5] + 1);
}

static void only_so_many_guesses_are_given_up(void **state) {
  enum { GIVEN_UP = 8 };
  (void)state;
  f.at.tracked[0] = walk_word(20);
  f.words[5] = 0x10;
  for (unsigned n = 20; n < 44; n += 2) {
    f.words[n] = walk_word(n + 2); /* the next pair; invalid as a return address */
    f.words[n + 1] = walk_in(GUESSED);
  }
  walk_fixture_from(&f, GUESSED, 5);
  assert_int_equal(f.path.depth, 1 + GIVEN_UP);
  assert_int_equal(f.path.end, UNWIND_BAD);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(interrupted_code_may_count_its_frame_from_any_register),
      CLAIM(a_frames_place_may_be_in_a_word_that_any_register_points_at),
      CLAIM(a_caller_may_count_from_a_register_only_if_no_callee_writes_it),
      CLAIM(a_signals_frame_holds_the_registers_of_what_it_interrupted),
      CLAIM(a_register_may_hold_the_return_address_or_another_register),
      CLAIM(without_the_register_the_walk_ends),
      CLAIM(a_function_that_was_entered_by_a_return_is_the_last_and_named_exactly),
      CLAIM(a_walk_that_fails_behind_a_guess_goes_on_by_the_frame_pointer),
      CLAIM(a_guess_that_leads_to_the_end_is_believed),
      CLAIM(without_a_frame_pointer_in_the_stack_it_ends_as_it_failed),
      CLAIM(a_return_address_with_no_room_for_a_call_begins_the_stack),
      CLAIM(a_signals_trampoline_begins_no_stack),
      CLAIM(only_so_many_guesses_are_given_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
