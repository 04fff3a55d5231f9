/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions as compilers, assemblers and linkers write them become rules; the others are untold,
   and none is taken for another. */
#include "frames_fixture.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { F = 0x2000 };

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

/* The rule of a function whose CFA is EXPRESSION, with ordinary registers. */
static const char *cfa(struct frames *frames, struct span expression) {
  uint8_t program[80] = {0x0f, (uint8_t)expression.len};
  assert_in_range(expression.len, 0, sizeof program - 2);
  memcpy(program + 2, expression.data, expression.len);
  buf_clear(&frames->bytes);
  buf_clear(&frames->table);
  frames_function(frames, frames_usual_cie(frames), F, 0x10, span_of(program, expression.len + 2));
  frames_read(frames);
  return frames_at(frames, F);
}

#define assert_cfa(words, ...) assert_string_equal(cfa(*state, PROGRAM(__VA_ARGS__)), words)

static void a_register_and_a_distance(void **state) {
  assert_cfa("sp+16 c-8 u u", 0x77, 16);
  assert_cfa("t0-8 c-8 u u", 0x76, 0x78);
  assert_cfa("t1+16 c-8 u u", 0x92, 3, 16);
  assert_cfa("sp+24 c-8 u u", 0x77, 16, 0x23, 8);
  assert_cfa("sp+24 c-8 u u", 0x77, 16, 0x38, 0x22);
  assert_cfa("sp+24 c-8 u u", 0x38, 0x77, 16, 0x22);
  assert_cfa("sp+8 c-8 u u", 0x77, 16, 0x38, 0x1c);
  assert_cfa("sp+24 c-8 u u", 0x96, 0x77, 16, 0x08, 8, 0x22);
  assert_cfa("sp+8 c-8 u u", 0x77, 16, 0x09, 0xf8, 0x22);
  assert_cfa("sp+528 c-8 u u", 0x77, 16, 0x0a, 0, 2, 0x22);
  assert_cfa("sp+8 c-8 u u", 0x77, 16, 0x0b, 0xf8, 0xff, 0x22);
  assert_cfa("sp+24 c-8 u u", 0x77, 16, 0x0c, 8, 0, 0, 0, 0x22);
  assert_cfa("sp+8 c-8 u u", 0x77, 16, 0x0d, 0xf8, 0xff, 0xff, 0xff, 0x22);
  assert_cfa("sp+24 c-8 u u", 0x77, 16, 0x10, 8, 0x22);
  assert_cfa("sp+8 c-8 u u", 0x77, 16, 0x11, 0x78, 0x22);
}

static void the_word_that_stands_at_one_and_a_distance(void **state) {
  assert_cfa("*sp+56+8 c-8 u u", 0x77, 56, 0x06, 0x23, 8); /* OpenSSL's */
  assert_cfa("*sp+56+8 c-8 u u", 0x77, 56, 0x06, 0x38, 0x22);
  assert_cfa("*sp+56-8 c-8 u u", 0x77, 56, 0x06, 0x38, 0x1c);
  assert_cfa("*t0-8 c-8 u u", 0x76, 0x78, 0x06); /* gcc's, of a function that aligns its stack */
  assert_cfa("*t1-8 c-8 u u", 0x73, 0x78, 0x06);
}

static void all_kinds_of_linkage_tables(void **state) {
  assert_cfa("plt+8+11 c-8 u u", 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22);
  assert_cfa("plt+8+10 c-8 u u", 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3a, 0x2a, 0x33, 0x24, 0x22);
  assert_cfa("plt+8+5 c-8 u u", 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x35, 0x2a, 0x33, 0x24, 0x22);
  assert_cfa("untold", 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x4b, 0x2a, 0x33, 0x24, 0x22);
  assert_cfa("untold", 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x34, 0x24, 0x22);
  assert_cfa("untold", 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24);
}

