/* SPDX-License-Identifier: Apache-2.0 */
/* A text flame graph adds up: bars are below their callers', omitted parts are counted, and lines
   fit into the terminal for any tree. */
#include "report/flame_text.h"

#include "common/buf.h"
#include "common/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct flame_node program[] = {
    {"root", "", UINT32_MAX, 0, 1000},     {"main", "tool", 0, 100, 900},
    {"[kernel]", "[kernel]", 0, 100, 100}, {"parse", "tool", 1, 100, 250},
    {"compress", "tool", 1, 550, 550},     {"next_word", "tool", 3, 150, 150},
};

static struct buf out;

static const char *draw(const struct flame *flame, const struct top_text *style) {
  buf_clear(&out);
  assert_int_equal(flame_text_print(flame, style, &out), 0);
  return buf_text(&out);
}

static int tear_down(void **state) {
  (void)state;
  buf_fini(&out);
  return 0;
}

static void bars_stand_below_their_callers(void **state) {
  (void)state;
  const struct flame flame = {.nodes = program, .count = 6, .depth = 8};
  const struct top_text style = {.limit = 100, .columns = 75};
  assert_string_equal(draw(&flame, &style),
                      "  total  # its own time, - that of what it calls\n"
                      "100.0 %  ------------------------------  root\n"
                      " 90.0 %  ------------------------###      main  (tool)\n"
                      " 55.0 %  #################                 compress  (tool)\n"
                      " 25.0 %                   ----###          parse  (tool)\n"
                      " 15.0 %                   ####              next_word  (tool)\n"
                      " 10.0 %                             ###   [kernel]\n");
}

static void a_locale_of_utf8_has_blocks(void **state) {
  (void)state;
  const struct flame flame = {.nodes = program, .count = 2, .depth = 8};
  const struct top_text style = {.limit = 100, .columns = 50, .is_utf8 = true};
  assert_non_null(strstr(draw(&flame, &style), "\xe2\x96\x91\xe2\x96\x88"));
}

static void what_is_deeper_or_beyond_the_limit_is_counted(void **state) {
  (void)state;
  struct flame flame = {.nodes = program, .count = 6, .depth = 2};
  struct top_text style = {.limit = 100, .columns = 60};
  const char *text = draw(&flame, &style);
  assert_null(strstr(text, "next_word"));
  assert_non_null(strstr(text, "(1 more, deeper: --depth)\n"));
  flame.depth = 8;
  style.limit = 3;
  text = draw(&flame, &style);
  assert_non_null(strstr(text, "compress"));
  assert_null(strstr(text, "parse"));
  assert_non_null(strstr(text, "(1 more)\n"));
  flame.is_partial = true;
  assert_non_null(strstr(draw(&flame, &style), "(at least 1 more)\n"));
}

static void small_branches_share_a_line(void **state) {
  (void)state;
  struct flame_node nodes[102] = {{"root", "", UINT32_MAX, 0, 100000}};
  nodes[1] = (struct flame_node){"big", "", 0, 40000, 40000};
  for (int i = 2; i < 102; i++) nodes[i] = (struct flame_node){"small", "", 0, 600, 600};
  const struct flame flame = {.nodes = nodes, .count = 102, .depth = 8};
  const struct top_text style = {.limit = 100, .columns = 80};
  const char *text = draw(&flame, &style);
  assert_null(strstr(text, "small"));
  assert_non_null(strstr(text, " 60.0 %"));
  assert_non_null(strstr(text, "(100 more)\n"));
}

static void each_line_has_a_bar_however_short(void **state) {
  (void)state;
  const struct flame_node nodes[] = {{"root", "", UINT32_MAX, 0, 1000},
                                     {"half", "", 0, 500, 500},
                                     {"lean", "", 0, 10, 10},
                                     {"last", "", 0, 490, 490}};
  const struct flame flame = {.nodes = nodes, .count = 4, .depth = 8};
  const struct top_text style = {.limit = 100, .columns = 75};
  const char *lean = strstr(draw(&flame, &style), "  1.0 %");
  assert_non_null(lean);
  assert_true(strcspn(lean, "#") < strcspn(lean, "\n"));
}

/* The columns of the widest line of TEXT. */
static size_t width_of(const char *text) {
  size_t widest = 0, columns = 0;
  for (; *text != '\0'; text++) {
    if (*text == '\n') columns = 0;
    if (*text != '\n' && ((unsigned char)*text & 0xc0) != 0x80) columns++;
    if (columns > widest) widest = columns;
  }
  return widest;
}

static void no_line_is_wider_than_the_terminal(void **state) {
  (void)state;
  static char name[4001];
  struct flame_node nodes[40];
  memset(name, 'x', sizeof name - 1);
  for (uint32_t i = 0; i < 40; i++)
    nodes[i] = (struct flame_node){i % 2 ? name : "short", "", i - 1, i == 39, 1};
  const struct flame flame = {.nodes = nodes, .count = 40, .depth = 60};
  for (unsigned columns = 60; columns < 200; columns++) {
    const struct top_text style = {.limit = 100, .columns = columns, .is_utf8 = columns % 2};
    assert_true(width_of(draw(&flame, &style)) <= columns);
  }
}

static void a_plain_terminal_gets_ascii_alone(void **state) {
  (void)state;
  const struct flame_node nodes[] = {
      {"root", "", UINT32_MAX, 0, 10},
      {"gr\xc3\xbc\xc3\x9f\xe2\x82\xac(int)", "m\xc3\xb6", 0, 10, 10}};
  const struct flame flame = {.nodes = nodes, .count = 2, .depth = 8};
  const struct top_text style = {.limit = 100};
  const char *text = draw(&flame, &style);
  for (const char *at = text; *at != '\0'; at++) assert_true((unsigned char)*at < 0x7f);
  assert_non_null(strstr(text, "gr??"
                               "?(int)  (m?)\n"));
}

static void a_tree_that_does_not_add_up_is_drawn_within_its_bounds(void **state) {
  (void)state;
  const struct flame_node nodes[] = {
      {"root", "", UINT32_MAX, UINT64_MAX, 1000},
      {"more", "", 0, UINT64_MAX, UINT64_MAX},
      {"self", "", 1, 5000, 10},
      {"loop", "", 3, 900, 900},  /* its own parent */
      {"ahead", "", 5, 900, 900}, /* its parent follows later */
      {"fine", "", 1, 0, UINT64_MAX / 2},
  };
  const struct flame flame = {.nodes = nodes, .count = 6, .depth = 8};
  const struct top_text style = {.limit = 100, .columns = 80};
  const char *text = draw(&flame, &style);
  assert_null(strstr(text, "loop"));
  assert_null(strstr(text, "ahead"));
  assert_non_null(strstr(text, "fine"));
  const struct flame none = {.nodes = nodes, .count = 0};
  assert_string_equal(draw(&none, &style), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(bars_stand_below_their_callers, tear_down),
      cmocka_unit_test_teardown(a_locale_of_utf8_has_blocks, tear_down),
      cmocka_unit_test_teardown(what_is_deeper_or_beyond_the_limit_is_counted, tear_down),
      cmocka_unit_test_teardown(small_branches_share_a_line, tear_down),
      cmocka_unit_test_teardown(each_line_has_a_bar_however_short, tear_down),
      cmocka_unit_test_teardown(no_line_is_wider_than_the_terminal, tear_down),
      cmocka_unit_test_teardown(a_plain_terminal_gets_ascii_alone, tear_down),
      cmocka_unit_test_teardown(a_tree_that_does_not_add_up_is_drawn_within_its_bounds, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
