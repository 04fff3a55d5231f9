/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over real memory between unmapped pages: a read outside the permitted range ends the test.
 */
#include "walk_fixture.h"

#include "unwind/unwind_stacks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { W = sizeof(uintptr_t), SAME = UNWIND_SAME, PAGE = 4096, PAGES = 4, PID = 77 };

const struct unwind_arch unwind_arch = {
    .call_bytes = 2,
    .has_frame_pairs = true,
    .is_pair_at_top = true,
    .red_zone = 2 * W,
    .return_mask = UINT64_MAX,
    .signal = {.tracked = {0, W}, .pc = 2 * W, .sp = 3 * W},
};

enum {
  MAIN,
  PLAIN,   /* nothing but its return address */
  LARGE,   /* a frame of one page and a word */
  FIRST,   /* begins where LARGE ends */
  SECOND,  /* begins where FIRST ends */
  GUESSED, /* as LARGE, by a guess */
  FRAMED,  /* has a frame pointer */
  RETURN,  /* from a handler */
  UNSEEN,  /* no rule */
  FUNCTIONS
};

static const struct unwind_rule rules[FUNCTIONS] = {
    [MAIN] = {.cfa = UNWIND_CFA_END},
    [PLAIN] = {.cfa = UNWIND_CFA_SP, .offset = W, .return_address = -W, .saved = {SAME, SAME}},
    [LARGE] = {.cfa = UNWIND_CFA_SP,
               .offset = PAGE + W,
               .return_address = -W,
               .saved = {SAME, SAME}},
    [FIRST] = {.cfa = UNWIND_CFA_SP, .offset = W, .return_address = -W, .saved = {SAME, SAME}},
    [SECOND] = {.cfa = UNWIND_CFA_SP, .offset = W, .return_address = -W, .saved = {SAME, SAME}},
    [GUESSED] = {.cfa = UNWIND_CFA_SP,
                 .offset = PAGE + W,
                 .return_address = -W,
                 .saved = {SAME, SAME},
                 .flags = UNWIND_GUESSED},
    [FRAMED] = {.cfa = UNWIND_CFA_TRACKED,
                .offset = 2 * W,
                .return_address = -W,
                .saved = {-2 * W, SAME}},
    [RETURN] = {.cfa = UNWIND_CFA_SIGNAL},
    [UNSEEN] = {.cfa = UNWIND_CFA_NONE},
};

static struct walk_fixture f;
static struct unwind_map *map;
static struct unwind_stacks stacks;
static uint8_t *base; /* PAGES pages; nothing is mapped beside them */

