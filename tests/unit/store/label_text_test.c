/* SPDX-License-Identifier: Apache-2.0 */
/* Labels are decoded as they were encoded, odd characters included. */
#include "store/label_text.h"

#include "common/buf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void odd_characters_survive(void **state) {
  (void)state;
  const struct label labels[] = {
      {"a=b", "c=d\\n"}, {"back\\slash", "line\nbreak"}, {"empty", ""}, {"utf", "\xc3\xa9"}};
  struct label out[4];
  struct buf text = {0};
  uint32_t count = 0;
  label_text_encode(labels, 4, &text);
  assert_int_equal(label_text_decode(buf_text(&text), out, 4, &count), 0);
  assert_int_equal(count, 4);
  for (size_t i = 0; i < 4; i++) {
    assert_string_equal(out[i].name, labels[i].name);
    assert_string_equal(out[i].value, labels[i].value);
  }
  buf_fini(&text);
}

static void no_label_is_an_empty_text(void **state) {
  (void)state;
  struct label out[1];
  char text[] = "";
  uint32_t count = 9;
  assert_int_equal(label_text_decode(text, out, 1, &count), 0);
  assert_int_equal(count, 0);
}

static void damaged_texts_are_refused(void **state) {
  (void)state;
  char texts[][16] = {"a", "a=b", "a\n", "a=b\\x\n", "a=b=c\n", "a=b\\", "a=b\nc=d\n"};
  struct label out[1];
  uint32_t count = 9;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    assert_int_equal(label_text_decode(texts[i], out, 1, &count), -EBADMSG);
  assert_int_equal(count, 9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(odd_characters_survive),
      cmocka_unit_test(no_label_is_an_empty_text),
      cmocka_unit_test(damaged_texts_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
