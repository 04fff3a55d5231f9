/* SPDX-License-Identifier: Apache-2.0 */
/* Walks on a CPU that keeps return addresses on the stack: every rule of a table, places without a
   rule, ends of walks, and invalid stacks and tables of every kind. */
#include "walk_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { W = sizeof(uintptr_t), SAME = UNWIND_SAME };

const struct unwind_arch unwind_arch = {
    .call_bytes = 2,
    .has_frame_pairs = true,
    .is_pair_at_top = true,
    .red_zone = 2 * W,
    .return_mask = UINT64_MAX,
    .signal = {.tracked = {0, W}, .pc = 2 * W, .sp = 3 * W},
};

/* The module's functions, by their actions before a call. */
enum {
  MAIN,
  PLAIN,    /* nothing */
  PUSHED,   /* pushes the first tracked register */
  BOTH,     /* pushes both */
  FRAMED,   /* has a frame pointer */
  SECOND,   /* counts from the second tracked register */
  ALIGNED,  /* keeps the caller's stack pointer in a word of its own */
  DEREF,    /* the same, counted from a frame pointer, which it also keeps */
  LARGE,    /* saves at the bottom of its frame */
  POPPED,   /* is in its epilogue: the register that it pushed is back */
  POPPED_2, /* it was one word further down */
  POPPED_3, /* two */
  PLT,
  RETURN, /* from a handler */
  UNSEEN, /* no rule */
  UNTOLD,
  UNHEARD, /* a rule of no kind */
  LINKED,  /* leaves the return address in a register that this CPU does not have */
  FUNCTIONS
};

