/* SPDX-License-Identifier: Apache-2.0 */
/* Walks on a CPU whose compilers put the pair at the bottom of a frame (AArch64). The caller's
   stack pointer follows from the caller's own rule and frame pointer, or is unknown. */
#include "walk_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { W = sizeof(uintptr_t), SAME = UNWIND_SAME };

const struct unwind_arch unwind_arch = {.call_bytes = 2,
                                        .has_lr = true,
                                        .has_frame_pairs = true,
                                        .return_mask = UINT64_MAX,
                                        .is_pair_at_top = false};

enum {
  MAIN,
  PAIRED,    /* stp x29, x30, [sp, #-48]!; mov x29, sp */
  OUTGOING,  /* its pair lies above room for arguments of its callees */
  LARGE,     /* so large that its rule counts from the stack pointer */
  ALLOCATES, /* counts from its frame pointer */
  BARE,      /* keeps no pair and does not change the frame pointer */
  SPILLS,    /* keeps the frame pointer, but not next to the return address */
  WITHOUT,   /* relative to a register that no pair restores */
  RETURN,
  FUNCTIONS
};

static const struct unwind_rule rules[FUNCTIONS] = {
    [MAIN] = {.cfa = UNWIND_CFA_END},
    [PAIRED] = {.cfa = UNWIND_CFA_SP,
                .offset = 6 * W,
                .return_address = -5 * W,
                .saved = {-6 * W, -4 * W}},
    [OUTGOING] = {.cfa = UNWIND_CFA_SP,
                  .offset = 6 * W,
                  .return_address = -3 * W,
                  .saved = {-4 * W, SAME}},
    [LARGE] = {.cfa = UNWIND_CFA_SP,
               .offset = 10 * W,
               .return_address = W,
               .saved = {0, SAME},
               .flags = UNWIND_AT_BASE},
    [ALLOCATES] = {.cfa = UNWIND_CFA_TRACKED,
                   .offset = 6 * W,
                   .return_address = -5 * W,
                   .saved = {-6 * W, SAME}},
    [BARE] = {.cfa = UNWIND_CFA_SP, .offset = 2 * W, .return_address = -W, .saved = {SAME, SAME}},
    [SPILLS] = {.cfa = UNWIND_CFA_SP,
                .offset = 4 * W,
                .return_address = -W,
                .saved = {-4 * W, SAME}},
    [WITHOUT] = {.cfa = UNWIND_CFA_TRACKED_2,
                 .offset = 2 * W,
                 .return_address = -W,
                 .saved = {-2 * W, SAME}},
    [RETURN] = {.cfa = UNWIND_CFA_SIGNAL},
};

static struct walk_fixture f;

static int setup(void **state) {
  (void)state;
  walk_fixture_init(&f, rules, FUNCTIONS);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  walk_fixture_fini(&f);
  return 0;
}

/* A pair at WORD of the stack. */
static void put_pair(unsigned word, uintptr_t frame_pointer, uintptr_t return_address) {
  f.words[word] = frame_pointer;
  f.words[word + 1] = return_address;
}

/* Walks from a frame without a table, of words 5 to 11, that function N called. */
static void walk_out_of_unknown_code(unsigned n) {
  put_pair(5, walk_word(20), walk_in(n));
  f.at = (struct unwind_registers){.pc = WALK_JIT, .sp = walk_word(5), .tracked[0] = walk_word(5)};
  walk_fixture_walk(&f);
}

static void unknown_code_between_two_tables_keeps_the_stack_whole(void **state) {
  (void)state;
  put_pair(14, walk_word(20), WALK_JIT + 8);    /* of words 14 to 19 */
  put_pair(20, walk_word(30), walk_in(PAIRED)); /* of the unknown code, of words 20 to 29 */
  f.words[23] = walk_in(BARE);                  /* the result for a stack pointer right above it */
  put_pair(30, walk_word(36), walk_in(PAIRED)); /* of words 30 to 35 */
  put_pair(36, 0, walk_in(MAIN));               /* of words 36 to 41 */
  walk_fixture_from(&f, PAIRED, 14);
  EXPECT(UNWIND_COMPLETE, walk_in(PAIRED), WALK_JIT + 8, walk_in(PAIRED), walk_in(PAIRED),
         walk_in(MAIN));
}

static void a_pair_above_other_things_says_where_its_frame_is(void **state) {
  (void)state;
  put_pair(20, walk_word(24), walk_in(BARE)); /* of words 18 to 23 */
  f.words[25] = walk_in(MAIN);
  walk_out_of_unknown_code(OUTGOING);
  EXPECT(UNWIND_COMPLETE, WALK_JIT, walk_in(OUTGOING), walk_in(BARE), walk_in(MAIN));
}

static void a_large_frames_pair_is_at_its_bottom(void **state) {
  (void)state;
  put_pair(20, 0, walk_in(BARE)); /* of words 20 to 29 */
  f.words[31] = walk_in(MAIN);
  walk_out_of_unknown_code(LARGE);
  EXPECT(UNWIND_COMPLETE, WALK_JIT, walk_in(LARGE), walk_in(BARE), walk_in(MAIN));
}

static void a_frame_counted_from_its_frame_pointer_needs_no_other(void **state) {
  (void)state;
  put_pair(20, 0, walk_in(BARE)); /* of words 20 to 25, and more below */
  f.words[27] = walk_in(MAIN);
  walk_out_of_unknown_code(ALLOCATES);
  EXPECT(UNWIND_COMPLETE, WALK_JIT, walk_in(ALLOCATES), walk_in(BARE), walk_in(MAIN));
}

static void where_nothing_tells_the_stack_pointer_the_walk_ends(void **state) {
  static const unsigned silent[] = {BARE, SPILLS, WITHOUT, RETURN};
  (void)state;
  for (unsigned i = 0; i < WALK_WORDS; i++) f.words[i] = walk_in(MAIN);
  f.at.tracked[1] = walk_word(30);
  for (unsigned i = 0; i < sizeof silent / sizeof *silent; i++) {
    walk_out_of_unknown_code(silent[i]);
    EXPECT(UNWIND_UNKNOWN, WALK_JIT, walk_in(silent[i]) + (silent[i] == RETURN));
  }
}

static void a_frame_below_its_callees_is_none(void **state) {
  (void)state;
  put_pair(7, 0, walk_in(MAIN));
  put_pair(5, walk_word(7), walk_in(OUTGOING)); /* which would then begin at word 5 */
  f.at = (struct unwind_registers){.pc = WALK_JIT, .sp = walk_word(5), .tracked[0] = walk_word(5)};
  walk_fixture_walk(&f);
  EXPECT(UNWIND_UNKNOWN, WALK_JIT, walk_in(OUTGOING));
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(unknown_code_between_two_tables_keeps_the_stack_whole),
      CLAIM(a_pair_above_other_things_says_where_its_frame_is),
      CLAIM(a_large_frames_pair_is_at_its_bottom),
      CLAIM(a_frame_counted_from_its_frame_pointer_needs_no_other),
      CLAIM(where_nothing_tells_the_stack_pointer_the_walk_ends),
      CLAIM(a_frame_below_its_callees_is_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