static void anything_else_is_untold(void **state) {
  struct frames *frames = *state;
  assert_cfa("untold", 0x7c, 0);                /* an untracked register */
  assert_cfa("untold", 0x38);                   /* a number */
  assert_cfa("untold", 0x77, 8, 0x06, 0x06);    /* a word at a word */
  assert_cfa("untold", 0x77, 8, 0x76, 8, 0x22); /* two registers */
  assert_cfa("untold", 0x38, 0x77, 8, 0x1c);    /* a number without a register */
  assert_cfa("untold", 0x77, 8, 0x3f, 0x1a);    /* and */
  assert_cfa("untold", 0x22);                   /* of nothing */
  assert_cfa("untold", 0x77);                   /* cut */
  assert_cfa("untold", 0x77, 8, 0x0c, 1, 2);    /* cut */
  assert_cfa("untold", 0x2f, 0xfd, 0xff);       /* a jump to itself */
  assert_cfa("untold", 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x77, 8);
  assert_cfa("untold", 0x77, 8, 0x06, 0x0a, 0, 0x80, 0x22); /* an addend too far */
  assert_string_equal(cfa(frames, PROGRAM(0)), "untold");
  assert_int_equal(frames->report.functions_refused, 0);
  assert_true(frames->report.untold[TABLE_UNTOLD_CFA_EXPRESSION] >= 12);
}

static void gcc_aligns_a_stack(void **state) {
  struct frames *frames = *state;
  frames_function(frames, frames_usual_cie(frames), F, 0x100,
                  PROGRAM(0x45, 0x0c, 10, 0,               /* lea 8(%rsp), %r10 */
                          0x49, 0x10, 6, 2, 0x76, 0,       /* push %rbp; mov %rsp, %rbp */
                          0x45, 0x0f, 3, 0x76, 0x78, 0x06, /* push %r10 */
                          0x41, 0x10, 3, 2, 0x76, 0x70,    /* push %rbx */
                          0x60, 0xc3, 0x0c, 10, 0, 0x41, 0xc6, 0x41, 0x0c, 7, 8));
  frames_read(frames);
  assert_string_equal(frames_at(frames, F), "sp+8 c-8 u u");
  assert_string_equal(frames_at(frames, F + 5), "untold");
  assert_string_equal(frames_at(frames, F + 14), "untold");
  assert_string_equal(frames_at(frames, F + 19), "*t0-8 c-8 t+0 u");
  assert_string_equal(frames_at(frames, F + 20), "*t0-8 c-8 t+0 t-16");
  assert_string_equal(frames_at(frames, F + 52), "untold");
  assert_string_equal(frames_at(frames, F + 54), "sp+8 c-8 u u");
}

static void places_from_another_base_are_turned_where_the_distance_is_known(void **state) {
  struct frames *frames = *state;
  frames_function(frames, frames_usual_cie(frames), F, 0x100,
                  PROGRAM(0x0e, 32, 0x10, 6, 2, 0x77, 8,          /* at sp + 8 */
                          0x41, 0x10, 3, 2, 0x23, 0x70,           /* no: CFA + 112 */
                          0x41, 0x10, 3, 2, 0x48, 0x1c,           /* CFA - 24 */
                          0x41, 0x0c, 6, 16, 0x10, 6, 2, 0x76, 0, /* at rbp, CFA rbp + 16 */
                          0x41, 0x10, 3, 2, 0x77, 0,              /* at sp, which is anywhere */
                          0x41, 0x10, 3, 3, 0x76, 0, 0x06,        /* at a word */
                          0x41, 0x10, 3, 2, 0x76, 0x78));
  frames_read(frames);
  assert_string_equal(frames_at(frames, F), "sp+32 c-8 c-24 u");
  assert_string_equal(frames_at(frames, F + 1), "sp+32 c-8 c-24 c+112");
  assert_string_equal(frames_at(frames, F + 2), "sp+32 c-8 c-24 c-24");
  assert_string_equal(frames_at(frames, F + 3), "t0+16 c-8 c-16 c-24");
  assert_string_equal(frames_at(frames, F + 4), "untold");
  assert_string_equal(frames_at(frames, F + 5), "untold");
  assert_string_equal(frames_at(frames, F + 6), "t0+16 c-8 c-16 c-24");
  assert_int_equal(frames->report.untold[TABLE_UNTOLD_SAVED], 2);
}

static void numbers_of_a_narrow_machine_wrap_at_its_word(void **state) {
  struct frames *frames = *state;
  frames_init(frames, EM_ARM);
  assert_cfa("sp+12 u u u", 0x7d, 16, 0x0c, 0xfc, 0xff, 0xff, 0xff, 0x22);
}

int main(void) {
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      CLAIM(a_register_and_a_distance),
      CLAIM(the_word_that_stands_at_one_and_a_distance),
      CLAIM(all_kinds_of_linkage_tables),
      CLAIM(anything_else_is_untold),
      CLAIM(gcc_aligns_a_stack),
      CLAIM(places_from_another_base_are_turned_where_the_distance_is_known),
      CLAIM(numbers_of_a_narrow_machine_wrap_at_its_word),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
