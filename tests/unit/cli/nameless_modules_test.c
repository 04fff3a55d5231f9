/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/nameless_modules.h"

#include "common/buf.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct nameless_module modules[NAMELESS_MODULES_MAX];
static cJSON *answer;

static int end_answer(void **state) {
  (void)state;
  cJSON_Delete(answer);
  answer = NULL;
  return 0;
}

static unsigned find(const char *text) {
  end_answer(NULL);
  answer = cJSON_Parse(text);
  assert_non_null(answer);
  return nameless_modules_find(answer, modules);
}

static void functions_called_by_their_place_are_added_up(void **state) {
  (void)state;
  assert_int_equal(find("{\"total\":1000,\"functions\":["
                        "{\"name\":\"main\",\"module\":\"shop\",\"self\":500},"
                        "{\"name\":\"shop+0x10\",\"module\":\"shop\",\"self\":100},"
                        "{\"name\":\"lib.so+0x10 [01020304]\",\"module\":\"lib.so\",\"self\":300},"
                        "{\"name\":\"shop+0x20\",\"module\":\"shop\",\"self\":50},"
                        "{\"name\":\"[kernel]\",\"module\":\"[kernel]\",\"self\":50}]}"),
                   2);
  assert_string_equal(modules[0].name, "lib.so");
  assert_true(modules[0].share > 0.299 && modules[0].share < 0.301);
  assert_string_equal(modules[1].name, "shop");
  assert_true(modules[1].share > 0.149 && modules[1].share < 0.151);
}

static void a_tree_is_read_alike(void **state) {
  (void)state;
  assert_int_equal(find("{\"total\":100,\"nodes\":["
                        "{\"name\":\"a+0x1\",\"module\":\"a\",\"self\":0},"
                        "{\"name\":\"a+0x2\",\"module\":\"a\",\"self\":40}]}"),
                   1);
  assert_true(modules[0].share > 0.399 && modules[0].share < 0.401);
}

static void what_weighs_little_is_not_worth_a_line(void **state) {
  (void)state;
  assert_int_equal(find("{\"total\":1000,\"functions\":["
                        "{\"name\":\"shop+0x10\",\"module\":\"shop\",\"self\":9}]}"),
                   0);
  assert_int_equal(find("{\"total\":0,\"functions\":[]}"), 0);
  assert_int_equal(find("{}"), 0);
}

static void the_collector_says_why(void **state) {
  (void)state;
  struct buf text = {0};
  const struct nameless_module module = {"shop", 0.125};
  cJSON *known = cJSON_Parse("{\"modules\":["
                             "{\"path\":\"/bin/shop\",\"reason\":\"\"},"
                             "{\"path\":\"/bin/workshop\",\"reason\":\"another\"},"
                             "{\"path\":\"/opt/shop\",\"reason\":\"is stripped; upload it\"}]}");
  nameless_modules_explain(&module, known, &text);
  assert_string_equal(buf_text(&text), "shop: 12.5 % of all has no function names: is stripped; "
                                       "upload it (fleetprof upload PATH...)\n");
  buf_clear(&text);
  nameless_modules_explain(&module, NULL, &text);
  assert_non_null(strstr(buf_text(&text), "the collector has no symbols of it; upload"));
  cJSON_Delete(known);
  buf_fini(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(functions_called_by_their_place_are_added_up, end_answer),
      cmocka_unit_test_teardown(a_tree_is_read_alike, end_answer),
      cmocka_unit_test_teardown(what_weighs_little_is_not_worth_a_line, end_answer),
      cmocka_unit_test_teardown(the_collector_says_why, end_answer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
