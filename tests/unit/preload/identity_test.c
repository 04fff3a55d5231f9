/* SPDX-License-Identifier: Apache-2.0 */
/* The fence walk over stacks in the kernels' layout, generated at random in both layouts, and over
   other data. */
#include "preload/identity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { BYTES = 8192, WORDS = 40, TEXT = 24, IMAGES = 20000, PAGE = 4096, ENTRIES = 12 };

#define BASE ((uintptr_t)0x7ff000000000)
#define NAME (BASE + BYTES - 64) /* the value of AT_EXECFN */

/* A stack being made: pointers in front (or behind, when they are reversed) of the strings. */
struct stack {
  uint8_t *bytes; /* BYTES, the page behind them is not there */
  uintptr_t environment;
  unsigned argc, envc;
  char expected[INTAKE_ARGV_BYTES];
  size_t expected_len;
};

static uint64_t randomness = 1;

static unsigned below(unsigned limit) {
  randomness = randomness * 6364136223846793005U + 1442695040888963407U;
  return (unsigned)(randomness >> 33) % limit;
}

static uint8_t *guarded(void) {
  uint8_t *bytes =
      mmap(NULL, BYTES + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(bytes != MAP_FAILED);
  assert_int_equal(mprotect(bytes + BYTES, PAGE, PROT_NONE), 0);
  return bytes;
}

static void put_word(struct stack *stack, size_t at, uintptr_t word) {
  memcpy(stack->bytes + at, &word, sizeof word);
}

/* Appends a random string at *AT.  Returns its address. */
static uintptr_t put_string(struct stack *stack, size_t *at, const char *prefix) {
  char text[TEXT];
  int len = snprintf(text, sizeof text, "%s%.*s", prefix, (int)below(12), "abcdefghijkl");
  memcpy(stack->bytes + *at, text, (size_t)len + 1);
  uintptr_t address = BASE + *at;
  *at += (size_t)len + 1;
  return address;
}

static void expect(struct stack *stack, uintptr_t address) {
  const char *text = (const char *)stack->bytes + (address - BASE);
  size_t len = strlen(text) + 1;
  if (stack->expected_len + len > sizeof stack->expected) return;
  memcpy(stack->expected + stack->expected_len, text, len);
  stack->expected_len += len;
}

/* The auxiliary vector, with AT_EXECFN anywhere in it. */
static void put_auxiliary(struct stack *stack, size_t at) {
  unsigned name = below(ENTRIES - 1);
  for (unsigned i = 0; i < ENTRIES - 1; i++) {
    put_word(stack, at + 16 * i, i == name ? AT_EXECFN : 3 + below(20));
    put_word(stack, at + 16 * i + 8, i == name ? NAME : below(3) * 0x1000);
  }
  put_word(stack, at + 16 * (ENTRIES - 1), AT_NULL);
  put_word(stack, at + 16 * (ENTRIES - 1) + 8, 0);
}

/* GAP: up to so many bytes between the strings. */
static void make(struct stack *stack, bool is_reversed, unsigned gap) {
  unsigned argc = below(WORDS), envc = below(WORDS);
  size_t pointers = 64 + 8 * (size_t)below(20),
         strings = pointers + 8 * (argc + envc + 8 + 2 * ENTRIES);
  if (is_reversed) {
    strings = 64;
    pointers = 4096;
  }
  memset(stack->bytes, 0xa5, BYTES);
  stack->argc = argc;
  stack->envc = envc;
  stack->expected_len = 0;
  put_word(stack, pointers, argc);
  for (unsigned i = 0; i < argc; i++) {
    uintptr_t address = put_string(stack, &strings, "");
    strings += gap ? below(gap) : 0;
    put_word(stack, pointers + 8 * (1 + i), address);
    expect(stack, address);
  }
  put_word(stack, pointers + 8 * (1 + argc), 0);
  stack->environment = BASE + pointers + 8 * (2 + argc);
  for (unsigned i = 0; i < envc; i++)
    put_word(stack, pointers + 8 * (2 + argc + i), put_string(stack, &strings, "K="));
  put_word(stack, pointers + 8 * (2 + argc + envc), 0);
  put_auxiliary(stack, pointers + 8 * (3 + argc + envc));
}

static struct identity_argv walk(const struct stack *stack) {
  struct identity_argv argv;
  struct identity_image image = {stack->bytes, BASE, BYTES};
  identity_walk(&image, stack->environment, &argv);
  return argv;
}

static void every_stack_is_read(bool is_reversed, unsigned gap) {
  struct stack stack = {.bytes = guarded()};
  for (unsigned i = 0; i < IMAGES / 4; i++) {
    make(&stack, is_reversed, gap);
    struct identity_argv argv = walk(&stack);
    assert_int_equal(argv.count, stack.argc);
    assert_int_equal(argv.quality, INTAKE_ARGV_VERIFIED);
    assert_true(argv.len >= stack.expected_len);
    assert_memory_equal(argv.text, stack.expected, stack.expected_len);
  }
  munmap(stack.bytes, BYTES + PAGE);
}

static void arguments_are_verified_with_the_strings_above_the_pointers(void **state) {
  (void)state;
  every_stack_is_read(false, 0);
}

static void and_with_the_strings_below_them(void **state) {
  (void)state;
  every_stack_is_read(true, 0);
}

static void gaps_between_the_strings_do_not_matter(void **state) {
  (void)state;
  every_stack_is_read(false, 40);
  every_stack_is_read(true, 40);
}

static void an_argument_that_was_moved_away_makes_it_a_guess(void **state) {
  (void)state;
  struct stack stack = {.bytes = guarded()};
  do make(&stack, false, 0);
  while (stack.argc < 3);
  put_word(&stack, stack.environment - BASE - 8 * stack.argc, BASE + 1);
  struct identity_argv argv = walk(&stack);
  assert_int_equal(argv.quality, INTAKE_ARGV_GUESSED);
  assert_int_equal(argv.count, stack.argc - 2);
  munmap(stack.bytes, BYTES + PAGE);
}

static void an_environment_that_was_moved_gives_none(void **state) {
  (void)state;
  struct stack stack = {.bytes = guarded()};
  const uintptr_t elsewhere[] = {
      0, 8, BASE - 8, BASE, BASE + 3, BASE + BYTES, BASE + BYTES + 8, UINTPTR_MAX - 7};
  make(&stack, false, 0);
  for (unsigned i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
    stack.environment = elsewhere[i];
    assert_int_equal(walk(&stack).quality, INTAKE_ARGV_NONE);
  }
  munmap(stack.bytes, BYTES + PAGE);
}

static struct identity_argv walk_behind(const struct stack *stack) {
  struct identity_argv argv;
  struct identity_image image = {stack->bytes, BASE, BYTES};
  identity_walk_behind(&image, NAME, &argv);
  return argv;
}

static void and_are_found_all_the_same_behind_the_auxiliary_vector(void **state) {
  (void)state;
  struct stack stack = {.bytes = guarded()};
  for (unsigned i = 0; i < IMAGES / 4; i++) {
    make(&stack, i % 2 == 0, i % 3 == 0 ? 40 : 0);
    /* Some variables were unset, some put elsewhere. */
    for (unsigned j = 0; j < stack.envc; j++)
      if (below(4) == 0) put_word(&stack, stack.environment - BASE + 8 * j, below(2) * 0x555500);
    struct identity_argv argv = walk_behind(&stack);
    assert_int_equal(argv.quality, stack.argc > 0 ? INTAKE_ARGV_VERIFIED : INTAKE_ARGV_NONE);
    assert_int_equal(argv.count, stack.argc);
    if (stack.argc > 0) assert_memory_equal(argv.text, stack.expected, stack.expected_len);
  }
  munmap(stack.bytes, BYTES + PAGE);
}

static void a_variable_is_never_taken_for_an_argument(void **state) {
  (void)state;
  struct stack stack = {.bytes = guarded()};
  for (unsigned i = 0; i < IMAGES / 4; i++) {
    make(&stack, i % 2 == 0, 0);
    for (unsigned j = 0; j < stack.envc; j++)
      if (below(3) == 0) put_word(&stack, stack.environment - BASE + 8 * j, 0);
    put_word(&stack, stack.environment - BASE - 8 * (stack.argc + 2), 0xa5a5); /* argc is lost */
    struct identity_argv argv = walk_behind(&stack);
    assert_int_equal(argv.quality, INTAKE_ARGV_NONE);
    assert_int_equal(argv.len, 0);
  }
  munmap(stack.bytes, BYTES + PAGE);
}

/* A verified result is an argc, as many pointers and a NULL, and their strings. */
static void assert_stands_there(const struct stack *stack, const struct identity_argv *argv) {
  uintptr_t word;
  size_t at = stack->environment - BASE - 8, len = 0;
  memcpy(&word, stack->bytes + at, sizeof word);
  assert_int_equal(word, 0);
  memcpy(&word, stack->bytes + at - 8 * (argv->count + 1), sizeof word);
  assert_int_equal(word, argv->count);
  for (unsigned i = 0; i < argv->count && len < argv->len; i++) {
    memcpy(&word, stack->bytes + at - 8 * (argv->count - i), sizeof word);
    assert_in_range(word, BASE, BASE + BYTES - 1);
    const char *text = (const char *)stack->bytes + (word - BASE);
    size_t left = argv->len - len - 1;
    assert_int_equal(strncmp(argv->text + len, text, left < TEXT ? left : TEXT), 0);
    len += strlen(argv->text + len) + 1;
  }
}

static void nonsense_is_no_fault_and_never_verified(void **state) {
  (void)state;
  struct stack stack = {.bytes = guarded()};
  for (unsigned i = 0; i < IMAGES; i++) {
    make(&stack, i % 2 == 0, below(60));
    for (unsigned scribbles = 1 + below(200); scribbles > 0; scribbles--)
      put_word(&stack, 8 * (size_t)below(BYTES / 8),
               below(3) == 0 ? below(2) : BASE - 16 + below(BYTES + 32));
    if (below(2) == 0) stack.environment = BASE - 64 + 8 * (uintptr_t)below(BYTES / 8 + 16);
    struct identity_argv argv = walk(&stack);
    assert_true(argv.len <= sizeof argv.text);
    if (argv.quality == INTAKE_ARGV_VERIFIED) assert_stands_there(&stack, &argv);
    argv = walk_behind(&stack);
    assert_true(argv.len <= sizeof argv.text && argv.quality != INTAKE_ARGV_GUESSED);
  }
  munmap(stack.bytes, BYTES + PAGE);
}

static void our_own_arguments_are_found(void **state) {
  (void)state;
  static struct intake_request request;
  identity_fill(&request);
  assert_int_equal(request.argv_quality, INTAKE_ARGV_VERIFIED);
  assert_non_null(strstr(request.argv, "identity_test"));
  assert_non_null(strstr(request.exe, "identity_test"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arguments_are_verified_with_the_strings_above_the_pointers),
      cmocka_unit_test(and_with_the_strings_below_them),
      cmocka_unit_test(gaps_between_the_strings_do_not_matter),
      cmocka_unit_test(an_argument_that_was_moved_away_makes_it_a_guess),
      cmocka_unit_test(an_environment_that_was_moved_gives_none),
      cmocka_unit_test(and_are_found_all_the_same_behind_the_auxiliary_vector),
      cmocka_unit_test(a_variable_is_never_taken_for_an_argument),
      cmocka_unit_test(nonsense_is_no_fault_and_never_verified),
      cmocka_unit_test(our_own_arguments_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
