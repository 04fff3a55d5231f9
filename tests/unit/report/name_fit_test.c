/* SPDX-License-Identifier: Apache-2.0 */
/* A name is shortened to its room; the function's own name is the last part to be cut. */
#include "common/buf.h"
#include "report/name_fit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

static void what_tells_least_goes_first(void **state) {
  static const struct {
    const char *name;
    size_t columns;
    const char *want;
  } cases[] = {
      {"main", 20, "main"},
      {"a_c_function_of_forty_letters_altogether", 0, "a_c_function_of_forty_letters_altogether"},
      {"a_c_function_of_forty_letters_altogether", 23, "a_c_functi...altogether"},
      {"int ns::walk(int, char)", 22, "ns::walk(int, char)"},
      {"std::vector<int> ns::walk(std::vector<int>, char)", 22, "ns::walk(...)"},
      {"std::map<int, long> ns::walk<std::map<int, long> >(int) [clone .isra.0]", 40,
       "ns::walk<...>(int) [clone .isra.0]"},
      {"bool (anonymous namespace)::is_odd(std::string const&) const", 46,
       "(anonymous namespace)::is_odd(...) const"},
      {"ns::Matrix<double>::operator()(unsigned long, unsigned long)", 40,
       "ns::Matrix<double>::operator()(...)"},
      {"std::ostream& ns::operator<<(std::ostream&, ns::Thing const&)", 30, "ns::operator<<(...)"},
      {"ns::Thing::operator std::vector<int, std::allocator<int> >() const", 66,
       "ns::Thing::operator std::vector<int, std::allocator<int> >() const"},
      {"long ns::operator-<int*, long>(ns::It<int*> const&, ns::It<int*> const&)", 25,
       "ns::operator-<...>(...)"},
      {"bool std::operator< <char, long>(std::pair<char, long> const&)", 25,
       "std::operator< <...>(...)"},
      {"operator new(unsigned long, std::nothrow_t const&)", 25, "operator new(...)"},
      {"void run<main::{lambda(int)#1}>(main::{lambda(int)#1}, long)", 40,
       "run<main::{lambda(int)#1}>(...)"},
      {"<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend", 30,
       "<alloc::vec::V...d<T>>::extend"},
      {"garçon_garçon_garçon_garçon_garçon", 23, "garçon_gar...çon_garçon"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct buf out = {0};
    name_fit_print(cases[i].name, cases[i].columns, &out);
    assert_string_equal(buf_text(&out), cases[i].want);
    buf_fini(&out);
  }
}

/* Brackets that never close, operators at the end, empty text: any text is fitted. */
static void any_text_fits(void **state) {
  static const char letters[] = "<>({[]})- ,:abcoperator\xc3\xa7";
  char text[200];
  unsigned seed = 1;
  (void)state;
  for (int round = 0; round < 20000; round++) {
    size_t len = 0, wanted = (seed >> 8) % (sizeof text - 12);
    while (len < wanted) {
      seed = seed * 1103515245 + 12345;
      bool is_word = (seed >> 16) % 9 == 0;
      if (is_word) memcpy(text + len, "operator", 8);
      if (!is_word) text[len] = letters[(seed >> 16) % (sizeof letters - 1)];
      len += is_word ? 8 : 1;
    }
    text[len] = '\0';
    seed = seed * 1103515245 + 12345;
    struct buf out = {0};
    size_t columns = NAME_FIT_LEAST + (seed >> 20) % 40;
    name_fit_print(text, columns, &out);
    if (name_fit_columns(buf_text(&out)) > columns) fail_msg("%s", text);
    buf_fini(&out);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_tells_least_goes_first),
      cmocka_unit_test(any_text_fits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
