/* SPDX-License-Identifier: Apache-2.0 */
/* A C++ function may be queried by its name without arguments; all other parts of the name are
   required. */
#include "query/asked_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void a_function_is_meant_by_its_name(void **state) {
  (void)state;
  static const char *const names[][2] = {
      {"main", "main"},
      {"main", "main(int, char**)"},
      {"shop::order", "shop::order(std::vector<int, std::allocator<int> > const&)"},
      {"shop::order", "int shop::order(int (*)(int)) const"},
      {"alpha::(anonymous namespace)::Stage::step",
       "alpha::(anonymous namespace)::Stage::step(int) [clone .constprop.0]"},
      {"shop::Index::operator()", "bool shop::Index::operator()(int, int) const"},
      {"operator< <char>", "bool operator< <char>(Word<char> const&)"},
      {"Big::operator<<", "Big Big::operator<<(int)"},
      {"operator new", "operator new(unsigned long)"},
      {"Flag::operator bool", "Flag::operator bool() const"},
      {"sort<int*, by<(order)1> >", "void sort<int*, by<(order)1> >(int*, int*)"},
      {"co_operator", "co_operator(int)"},
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (!asked_name_is(names[i][0], names[i][1])) fail_msg("%s", names[i][1]);
    assert_true(asked_name_is(names[i][1], names[i][1]));
  }
}

static void nothing_else_is_meant(void **state) {
  (void)state;
  static const char *const names[][2] = {
      {"order", "shop::order(int)"},
      {"shop::orde", "shop::order(int)"},
      {"int", "int order(int)"},
      {"order", "order+0x1c"},
      {"shop::order(", "shop::order()"},
      {"b", "a b"}, /* no arguments: the whole text is the name */
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    assert_false(asked_name_is(names[i][0], names[i][1]));
}

static void torn_names_are_read_to_their_end(void **state) {
  (void)state;
  static const char *const names[] = {"",          "operator",   "operator ",  "operator(",
                                      "a<",        "a>",         "(anonymous", "<<<<(",
                                      "operator<", "x operator", "(",          " "};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    assert_true(asked_name_is(names[i], names[i]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_function_is_meant_by_its_name),
      cmocka_unit_test(nothing_else_is_meant),
      cmocka_unit_test(torn_names_are_read_to_their_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
