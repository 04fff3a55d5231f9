/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_fixture.h"

#include "common/buf.h"
#include "symbol/demangle.h"

static void expect(const char *mangled, const char *plain) {
  struct buf out = {0};
  buf_append_string(&out, "kept");
  bool is_done = demangle(span_of_string(mangled), &out);
  assert_int_equal(is_done, plain != NULL);
  assert_int_equal(out.len, 4 + (plain != NULL ? strlen(plain) : 0));
  if (plain != NULL) assert_memory_equal(out.data + 4, plain, strlen(plain));
  assert_memory_equal(out.data, "kept", 4);
  buf_fini(&out);
}

static void cpp_names_come_with_their_parameters(void **state) {
  (void)state;
  expect("_ZN3foo3barEi", "foo::bar(int)");
  expect("_ZNSt6vectorIiSaIiEE9push_backEOi",
         "std::vector<int, std::allocator<int> >::push_back(int&&)");
  expect("_ZL3onev.cold", "one() [clone .cold]");
}

static void rust_names_of_both_schemes_are_read(void **state) {
  (void)state;
  expect("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad");
  expect("_RNvCs1234_7mycrate3foo", "mycrate::foo");
}

static void other_names_are_left_alone(void **state) {
  (void)state;
  expect("main", NULL);
  expect("", NULL);
  expect("_Z", NULL);
  expect("_ZZZZZZ", NULL);
  expect("_ZN3fooE3barEi_garbage", NULL);
  expect("_R", NULL);
}

static void a_name_over_the_input_limit_is_left_alone(void **state) {
  (void)state;
  char name[DEMANGLE_IN_BYTES_MAX + 2];
  memset(name, 'x', sizeof name);
  int len = snprintf(name, sizeof name, "_Z%d", DEMANGLE_IN_BYTES_MAX);
  name[len] = 'x';
  name[sizeof name - 1] = '\0';
  expect(name, NULL);
}

/* Each further F...S_ doubles the expansion of the previous: 30 of them require gigabytes. */
static void a_name_that_asks_for_gigabytes_is_left_alone(void **state) {
  (void)state;
  struct buf name = {0};
  buf_append_string(&name, "_Z1fSt4pairIiiE");
  buf_append_string(&name, "S_IS0_S0_E");
  for (int i = 1; i < 30; i++) {
    char digit[2] = {"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i], '\0'};
    buf_printf(&name, "S_IS%s_S%s_E", digit, digit);
  }
  expect(buf_text(&name), NULL);
  buf_fini(&name);
}

static void deep_nesting_does_not_overflow_the_stack(void **state) {
  (void)state;
  char name[DEMANGLE_IN_BYTES_MAX];
  memset(name, 'P', sizeof name);
  memcpy(name, "_Z1f", 4);
  name[sizeof name - 1] = '\0';
  expect(name, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cpp_names_come_with_their_parameters),
      cmocka_unit_test(rust_names_of_both_schemes_are_read),
      cmocka_unit_test(other_names_are_left_alone),
      cmocka_unit_test(a_name_over_the_input_limit_is_left_alone),
      cmocka_unit_test(a_name_that_asks_for_gigabytes_is_left_alone),
      cmocka_unit_test(deep_nesting_does_not_overflow_the_stack),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
