/* SPDX-License-Identifier: Apache-2.0 */
/* Translators' output, in their formats. */
#include "translate/answer_lines.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ANSWERS_MAX = 8 };

static struct arena arena;
static struct answer answers[ANSWERS_MAX];

static int set_up(void **state) {
  (void)state;
  arena_init(&arena, 1 << 20);
  memset(answers, 0, sizeof answers);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  arena_fini(&arena);
  return 0;
}

/* LINES as the answers to COUNT addresses: 0x1, 0x2, ... */
static int parse(const char *lines, uint32_t count) {
  static const uint64_t addresses[ANSWERS_MAX] = {1, 2, 3, 4, 5, 6, 7, 8};
  const struct answer_question question = {addresses, count};
  return answer_lines_parse(span_of_string(lines), &question, &arena, answers);
}

static void assert_frame(uint32_t answer, uint32_t frame, const char *name, const char *file,
                         uint32_t line) {
  assert_true(frame < answers[answer].count);
  const struct symbol_frame *found = &answers[answer].frames[frame];
  assert_string_equal(found->name, name);
  if (file == NULL) assert_null(found->file);
  if (file != NULL) assert_string_equal(found->file, file);
  assert_int_equal(found->line, line);
}

static void the_number_of_lines_tells_the_form(void **state) {
  (void)state;
  assert_int_equal(parse("alpha\nbeta\n??\n\n", 4), 0);
  assert_frame(1, 0, "beta", NULL, 0);
  assert_int_equal(answers[2].count + answers[3].count, 0);
  assert_int_equal(parse("f\n/a.c:12\n??\n??:0\ng\r\n??:?\n", 3), 0);
  assert_frame(0, 0, "f", "/a.c", 12);
  assert_int_equal(answers[1].count, 0);
  assert_frame(2, 0, "g", NULL, 0);
  assert_int_equal(parse("only\nb.c:3 (discriminator 2)", 1), 0); /* no newline at the end */
  assert_frame(0, 0, "only", "b.c", 3);
}

/* As `cat` does, and as some translators do for unknown addresses. */
static void an_address_that_comes_back_is_no_name(void **state) {
  static const uint64_t addresses[] = {0x1, 0xab2};
  const struct answer_question question = {addresses, 2};
  (void)state;
  assert_int_equal(parse("0x1\nf\n0x0003\n", 3), 0);
  assert_int_equal(answers[0].count + answers[2].count, 0);
  assert_frame(1, 0, "f", NULL, 0);
  assert_int_equal(parse("0x2\n", 1), 0); /* another number, of unknown meaning */
  assert_frame(0, 0, "0x2", NULL, 0);
  assert_true(answer_lines_are_echo(span_of_string("0x1\n0xab2\n"), &question));
  assert_true(answer_lines_are_echo(span_of_string("0x1\n0xAB2"), &question));
  assert_false(answer_lines_are_echo(span_of_string("0x1\n"), &question));
  assert_false(answer_lines_are_echo(span_of_string("0x1\n0xab2\n\n"), &question));
  assert_false(answer_lines_are_echo(span_of_string("0x1\nf\n"), &question));
}

static void an_address_before_each_answer_tells_inlined_functions_apart(void **state) {
  (void)state;
  assert_int_equal(parse("0x0000000000000001\ndeep\nt.c:3\nmid\nt.c:4\nmain\nt.c:6\n"
                         "0x0000000000000002\nplain\nt.c:5\n0x0000000000000003\n??\n??:0\n",
                         3),
                   0); /* addr2line -a -f -i */
  assert_int_equal(answers[0].count, 3);
  assert_frame(0, 0, "deep", "t.c", 3);
  assert_frame(0, 2, "main", "t.c", 6);
  assert_frame(1, 0, "plain", "t.c", 5);
  assert_int_equal(answers[2].count, 0);
  assert_int_equal(parse("0x1\ndeep inlined at t.c:4:69 in main\nt.c:3:72\nmain\nt.c:6:59\n", 1),
                   0);
  assert_frame(0, 0, "deep", "t.c", 3); /* eu-addr2line -a -f -i */
  assert_frame(0, 1, "main", "t.c", 6);
  assert_int_equal(parse("0x1\nf\n0x2\ng\n", 2), 0);
  assert_frame(1, 0, "g", NULL, 0);
}

static void an_empty_line_behind_each_answer_does_so_too(void **state) {
  (void)state;
  assert_int_equal(parse("deep\nt.c:3:72\nmain\nt.c:6:59\n\nplain\nt.c:5:43\n\n??\n??:0:0\n\n", 3),
                   0);
  assert_int_equal(answers[0].count, 2);
  assert_frame(0, 1, "main", "t.c", 6);
  assert_frame(1, 0, "plain", "t.c", 5);
  assert_int_equal(answers[2].count, 0);
}