static int setup(void **state) {
  (void)state;
  walk_fixture_init(&f, rules, FUNCTIONS);
  map = calloc(1, sizeof *map);
  uint8_t *all = mmap(NULL, (PAGES + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == NULL || all == MAP_FAILED) return -1;
  base = all + PAGE;
  stacks = (struct unwind_stacks){.map = map, .pid = PID};
  return mprotect(base, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE);
}

static int teardown(void **state) {
  (void)state;
  walk_fixture_fini(&f);
  free(map);
  return munmap(base - PAGE, (PAGES + 2) * (size_t)PAGE);
}

static void publish(uint32_t pid, unsigned first, unsigned pages) {
  map->stacks[map->stack_count++] = (struct unwind_stack_span){
      .key = unwind_stack_key(pid, (uintptr_t)base + first * PAGE), .pages = pages};
}

/* The word N words into page PAGE_AT. */
static uintptr_t *word(unsigned page, unsigned n) {
  return (uintptr_t *)(void *)(base + page * PAGE) + n;
}

static void walk_from(unsigned function, const uintptr_t *sp) {
  f.at.pc = walk_in(function);
  f.at.sp = (uintptr_t)sp;
  struct unwind_memory stack;
  const void *context = (const void *)(f.at.sp - 64 * sizeof *sp);
  unwind_stacks_begin(&stacks, f.at.sp, context, &stack);
  unwind_walk(&f.at, &stack, &f.code, &f.path);
}

static void in_the_page_of_the_stack_pointer_all_may_be_read(void **state) {
  (void)state;
  *word(0, 5) = walk_in(PLAIN);
  *word(0, 6) = walk_in(FRAMED);
  *word(0, 20) = 0;
  *word(0, 21) = walk_in(MAIN);
  f.at.tracked[0] = (uintptr_t)word(0, 20);
  walk_from(PLAIN, word(0, 5));
  EXPECT(UNWIND_COMPLETE, walk_in(PLAIN), walk_in(PLAIN), walk_in(FRAMED), walk_in(MAIN));
}

static void beyond_it_nothing_is_read_of_what_is_not_published(void **state) {
  (void)state;
  for (unsigned kind = 0; kind < 3; kind++) { /* nothing; another process's; another mapping */
    if (kind == 1) publish(PID + 1, 0, PAGES);
    if (kind == 2) map->stack_count = 0;
    if (kind == 2) publish(PID, 2, 1);
    assert_int_equal(mprotect(word(1, 0), PAGE, PROT_NONE), 0);
    walk_from(LARGE, word(0, 5));
    EXPECT(UNWIND_OTHER, walk_in(LARGE));
  }
}

static void what_is_published_is_left_only_at_its_end(void **state) {
  (void)state;
  publish(PID, 0, 2);
  *word(1, 5) = walk_in(LARGE);
  assert_int_equal(mprotect(word(2, 0), PAGE, PROT_NONE), 0);
  walk_from(LARGE, word(0, 5));
  EXPECT(UNWIND_OTHER, walk_in(LARGE), walk_in(LARGE));
  *word(1, 5) = walk_in(MAIN);
  walk_from(LARGE, word(0, 5));
  EXPECT(UNWIND_COMPLETE, walk_in(LARGE), walk_in(MAIN));
}

/* The mapping is published whole, but another thread has unmapped all but the first page. */
static void neither_guesses_nor_frame_pointers_lead_out_of_that_page(void **state) {
  (void)state;
  publish(PID, 0, PAGES);
  assert_int_equal(mprotect(word(1, 0), (PAGES - 1) * PAGE, PROT_NONE), 0);
  walk_from(GUESSED, word(0, 5));
  EXPECT(UNWIND_OTHER, walk_in(GUESSED));
  f.at.tracked[0] = (uintptr_t)word(2, 8);
  walk_from(UNSEEN, word(0, 5));
  EXPECT(UNWIND_OTHER, walk_in(UNSEEN));
  *word(0, 8) = (uintptr_t)word(2, 8); /* a valid rule, but an invalid frame */
  *word(0, 9) = walk_in(LARGE);
  f.at.tracked[0] = (uintptr_t)word(0, 8);
  walk_from(UNSEEN, word(0, 5));
  EXPECT(UNWIND_OTHER, walk_in(UNSEEN), walk_in(LARGE));
}

/* The first function of this stack was called where the rule of its caller is for another stack. */
static void a_frame_that_would_begin_with_a_page_is_not_left(void **state) {
  (void)state;
  publish(PID, 0, PAGES);
  *word(0, PAGE / W - 1) = walk_in(LARGE);
  assert_int_equal(mprotect(word(1, 0), (PAGES - 1) * PAGE, PROT_NONE), 0);
  walk_from(PLAIN, word(0, PAGE / W - 1));
  EXPECT(UNWIND_OTHER, walk_in(PLAIN), walk_in(LARGE));
}

static uintptr_t start_of(unsigned function) {
  return WALK_CODE + function * WALK_FUNCTION_BYTES;
}

/* The program has put a function's address in place of the first frame's return address. The rule
   of the byte before leads above the stack, at once or by a word that belongs to no frame. */
static void a_return_address_that_begins_a_function_leads_nowhere_far(void **state) {
  (void)state;
  publish(PID, 0, PAGES);
  assert_int_equal(mprotect(word(1, 0), (PAGES - 1) * PAGE, PROT_NONE), 0);
  *word(0, 5) = start_of(FIRST);
  walk_from(PLAIN, word(0, 5));
  EXPECT(UNWIND_OTHER, walk_in(PLAIN), start_of(FIRST));
  *word(0, 5) = start_of(SECOND);
  *word(0, 6) = walk_in(LARGE);
  walk_from(PLAIN, word(0, 5));
  EXPECT(UNWIND_OTHER, walk_in(PLAIN), start_of(SECOND), walk_in(LARGE));
}

static void while_the_map_changes_its_rules_lead_nowhere_else(void **state) {
  (void)state;
  publish(PID, 0, PAGES);
  assert_int_equal(mprotect(word(1, 0), (PAGES - 1) * PAGE, PROT_NONE), 0);
  atomic_store(&map->serial, 2);
  walk_from(LARGE, word(0, 5));
  EXPECT(UNWIND_OTHER, walk_in(LARGE));
}

static void a_stack_pointer_at_a_stacks_very_end_has_no_page(void **state) {
  (void)state;
  walk_from(PLAIN, word(PAGES, 0));
  EXPECT(UNWIND_OTHER, walk_in(PLAIN));
  walk_from(PLAIN, (const uintptr_t *)UINTPTR_MAX - 1);
  assert_int_equal(f.path.depth, 1);
  walk_from(PLAIN, NULL);
  assert_int_equal(f.path.depth, 1);
}

/* Our own frame is on the alternate stack then, and gives no information about the other stack. */
static void a_stack_that_the_kernel_did_not_touch_must_be_published(void **state) {
  (void)state;
  stacks.alternate_low = (uintptr_t)word(2, 0);
  stacks.alternate_high = (uintptr_t)word(PAGES, 0);
  assert_int_equal(mprotect(word(0, 0), PAGE, PROT_NONE), 0);
  f.at = (struct unwind_registers){.pc = walk_in(PLAIN), .sp = (uintptr_t)word(0, 5)};
  struct unwind_memory stack;
  unwind_stacks_begin(&stacks, f.at.sp, word(3, 0), &stack);
  unwind_walk(&f.at, &stack, &f.code, &f.path);
  EXPECT(UNWIND_OTHER, walk_in(PLAIN));
}

static void a_handler_on_an_alternate_stack_leads_back_to_the_threads_own(void **state) {
  (void)state;
  stacks.alternate_low = (uintptr_t)word(0, 0);
  stacks.alternate_high = (uintptr_t)word(2, 0);
  stacks.low = (uintptr_t)word(2, 0);
  stacks.high = (uintptr_t)word(PAGES, 0);
  stacks.is_whole = true;
  *word(1, 5) = walk_in(RETURN);
  *word(1, 6 + 2) = walk_in(PLAIN); /* pc and sp in the signal's frame */
  *word(1, 6 + 3) = (uintptr_t)word(3, 10);
  *word(3, 10) = walk_in(MAIN);
  walk_from(LARGE, word(0, 5));
  EXPECT(UNWIND_COMPLETE, walk_in(LARGE), walk_in(RETURN) + 1, walk_in(PLAIN) + 1, walk_in(MAIN));
  *word(1, 6 + 3) = (uintptr_t)word(PAGES, 10); /* on none of them */
  walk_from(LARGE, word(0, 5));
  EXPECT(UNWIND_OTHER, walk_in(LARGE), walk_in(RETURN) + 1, walk_in(PLAIN) + 1);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(in_the_page_of_the_stack_pointer_all_may_be_read),
      CLAIM(beyond_it_nothing_is_read_of_what_is_not_published),
      CLAIM(what_is_published_is_left_only_at_its_end),
      CLAIM(neither_guesses_nor_frame_pointers_lead_out_of_that_page),
      CLAIM(a_frame_that_would_begin_with_a_page_is_not_left),
      CLAIM(a_return_address_that_begins_a_function_leads_nowhere_far),
      CLAIM(while_the_map_changes_its_rules_lead_nowhere_else),
      CLAIM(a_stack_pointer_at_a_stacks_very_end_has_no_page),
      CLAIM(a_stack_that_the_kernel_did_not_touch_must_be_published),
      CLAIM(a_handler_on_an_alternate_stack_leads_back_to_the_threads_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
