/* SPDX-License-Identifier: Apache-2.0 */
/* Walks on a CPU with a link register: a leaf may have pushed nothing, and its caller's place is in
   that register and nowhere else; callers' are on the stack, below the frame pointer here. Bit 0 of
   a return address is no address. */
#include "walk_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { W = sizeof(uintptr_t), SAME = UNWIND_SAME };

const struct unwind_arch unwind_arch = {
    .call_bytes = 2,
    .has_lr = true,
    .has_frame_pairs = true,
    .is_pair_at_top = true,
    .pair_offset = -2 * W,
    .return_mask = UINT64_MAX - 1,
    .signal = {.tracked = {0, W}, .pc = 2 * W, .sp = 3 * W, .lr = 4 * W},
};

enum {
  MAIN,
  LEAF,   /* has touched neither stack nor link register */
  ROOMY,  /* a leaf that has taken two words */
  PUSHED, /* has pushed frame pointer and link register */
  POPPED, /* has popped the frame pointer again, unlike its rule */
  STILL, /* its rule gives its caller's stack pointer as its own, and the return address above it */
  RETURN,
  UNSEEN,
  FUNCTIONS
};

static const struct unwind_rule rules[FUNCTIONS] = {
    [MAIN] = {.cfa = UNWIND_CFA_END},
    [LEAF] = {.cfa = UNWIND_CFA_SP, .return_address = SAME, .saved = {SAME, SAME}},
    [ROOMY] = {.cfa = UNWIND_CFA_SP,
               .offset = 2 * W,
               .return_address = SAME,
               .saved = {SAME, SAME}},
    [PUSHED] = {.cfa = UNWIND_CFA_SP,
                .offset = 2 * W,
                .return_address = -W,
                .saved = {-2 * W, SAME}},
    [POPPED] = {.cfa = UNWIND_CFA_SP, .return_address = SAME, .saved = {-W, SAME}},
    [STILL] = {.cfa = UNWIND_CFA_SP, .return_address = W, .saved = {SAME, SAME}},
    [RETURN] = {.cfa = UNWIND_CFA_SIGNAL},
    [UNSEEN] = {.cfa = UNWIND_CFA_NONE},
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

static void a_leaf_has_its_caller_in_the_link_register(void **state) {
  (void)state;
  f.at.lr = walk_in(PUSHED);
  f.words[6] = walk_in(MAIN);
  walk_fixture_from(&f, LEAF, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(LEAF), walk_in(PUSHED), walk_in(MAIN));
  f.words[8] = walk_in(MAIN);
  f.words[6] = 0;
  walk_fixture_from(&f, ROOMY, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(ROOMY), walk_in(PUSHED), walk_in(MAIN));
}

static void what_is_no_address_is_cut_off(void **state) {
  (void)state;
  f.at.lr = walk_in(PUSHED) | 1;
  f.words[6] = walk_in(MAIN) | 1;
  walk_fixture_from(&f, LEAF, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(LEAF), walk_in(PUSHED), walk_in(MAIN));
  walk_fixture_from(&f, UNSEEN, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(UNSEEN), walk_in(PUSHED), walk_in(MAIN));
  f.words[6] = 1;
  walk_fixture_from(&f, PUSHED, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(PUSHED));
  f.at.tracked[0] = walk_word(20);
  f.words[19] = (WALK_JIT + 8) | 1;
  walk_fixture_from(&f, UNSEEN, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(UNSEEN), WALK_JIT + 8);
}

static void a_callers_return_address_is_on_the_stack_or_the_table_is_wrong(void **state) {
  (void)state;
  f.at.lr = walk_in(LEAF);
  walk_fixture_from(&f, LEAF, 5);
  EXPECT(UNWIND_BAD, walk_in(LEAF), walk_in(LEAF));
  f.words[6] = walk_in(ROOMY);
  walk_fixture_from(&f, PUSHED, 5);
  EXPECT(UNWIND_BAD, walk_in(PUSHED), walk_in(ROOMY));
}

static void only_a_leaf_may_leave_the_stack_pointer_where_it_is(void **state) {
  (void)state;
  f.at.lr = walk_in(STILL);
  f.words[6] = walk_in(MAIN);
  walk_fixture_from(&f, LEAF, 5);
  EXPECT(UNWIND_BAD, walk_in(LEAF), walk_in(STILL));
}

static void an_interrupted_leaf_has_its_link_register_again(void **state) {
  (void)state;
  f.words[6] = walk_in(RETURN);
  f.words[9] = walk_in(LEAF);
  f.words[10] = walk_word(20);
  f.words[11] = walk_in(PUSHED);
  f.words[21] = walk_in(MAIN);
  walk_fixture_from(&f, PUSHED, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(PUSHED), walk_in(RETURN) + 1, walk_in(LEAF) + 1, walk_in(PUSHED),
         walk_in(MAIN));
}

static void what_an_interrupted_epilogue_has_popped_is_in_its_register(void **state) {
  (void)state;
  f.words[6] = walk_in(RETURN);
  f.words[7] = walk_word(40); /* the register, as the kernel saved it */
  f.words[9] = walk_in(POPPED);
  f.words[10] = walk_word(20);
  f.words[11] = walk_in(UNSEEN);
  f.words[19] = walk_word(30); /* where it had been pushed the kernel's frame is */
  f.words[39] = walk_in(MAIN);
  walk_fixture_from(&f, PUSHED, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(PUSHED), walk_in(RETURN) + 1, walk_in(POPPED) + 1,
         walk_in(UNSEEN), walk_in(MAIN));
}

static void without_a_rule_a_frame_comes_before_the_link_register(void **state) {
  (void)state;
  f.at.lr = walk_in(MAIN);
  f.at.tracked[0] = walk_word(20);
  f.words[18] = 0;
  f.words[19] = WALK_JIT + 8;
  walk_fixture_from(&f, UNSEEN, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(UNSEEN), WALK_JIT + 8);
  f.words[19] = 0x10;
  walk_fixture_from(&f, UNSEEN, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(UNSEEN), walk_in(MAIN));
  f.at.lr = 0x10;
  walk_fixture_from(&f, UNSEEN, 5);
  EXPECT(UNWIND_UNKNOWN, walk_in(UNSEEN));
  f.at.lr = 0;
  walk_fixture_from(&f, UNSEEN, 5);
  EXPECT(UNWIND_UNKNOWN, walk_in(UNSEEN));
}

static void a_callers_link_register_is_gone(void **state) {
  (void)state;
  f.at.lr = walk_in(MAIN);
  f.words[6] = walk_in(UNSEEN);
  walk_fixture_from(&f, PUSHED, 5);
  EXPECT(UNWIND_UNKNOWN, walk_in(PUSHED), walk_in(UNSEEN));
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(a_leaf_has_its_caller_in_the_link_register),
      CLAIM(what_is_no_address_is_cut_off),
      CLAIM(a_callers_return_address_is_on_the_stack_or_the_table_is_wrong),
      CLAIM(only_a_leaf_may_leave_the_stack_pointer_where_it_is),
      CLAIM(an_interrupted_leaf_has_its_link_register_again),
      CLAIM(what_an_interrupted_epilogue_has_popped_is_in_its_register),
      CLAIM(without_a_rule_a_frame_comes_before_the_link_register),
      CLAIM(a_callers_link_register_is_gone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