static void one_line_may_say_all(void **state) {
  (void)state;
  assert_int_equal(parse("deep at t.c:3\n (inlined by) mid at t.c:4\nplain at t.c:5\n?? ??:0\n", 3),
                   0);
  assert_frame(0, 1, "mid", "t.c", 4);
  assert_frame(1, 0, "plain", "t.c", 5);
  assert_int_equal(answers[2].count, 0);
  assert_int_equal(parse("0x0000000000000001: f at t.c:3\n0x0000000000000002: ?? ??:0\n", 2), 0);
  assert_frame(0, 0, "f", "t.c", 3);
  assert_int_equal(answers[1].count, 0);
  assert_int_equal(parse("at home\nlooks at it\n", 2), 0); /* a name, not a place */
  assert_frame(1, 0, "looks at it", NULL, 0);
}

static void an_offset_is_no_part_of_a_name(void **state) {
  (void)state;
  assert_int_equal(parse("do_one+0x1f\n+0x3\noperator+0xg\nbegun+0x1\n", 4), 0);
  assert_frame(0, 0, "do_one", NULL, 0);
  assert_int_equal(answers[0].frames[0].start, 0); /* 0x1 is no 0x1f bytes behind anything */
  assert_frame(3, 0, "begun", NULL, 0);
  assert_int_equal(answers[3].frames[0].start, 3);
  assert_frame(1, 0, "+0x3", NULL, 0);
  assert_frame(2, 0, "operator+0xg", NULL, 0);
}

static void what_does_not_come_out_even_is_not_believed(void **state) {
  static const struct {
    const char *lines;
    uint32_t count;
  } uneven[] = {
      {"", 2},
      {"one\n", 2},
      {"1\n2\n3\n", 2},
      {"f\na.c:1\ng\na.c:2\nh\na.c:3\n", 2}, /* addr2line -f -i, three functions at one of two */
      {"alpha\n\nbeta\n", 2},
      {"alpha\n\nbeta\n", 1},
      {" (inlined by) f at a.c:1\ng\n", 1}, /* inlined into an unknown function */
      {"0x1\nf\n0x7\ng\n", 2},              /* not the queried address */
      {"0x1\nf\n0x2\ng\n0x3\nh\n", 2},
      {"f\na.c:1\n\ng\na.c:2\n\nh\na.c:3\n\n", 2},
      {"deep\na.c:1\na.c:2\n\ng\na.c:2\n\n", 2}, /* a line is missing */
      {"0x1\ndeep\nmid\na.c:2\n0x2\ng\na.c:2\n", 2},
  };
  (void)state;
  for (size_t i = 0; i < sizeof uneven / sizeof *uneven; i++)
    if (parse(uneven[i].lines, uneven[i].count) != -EBADMSG) fail_msg("%zu is believed", i);
}

static void no_name_is_empty(void **state) {
  (void)state;
  assert_int_equal(parse(" inlined at a.c:4 in main\n+0x1\n", 2), 0);
  assert_frame(0, 0, " inlined at a.c:4 in main", NULL, 0);
  assert_frame(1, 0, "+0x1", NULL, 0);
}

static void what_a_terminal_would_obey_is_no_name(void **state) {
  (void)state;
  assert_int_equal(parse("\033[2Jf\xff\n", 1), 0);
  assert_frame(0, 0, "?[2Jf?", NULL, 0);
}

static void a_chain_has_an_end(void **state) {
  char lines[4 * SYMBOL_CHAIN_MAX * 4] = "0x1\n";
  size_t len = strlen(lines);
  (void)state;
  for (int i = 0; i < 2 * SYMBOL_CHAIN_MAX; i++, len += 4) memcpy(lines + len, "f\nx\n", 4);
  lines[len] = '\0';
  assert_int_equal(parse(lines, 1), 0);
  assert_int_equal(answers[0].count, SYMBOL_CHAIN_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(the_number_of_lines_tells_the_form, set_up, tear_down),
      cmocka_unit_test_setup_teardown(an_address_that_comes_back_is_no_name, set_up, tear_down),
      cmocka_unit_test_setup_teardown(an_address_before_each_answer_tells_inlined_functions_apart,
                                      set_up, tear_down),
      cmocka_unit_test_setup_teardown(an_empty_line_behind_each_answer_does_so_too, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(one_line_may_say_all, set_up, tear_down),
      cmocka_unit_test_setup_teardown(an_offset_is_no_part_of_a_name, set_up, tear_down),
      cmocka_unit_test_setup_teardown(what_does_not_come_out_even_is_not_believed, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(no_name_is_empty, set_up, tear_down),
      cmocka_unit_test_setup_teardown(what_a_terminal_would_obey_is_no_name, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_chain_has_an_end, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