static const struct unwind_rule rules[FUNCTIONS] = {
    [MAIN] = {.cfa = UNWIND_CFA_END},
    [PLAIN] = {.cfa = UNWIND_CFA_SP, .offset = W, .return_address = -W, .saved = {SAME, SAME}},
    [PUSHED] = {.cfa = UNWIND_CFA_SP,
                .offset = 2 * W,
                .return_address = -W,
                .saved = {-2 * W, SAME}},
    [BOTH] = {.cfa = UNWIND_CFA_SP,
              .offset = 3 * W,
              .return_address = -W,
              .saved = {-2 * W, -3 * W}},
    [FRAMED] = {.cfa = UNWIND_CFA_TRACKED,
                .offset = 2 * W,
                .return_address = -W,
                .saved = {-2 * W, SAME}},
    [SECOND] = {.cfa = UNWIND_CFA_TRACKED_2,
                .offset = W,
                .return_address = -W,
                .saved = {SAME, SAME}},
    [ALIGNED] = {.cfa = UNWIND_CFA_SP_WORD,
                 .offset = 2 * W,
                 .addend = W,
                 .return_address = -W,
                 .saved = {SAME, SAME}},
    [DEREF] = {.cfa = UNWIND_CFA_TRACKED_WORD,
               .offset = -W,
               .addend = -W,
               .return_address = -W,
               .saved = {0, SAME},
               .flags = UNWIND_AT_TRACKED},
    [LARGE] = {.cfa = UNWIND_CFA_SP,
               .offset = 10 * W,
               .return_address = W,
               .saved = {0, SAME},
               .flags = UNWIND_AT_BASE},
    [POPPED] = {.cfa = UNWIND_CFA_SP, .offset = W, .return_address = -W, .saved = {-2 * W, SAME}},
    [POPPED_2] = {.cfa = UNWIND_CFA_SP, .offset = W, .return_address = -W, .saved = {-3 * W, SAME}},
    [POPPED_3] = {.cfa = UNWIND_CFA_SP, .offset = W, .return_address = -W, .saved = {-4 * W, SAME}},
    [PLT] = {.cfa = UNWIND_CFA_PLT,
             .offset = W,
             .addend = 11,
             .return_address = -W,
             .saved = {SAME, SAME}},
    [RETURN] = {.cfa = UNWIND_CFA_SIGNAL},
    [UNSEEN] = {.cfa = UNWIND_CFA_NONE},
    [UNTOLD] = {.cfa = UNWIND_CFA_UNTOLD},
    [UNHEARD] = {.cfa = UNWIND_CFA_COUNT},
    [LINKED] = {.cfa = UNWIND_CFA_SP, .offset = W, .return_address = SAME, .saved = {SAME, SAME}},
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

static uintptr_t first_byte(unsigned n) {
  return WALK_CODE + n * WALK_FUNCTION_BYTES;
}

static void a_caller_is_found_by_the_stack_pointer(void **state) {
  (void)state;
  f.words[5] = walk_in(PUSHED);
  f.words[7] = walk_in(MAIN);
  walk_fixture_from(&f, PLAIN, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(PLAIN), walk_in(PUSHED), walk_in(MAIN));
}

static void a_frame_pointer_that_a_callee_saved_finds_its_callers_caller(void **state) {
  (void)state;
  f.words[5] = walk_word(20);
  f.words[6] = walk_in(FRAMED);
  f.words[21] = walk_in(MAIN);
  walk_fixture_from(&f, PUSHED, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(PUSHED), walk_in(FRAMED), walk_in(MAIN));
}

static void what_is_saved_at_a_frames_bottom_is_found_there(void **state) {
  (void)state;
  f.words[5] = walk_word(20);
  f.words[6] = walk_in(FRAMED);
  f.words[21] = walk_in(MAIN);
  walk_fixture_from(&f, LARGE, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(LARGE), walk_in(FRAMED), walk_in(MAIN));
}

static void a_second_register_is_followed_too(void **state) {
  (void)state;
  f.words[5] = walk_word(30);
  f.words[7] = walk_in(SECOND);
  f.words[30] = walk_in(MAIN);
  walk_fixture_from(&f, BOTH, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(BOTH), walk_in(SECOND), walk_in(MAIN));
}

static void a_frame_address_may_be_in_a_word_of_the_stack(void **state) {
  (void)state;
  f.words[7] = walk_word(20);
  f.words[20] = walk_in(MAIN);
  walk_fixture_from(&f, ALIGNED, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(ALIGNED), walk_in(MAIN));
}

static void what_a_realigned_function_saved_counts_from_its_frame_pointer(void **state) {
  (void)state;
  f.at.tracked[0] = walk_word(20);
  f.words[19] = walk_word(31);
  f.words[20] = walk_word(40);
  f.words[29] = walk_in(FRAMED);
  f.words[41] = walk_in(MAIN);
  walk_fixture_from(&f, DEREF, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(DEREF), walk_in(FRAMED), walk_in(MAIN));
}

static void an_entry_of_the_plt_has_pushed_from_its_11th_byte_on(void **state) {
  (void)state;
  f.words[5] = walk_in(MAIN);
  f.words[6] = walk_in(MAIN) + 1;
  f.at.sp = walk_word(5);
  for (unsigned byte = 0; byte < 32; byte++) {
    f.at.pc = first_byte(PLT) + byte;
    walk_fixture_walk(&f);
    EXPECT(UNWIND_COMPLETE, f.at.pc, walk_in(MAIN) + (byte % 16 >= 11));
  }
}

static void a_call_that_ends_its_function_belongs_to_it(void **state) {
  (void)state;
  f.words[5] = first_byte(PUSHED + 1);
  f.words[7] = walk_in(MAIN);
  walk_fixture_from(&f, PLAIN, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(PLAIN), first_byte(PUSHED + 1), walk_in(MAIN));
}

static void call_handler(uintptr_t pc, uintptr_t sp) {
  f.words[5] = walk_in(RETURN);
  f.words[6] = walk_word(40);
  f.words[7] = walk_word(50);
  f.words[8] = pc;
  f.words[9] = sp;
  walk_fixture_from(&f, PLAIN, 5);
}

static void what_a_signal_interrupted_has_all_its_registers(void **state) {
  (void)state;
  f.words[41] = f.words[20] = f.words[50] = walk_in(MAIN);
  call_handler(first_byte(FRAMED), walk_word(20)); /* no call: not the function before */
  EXPECT(UNWIND_COMPLETE, walk_in(PLAIN), walk_in(RETURN) + 1, first_byte(FRAMED) + 1,
         walk_in(MAIN));
  call_handler(walk_in(PLAIN), walk_word(20));
  EXPECT(UNWIND_COMPLETE, walk_in(PLAIN), walk_in(RETURN) + 1, walk_in(PLAIN) + 1, walk_in(MAIN));
  call_handler(walk_in(SECOND), walk_word(20));
  EXPECT(UNWIND_COMPLETE, walk_in(PLAIN), walk_in(RETURN) + 1, walk_in(SECOND) + 1, walk_in(MAIN));
}

static void a_handler_on_a_stack_of_its_own_is_told_from_one_on_a_deep_stack(void **state) {
  (void)state;
  static const uintptr_t others[] = {0x1000, WALK_LOW - W, WALK_LOW + ((uintptr_t)1 << 20)};
  for (unsigned i = 0; i < 2 * sizeof others / sizeof *others; i++) {
    f.stack.is_whole = i % 2;
    call_handler(walk_in(PLAIN), others[i / 2]);
    EXPECT(UNWIND_OTHER, walk_in(PLAIN), walk_in(RETURN) + 1, walk_in(PLAIN) + 1);
  }
  f.stack.is_whole = false;
  call_handler(walk_in(PLAIN), WALK_LOW + (WALK_WORDS + 1) * W); /* right above the copy */
  EXPECT(UNWIND_TRUNCATED, walk_in(PLAIN), walk_in(RETURN) + 1, walk_in(PLAIN) + 1);
}

static void what_a_signal_cannot_have_interrupted_is_no_frame(void **state) {
  (void)state;
  call_handler(0x10, walk_word(20));
  EXPECT(UNWIND_BAD, walk_in(PLAIN), walk_in(RETURN) + 1);
}

static void tables_and_frame_pointers_mix_in_one_stack(void **state) {
  (void)state;
  f.words[10] = walk_word(20);
  f.words[11] = walk_in(FRAMED);
  f.words[20] = walk_word(30);
  f.words[21] = WALK_JIT + 8;
  f.words[30] = walk_word(40);
  f.words[31] = walk_in(UNSEEN);
  f.words[40] = 0;
  f.words[41] = WALK_JIT + 16;
  f.at = (struct unwind_registers){.pc = WALK_JIT, .sp = walk_word(5), .tracked[0] = walk_word(10)};
  walk_fixture_walk(&f);
  EXPECT(UNWIND_COMPLETE, WALK_JIT, walk_in(FRAMED), WALK_JIT + 8, walk_in(UNSEEN), WALK_JIT + 16);
}

static void a_zero_that_no_pair_held_is_no_end_of_frames(void **state) {
  (void)state;
  f.words[5] = 0;
  f.words[6] = WALK_JIT + 8;
  walk_fixture_from(&f, PUSHED, 5);
  EXPECT(UNWIND_UNKNOWN, walk_in(PUSHED), WALK_JIT + 8);
  f.words[2] = walk_word(40);
  f.words[3] = walk_in(PUSHED); /* whose stack pointer is behind the pair */
  f.words[4] = 0;
  f.words[5] = WALK_JIT + 8;
  f.at = (struct unwind_registers){.pc = WALK_JIT, .sp = walk_word(1), .tracked[0] = walk_word(2)};
  walk_fixture_walk(&f);
  EXPECT(UNWIND_UNKNOWN, WALK_JIT, walk_in(PUSHED), WALK_JIT + 8);
}

/* Regions and tables lie in memory that another process writes. */
static void a_place_where_no_whole_table_lies_is_none(void **state) {
  (void)state;
  uint64_t *table = &f.regions[0].table, truth = *table;
  uint32_t bytes = f.table->total_bytes;
  const uint64_t lies[] = {truth + 4, truth + 8, truth + bytes, UNWIND_NO_TABLE - 7, 1ULL << 40};
  f.words[5] = walk_in(MAIN);
  for (unsigned i = 0; i < sizeof lies / sizeof *lies; i++) {
    *table = lies[i];
    walk_fixture_from(&f, PLAIN, 5);
    EXPECT(UNWIND_UNKNOWN, walk_in(PLAIN));
  }
  *table = truth;
  f.table->total_bytes += 8;
  walk_fixture_from(&f, PLAIN, 5);
  EXPECT(UNWIND_UNKNOWN, walk_in(PLAIN));
  f.table->total_bytes -= 8;
  f.code.tables_bytes--;
  walk_fixture_from(&f, PLAIN, 5);
  EXPECT(UNWIND_UNKNOWN, walk_in(PLAIN));
  f.code.tables_bytes++;
  walk_fixture_from(&f, PLAIN, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(PLAIN), walk_in(MAIN));
}

static void a_rule_that_no_table_holds_is_not_guessed_by_frame_pointer(void **state) {
  (void)state;
  f.at.tracked[0] = walk_word(20);
  f.words[21] = walk_in(MAIN);
  walk_fixture_from(&f, UNSEEN, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(UNSEEN), walk_in(MAIN));
  walk_fixture_from(&f, UNTOLD, 5);
  EXPECT(UNWIND_UNKNOWN, walk_in(UNTOLD));
  walk_fixture_from(&f, UNHEARD, 5);
  EXPECT(UNWIND_UNKNOWN, walk_in(UNHEARD));
}

static void a_frame_pointer_at_what_is_no_frame_is_not_followed(void **state) {
  (void)state;
  f.words[3] = f.words[21] = 0x10;
  f.words[4] = walk_in(MAIN);
  static const uintptr_t lies[] = {0,
                                   8,
                                   WALK_LOW + 3 * W,
                                   WALK_LOW + 20 * W,
                                   WALK_LOW + 20 * W + 1,
                                   UINTPTR_MAX,
                                   UINTPTR_MAX - W + 1,
                                   UINTPTR_MAX - 2 * W + 1};
  for (unsigned i = 0; i < sizeof lies / sizeof *lies; i++) {
    f.at.tracked[0] = lies[i];
    walk_fixture_from(&f, UNSEEN, 5);
    EXPECT(UNWIND_UNKNOWN, walk_in(UNSEEN));
  }
  f.at.tracked[0] = walk_word(WALK_WORDS + 5);
  walk_fixture_from(&f, UNSEEN, 5);
  EXPECT(UNWIND_TRUNCATED, walk_in(UNSEEN));
}

static void a_register_that_was_popped_is_not_looked_for_below_the_copy(void **state) {
  (void)state;
  f.at.tracked[0] = walk_word(20);
  f.words[0] = walk_in(FRAMED);
  f.words[21] = walk_in(MAIN);
  walk_fixture_from(&f, POPPED, 0);
  EXPECT(UNWIND_COMPLETE, walk_in(POPPED), walk_in(FRAMED), walk_in(MAIN));
}

static void a_register_below_the_stack_pointer_is_read_where_it_is_seen(void **state) {
  (void)state;
  f.words[4] = walk_word(20);
  f.words[5] = walk_in(FRAMED);
  f.words[21] = walk_in(MAIN);
  walk_fixture_from(&f, POPPED, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(POPPED), walk_in(FRAMED), walk_in(MAIN));
}

static void behind_a_handler_only_the_red_zone_is_as_it_was(void **state) {
  static const unsigned slots[] = {POPPED, POPPED_2, POPPED_3};
  (void)state;
  for (unsigned i = 0; i < sizeof slots / sizeof *slots; i++) {
    bool is_kept = slots[i] == POPPED_3;
    f.words[29] = f.words[28] = walk_word(is_kept ? 50 : 40);
    f.words[27] = walk_word(50); /* of the kernel's frame */
    f.words[30] = walk_in(FRAMED);
    f.words[41] = walk_in(MAIN);
    f.words[51] = walk_in(PLAIN);
    f.words[6] = walk_word(is_kept ? 40 : 50);
    f.words[5] = walk_in(RETURN);
    f.words[8] = walk_in(slots[i]);
    f.words[9] = walk_word(30);
    walk_fixture_from(&f, PLAIN, 5);
    EXPECT(UNWIND_COMPLETE, walk_in(PLAIN), walk_in(RETURN) + 1, walk_in(slots[i]) + 1,
           walk_in(FRAMED), walk_in(MAIN));
  }
}

static void a_stack_beyond_the_copy_is_truncated_and_beyond_its_end_bad(void **state) {
  (void)state;
  f.words[WALK_WORDS - 1] = walk_in(PLAIN);
  walk_fixture_from(&f, PLAIN, WALK_WORDS - 1);
  EXPECT(UNWIND_TRUNCATED, walk_in(PLAIN), walk_in(PLAIN));
  f.stack.is_whole = true;
  walk_fixture_from(&f, PLAIN, WALK_WORDS - 1);
  EXPECT(UNWIND_BAD, walk_in(PLAIN), walk_in(PLAIN));
  f.stack.is_whole = false;
  f.stack.high -= 1;
  walk_fixture_from(&f, PLAIN, WALK_WORDS - 1);
  EXPECT(UNWIND_TRUNCATED, walk_in(PLAIN));
}

static void a_frame_address_out_of_all_reach_is_bad(void **state) {
  (void)state;
  f.at.tracked[0] = walk_word(WALK_WORDS + 100);
  walk_fixture_from(&f, FRAMED, 5);
  EXPECT(UNWIND_TRUNCATED, walk_in(FRAMED));
  static const uintptr_t lies[] = {0,
                                   8,
                                   WALK_LOW - 2 * W,
                                   WALK_LOW + ((uintptr_t)1 << 30) + 8 * W,
                                   UINTPTR_MAX - W + 1,
                                   UINTPTR_MAX - 2 * W + 1};
  for (unsigned i = 0; i < sizeof lies / sizeof *lies; i++) {
    f.at.tracked[0] = lies[i];
    walk_fixture_from(&f, FRAMED, 5);
    EXPECT(UNWIND_BAD, walk_in(FRAMED));
  }
}

static void callers_without_room_are_cut_and_callers_that_just_fit_are_not(void **state) {
  (void)state;
  for (unsigned i = 0; i < WALK_ROOM; i++) f.words[i] = walk_in(PLAIN);
  assert_int_equal(walk_fixture_from(&f, PLAIN, 0), WALK_ROOM);
  assert_int_equal(f.path.end, UNWIND_TRUNCATED);
  f.words[WALK_ROOM - 2] = walk_in(MAIN);
  assert_int_equal(walk_fixture_from(&f, PLAIN, 0), WALK_ROOM);
  assert_int_equal(f.path.end, UNWIND_COMPLETE);
  f.path.room = 1;
  walk_fixture_from(&f, PLAIN, 0);
  EXPECT(UNWIND_TRUNCATED, walk_in(PLAIN));
}

static void a_caller_is_in_code_or_is_none(void **state) {
  (void)state;
  static const uintptr_t lies[] = {1,         0x10,
                                   WALK_CODE, WALK_CODE + FUNCTIONS * WALK_FUNCTION_BYTES + 1,
                                   WALK_JIT,  WALK_JIT + WALK_JIT_BYTES + 1,
                                   WALK_LOW,  UINTPTR_MAX};
  for (unsigned i = 0; i < sizeof lies / sizeof *lies; i++) {
    f.words[5] = lies[i];
    walk_fixture_from(&f, PLAIN, 5);
    EXPECT(UNWIND_BAD, walk_in(PLAIN));
  }
  f.words[5] = WALK_JIT + WALK_JIT_BYTES; /* behind a call in the last bytes */
  walk_fixture_from(&f, PLAIN, 5);
  EXPECT(UNWIND_UNKNOWN, walk_in(PLAIN), WALK_JIT + WALK_JIT_BYTES);
  f.words[5] = 0;
  walk_fixture_from(&f, PLAIN, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(PLAIN));
}

static void code_that_nobody_knows_is_left_by_frame_pointer_or_not_at_all(void **state) {
  (void)state;
  f.words[11] = walk_in(MAIN);
  f.at = (struct unwind_registers){.pc = 0, .sp = walk_word(5), .tracked[0] = walk_word(10)};
  walk_fixture_walk(&f);
  EXPECT(UNWIND_COMPLETE, 0, walk_in(MAIN));
  f.at.tracked[0] = 0;
  walk_fixture_walk(&f);
  EXPECT(UNWIND_UNKNOWN, 0);
  f.code.count = 0;
  walk_fixture_from(&f, PLAIN, 5);
  EXPECT(UNWIND_UNKNOWN, walk_in(PLAIN));
}

static void a_stack_that_points_at_itself_ends(void **state) {
  (void)state;
  f.words[10] = walk_word(10);
  f.words[11] = walk_in(FRAMED);
  f.at.tracked[0] = walk_word(10);
  walk_fixture_from(&f, FRAMED, 5);
  EXPECT(UNWIND_BAD, walk_in(FRAMED), walk_in(FRAMED));
  f.words[11] = WALK_JIT + 8;
  walk_fixture_from(&f, FRAMED, 5);
  EXPECT(UNWIND_UNKNOWN, walk_in(FRAMED), WALK_JIT + 8);
  f.words[2] = walk_in(MAIN);
  f.at.tracked[0] = walk_word(1); /* below the stack pointer */
  walk_fixture_from(&f, FRAMED, 5);
  EXPECT(UNWIND_BAD, walk_in(FRAMED));
  f.words[4] = walk_in(ALIGNED);
  f.words[7] = walk_word(4); /* the frame address is the stack pointer itself */
  walk_fixture_from(&f, ALIGNED, 5);
  EXPECT(UNWIND_BAD, walk_in(ALIGNED));
}

static void handlers_that_return_to_each_other_end_with_the_room(void **state) {
  (void)state;
  call_handler(walk_in(PLAIN), walk_word(5));
  assert_int_equal(f.path.depth, WALK_ROOM);
  assert_int_equal(f.path.end, UNWIND_TRUNCATED);
}

static void a_misaligned_stack_pointer_is_bad(void **state) {
  (void)state;
  for (unsigned i = 5; i < 9; i++) f.words[i] = walk_in(PLAIN);
  for (unsigned byte = 1; byte < W; byte++) {
    f.at = (struct unwind_registers){.pc = walk_in(PLAIN), .sp = walk_word(5) + byte};
    walk_fixture_walk(&f);
    EXPECT(UNWIND_BAD, walk_in(PLAIN));
  }
}

static void a_copy_need_not_be_aligned(void **state) {
  (void)state;
  uint8_t *copy = malloc(WALK_WORDS * W + 1);
  assert_non_null(copy);
  f.words[5] = walk_in(PUSHED);
  f.words[7] = walk_in(MAIN);
  memcpy(copy + 1, f.words, WALK_WORDS * W);
  f.stack.bytes = copy + 1;
  walk_fixture_from(&f, PLAIN, 5);
  EXPECT(UNWIND_COMPLETE, walk_in(PLAIN), walk_in(PUSHED), walk_in(MAIN));
  free(copy);
}

static void a_link_register_is_not_asked_of_a_cpu_without_one(void **state) {
  (void)state;
  f.at.lr = walk_in(MAIN);
  walk_fixture_from(&f, LINKED, 5);
  EXPECT(UNWIND_BAD, walk_in(LINKED));
  walk_fixture_from(&f, UNSEEN, 5);
  EXPECT(UNWIND_UNKNOWN, walk_in(UNSEEN));
}

/* For any input, the walk ends, within its limit, and a sanitizer sees no load outside. */
static void no_register_leads_out_of_the_stack(void **state) {
  (void)state;
  static const uintptr_t extremes[] = {0,
                                       1,
                                       W,
                                       4 * W,
                                       WALK_LOW - W,
                                       WALK_LOW,
                                       WALK_LOW + 8 * W,
                                       WALK_LOW + (WALK_WORDS - 1) * W,
                                       WALK_LOW + WALK_WORDS * W,
                                       ((uintptr_t)1 << (8 * W - 1)) - W,
                                       (uintptr_t)1 << (8 * W - 1),
                                       UINTPTR_MAX - 2 * W + 1,
                                       UINTPTR_MAX - W + 1,
                                       UINTPTR_MAX};
  enum { COUNT = sizeof extremes / sizeof *extremes };
  for (unsigned i = 0; i < WALK_WORDS; i++)
    f.words[i] = i % 3 == 0 ? walk_in(i % FUNCTIONS) : extremes[i % COUNT];
  for (unsigned i = 0; i < COUNT * COUNT * COUNT * FUNCTIONS; i++) {
    f.stack.is_whole = i % 2;
    f.at = (struct unwind_registers){
        .pc = walk_in(i / (COUNT * COUNT * COUNT)),
        .sp = extremes[i % COUNT],
        .tracked = {extremes[i / COUNT % COUNT], extremes[i / (COUNT * COUNT) % COUNT]}};
    walk_fixture_walk(&f);
    assert_in_range(f.path.depth, 1, WALK_ROOM);
  }
}

static uintptr_t random_word(void) {
  switch (rand() % 4) {
  case 0:
    return walk_word((unsigned)rand() % (WALK_WORDS + 4));
  case 1:
    return WALK_JIT + (unsigned)rand() % WALK_JIT_BYTES;
  case 2:
    return (uintptr_t)rand() * (uintptr_t)rand();
  default:
    return walk_in((unsigned)rand() % FUNCTIONS);
  }
}

static void no_stack_leads_out_of_itself(void **state) {
  (void)state;
  srand(1);
  unsigned ends[UNWIND_ENDS] = {0};
  for (unsigned round = 0; round < 50000; round++) {
    for (unsigned i = 0; i < WALK_WORDS; i++) f.words[i] = random_word();
    f.at = (struct unwind_registers){.pc = walk_in((unsigned)rand() % FUNCTIONS),
                                     .sp = walk_word((unsigned)rand() % WALK_WORDS),
                                     .tracked = {random_word(), random_word()}};
    assert_in_range(walk_fixture_walk(&f), 1, WALK_ROOM);
    ends[f.path.end]++;
  }
  for (unsigned i = 0; i < UNWIND_ENDS; i++) assert_true(ends[i] > 100);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(a_caller_is_found_by_the_stack_pointer),
      CLAIM(a_frame_pointer_that_a_callee_saved_finds_its_callers_caller),
      CLAIM(what_is_saved_at_a_frames_bottom_is_found_there),
      CLAIM(a_second_register_is_followed_too),
      CLAIM(a_frame_address_may_be_in_a_word_of_the_stack),
      CLAIM(what_a_realigned_function_saved_counts_from_its_frame_pointer),
      CLAIM(an_entry_of_the_plt_has_pushed_from_its_11th_byte_on),
      CLAIM(a_call_that_ends_its_function_belongs_to_it),
      CLAIM(what_a_signal_interrupted_has_all_its_registers),
      CLAIM(a_handler_on_a_stack_of_its_own_is_told_from_one_on_a_deep_stack),
      CLAIM(what_a_signal_cannot_have_interrupted_is_no_frame),
      CLAIM(tables_and_frame_pointers_mix_in_one_stack),
      CLAIM(a_zero_that_no_pair_held_is_no_end_of_frames),
      CLAIM(a_place_where_no_whole_table_lies_is_none),
      CLAIM(a_rule_that_no_table_holds_is_not_guessed_by_frame_pointer),
      CLAIM(a_frame_pointer_at_what_is_no_frame_is_not_followed),
      CLAIM(a_register_that_was_popped_is_not_looked_for_below_the_copy),
      CLAIM(a_register_below_the_stack_pointer_is_read_where_it_is_seen),
      CLAIM(behind_a_handler_only_the_red_zone_is_as_it_was),
      CLAIM(a_stack_beyond_the_copy_is_truncated_and_beyond_its_end_bad),
      CLAIM(a_frame_address_out_of_all_reach_is_bad),
      CLAIM(callers_without_room_are_cut_and_callers_that_just_fit_are_not),
      CLAIM(a_caller_is_in_code_or_is_none),
      CLAIM(code_that_nobody_knows_is_left_by_frame_pointer_or_not_at_all),
      CLAIM(a_stack_that_points_at_itself_ends),
      CLAIM(handlers_that_return_to_each_other_end_with_the_room),
      CLAIM(a_misaligned_stack_pointer_is_bad),
      CLAIM(a_copy_need_not_be_aligned),
      CLAIM(a_link_register_is_not_asked_of_a_cpu_without_one),
      CLAIM(no_register_leads_out_of_the_stack),
      CLAIM(no_stack_leads_out_of_itself),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
