/* SPDX-License-Identifier: Apache-2.0 */
#include "common/buf.h"
#include "common/json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_written(struct buf *out, const char *text) {
  assert_string_equal(buf_text(out), text);
  buf_fini(out);
}

static void assert_string_is(struct span text, const char *written) {
  struct buf out = {0};
  struct json json;
  json_init(&json, &out, 1 << 20);
  json_span(&json, text);
  assert_written(&out, written);
}

static void assert_double_is(double value, const char *written) {
  struct buf out = {0};
  struct json json;
  json_init(&json, &out, 1 << 20);
  json_double(&json, value);
  assert_written(&out, written);
}

static void commas_stand_between_items_and_nowhere_else(void **state) {
  (void)state;
  struct buf out = {0};
  struct json json;
  json_init(&json, &out, 1 << 20);
  json_open(&json, '{');
  json_key(&json, "a");
  json_open(&json, '[');
  json_int(&json, -1);
  json_uint(&json, UINT64_MAX);
  json_open(&json, '[');
  json_close(&json, ']');
  json_bool(&json, true);
  json_close(&json, ']');
  json_key_string(&json, "b", NULL);
  json_key_uint(&json, "c", 0);
  json_close(&json, '}');
  assert_written(&out, "{\"a\":[-1,18446744073709551615,[],true],\"b\":null,\"c\":0}");
}

static void strings_that_could_end_a_string_or_a_script_are_escaped(void **state) {
  (void)state;
  assert_string_is(span_of_string("a\"b\\c"), "\"a\\\"b\\\\c\"");
  assert_string_is(span_of_string("</script><img onerror=x>&"),
                   "\"\\u003c/script\\u003e\\u003cimg onerror=x\\u003e\\u0026\"");
  assert_string_is(span_of("a\0\n\x1f\x7f", 5), "\"a\\u0000\\u000a\\u001f\\u007f\"");
  assert_string_is(span_of_string("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0"),
                   "\"\\u0080\\u009b\\u009f\xc2\xa0\"");
  assert_string_is(span_of_string("\xe2\x80\xaa\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9\xe2\x80\xaf"),
                   "\"\\u202a\\u202e\\u2066\\u2069\xe2\x80\xaf\"");
  assert_string_is(span_of_string(""), "\"\"");
}

static void bytes_that_are_not_utf8_are_replaced_one_by_one(void **state) {
  (void)state;
  assert_string_is(span_of_string("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
                   "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
#define BAD "\xef\xbf\xbd"
  assert_string_is(span_of_string("a\xff\x62"), "\"a" BAD "b\"");
  assert_string_is(span_of_string("\xc0\xaf"), "\"" BAD BAD "\"");         /* overlong */
  assert_string_is(span_of_string("\xe0\x80\x80"), "\"" BAD BAD BAD "\""); /* overlong */
  assert_string_is(span_of_string("\xed\xa0\x80"), "\"" BAD BAD BAD "\""); /* surrogate */
  assert_string_is(span_of_string("\xf4\x90\x80\x80"), "\"" BAD BAD BAD BAD "\"");
  assert_string_is(span_of_string("\xf0\x8f\xbf\xbf"), "\"" BAD BAD BAD BAD "\"");
  assert_string_is(span_of_string("\xe2\x82"), "\"" BAD BAD "\""); /* cut short */
}

static void whole_numbers_are_written_whole(void **state) {
  (void)state;
  struct buf out = {0};
  struct json json;
  json_init(&json, &out, 1 << 20);
  json_open(&json, '[');
  json_uint(&json, 0);
  json_uint(&json, 1234567890);
  json_uint(&json, UINT64_MAX);
  json_int(&json, INT64_MIN);
  json_int(&json, 70);
  json_close(&json, ']');
  assert_written(&out, "[0,1234567890,18446744073709551615,-9223372036854775808,70]");
}

static void sums_beyond_a_double_are_written_as_text_too(void **state) {
  (void)state;
  struct buf out = {0};
  struct json json;
  json_init(&json, &out, 4096);
  json_open(&json, '{');
  json_key_wide(&json, "a", JSON_EXACT_MAX);
  json_key_wide(&json, "b", JSON_EXACT_MAX + 1);
  json_key_uint(&json, "c", UINT64_MAX);
#ifdef __SIZEOF_INT128__
  json_key_wide(&json, "d", (wide_sum)UINT64_MAX * 10);
#endif
  json_close(&json, '}');
  assert_written(&out, "{\"a\":9007199254740992,"
                       "\"b\":9007199254740993,\"b_exact\":\"9007199254740993\","
                       "\"c\":18446744073709551615,\"c_exact\":\"18446744073709551615\""
#ifdef __SIZEOF_INT128__
                       ",\"d\":184467440737095516150,\"d_exact\":\"184467440737095516150\""
#endif
                       "}");
}

static void doubles_are_short_and_read_back_the_same(void **state) {
  (void)state;
  assert_double_is(0.1, "0.1");
  assert_double_is(0.35, "0.35");
  assert_double_is(1.0 / 3.0, "0.3333333333333333");
  assert_double_is(0.1 + 0.2, "0.30000000000000004");
  assert_double_is(199, "199");
  assert_double_is(0, "0");
}

static void what_is_no_number_is_null(void **state) {
  (void)state;
  assert_double_is(NAN, "null");
  assert_double_is(INFINITY, "null");
  assert_double_is(-INFINITY, "null");
}

static void nothing_is_written_beyond_the_limit(void **state) {
  (void)state;
  struct buf out = {0};
  struct json json;
  json_init(&json, &out, 10);
  json_open(&json, '[');
  for (int i = 0; i < 100; i++) json_string(&json, "abcdef");
  json_close(&json, ']');
  assert_true(json.is_full);
  assert_true(out.len <= 10);
  buf_fini(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(commas_stand_between_items_and_nowhere_else),
      cmocka_unit_test(strings_that_could_end_a_string_or_a_script_are_escaped),
      cmocka_unit_test(bytes_that_are_not_utf8_are_replaced_one_by_one),
      cmocka_unit_test(whole_numbers_are_written_whole),
      cmocka_unit_test(sums_beyond_a_double_are_written_as_text_too),
      cmocka_unit_test(doubles_are_short_and_read_back_the_same),
      cmocka_unit_test(what_is_no_number_is_null),
      cmocka_unit_test(nothing_is_written_beyond_the_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
