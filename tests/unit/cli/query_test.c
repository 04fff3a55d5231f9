/* SPDX-License-Identifier: Apache-2.0 */
/* Typed arguments become the intended query. */
#include "cli/query_settings.h"
#include "cli/selector_word.h"

#include "common/buf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS_MAX = 12 };

static struct query_settings settings;
static struct buf text;

static int parse(const char *const *words) {
  static char *argv[WORDS_MAX + 1];
  int argc = 0;
  argv[argc++] = (char *)(uintptr_t) "query";
  for (; words[argc - 1] != NULL; argc++) argv[argc] = (char *)(uintptr_t)words[argc - 1];
  argv[argc] = NULL;
  return query_settings_parse(argc, argv, &settings);
}

static const char *target_of(const char *const *words) {
  buf_clear(&text);
  if (parse(words) != 0) return settings.error;
  query_settings_print_target(&settings, &text);
  return buf_text(&text);
}

static int set_up(void **state) {
  (void)state;
  setenv("FLEETPROF_CONFIG", "", 1);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  buf_fini(&text);
  return 0;
}

static void a_short_selector_is_the_long_one(void **state) {
  (void)state;
  static const char *const rows[][2] = {
      {"{service=\"a\"}", "{service=\"a\"}"},
      {"redis-server", "{service=\"redis-server\"}"},
      {"service=a,board=~edge-.*", "{service=\"a\",board=~\"edge-.*\"}"},
      {"a!=b,c!~d", "{a!=\"b\",c!~\"d\"}"},
      {"a=\"b\"", "{a=\"b\"}"},
      {"site=x\"y\\z", "{site=\"x\\\"y\\\\z\"}"},
      {"board=", "{board=\"\"}"},
      {"a=b=c", "{a=\"b=c\"}"},
      {"a=b,oops", "{a=\"b\",oops}"}, /* the collector reports the error */
      {"", ""},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    buf_clear(&text);
    selector_word_print(rows[i][0], &text);
    assert_string_equal(buf_text(&text), rows[i][1]);
  }
}

static void each_condition_is_told(void **state) {
  (void)state;
  const char *at = "{ a=\"b\", c != \"d\\\"e\",site=~\"x.*\",f=\"}\"} ";
  static const struct selector_matcher expected[] = {
      {"a", "b", true}, {"c", "d\"e", false}, {"site", "x.*", false}, {"f", "}", true}};
  struct selector_matcher got;
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    assert_true(selector_word_next(&at, &got));
    assert_string_equal(got.name, expected[i].name);
    assert_string_equal(got.value, expected[i].value);
    assert_int_equal(got.is_equal, expected[i].is_equal);
  }
  assert_false(selector_word_next(&at, &got));
  static const char *const broken[] = {"", "{", "{a", "{a=", "{a=b}", "{=\"b\"}", "{a\"b\"}"};
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
    at = broken[i];
    assert_false(selector_word_next(&at, &got));
  }
  char long_text[200];
  snprintf(long_text, sizeof long_text, "{%0150d=\"b\"}", 0); /* a name of zeros */
  at = long_text;
  assert_true(selector_word_next(&at, &got));
  assert_int_equal(strlen(got.name), sizeof got.name - 1);
  assert_string_equal(got.value, "b");
}

static void each_question_has_its_route(void **state) {
  (void)state;
  static const struct {
    const char *words[6], *target;
  } rows[] = {
      {{NULL}, "/api/v1/profile?from=-1h&to=now&type=cpu&limit=100&format=top"},
      {{"-f", "flame", "-n", "7", NULL},
       "/api/v1/profile?from=-1h&to=now&type=cpu&limit=20000&format=tree"},
      {{"-f", "folded", NULL}, "/api/v1/profile?from=-1h&to=now&type=cpu&format=folded"},
      {{"--by", "thread", "-n", "7", NULL},
       "/api/v1/load?from=-1h&to=now&type=cpu&limit=7&by=thread"},
      {{"--step", "60", "--from", "-3h", NULL},
       "/api/v1/series?from=-3h&to=now&type=cpu&limit=100&step=60"},
      {{"--callers", "f<a&b>", NULL},
       "/api/v1/callers?from=-1h&to=now&type=cpu&limit=100&function=f%3Ca%26b%3E"},
      {{"--function", "f", "--module", "m", NULL},
       "/api/v1/function?from=-1h&to=now&type=cpu&limit=100&function=f&module=m"},
      {{"x", "--format=json", NULL},
       "/api/v1/"
       "profile?match=%7Bservice%3D%22x%22%7D&from=-1h&to=now&type=cpu&limit=100&format=json"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    assert_string_equal(target_of(rows[i].words), rows[i].target);
}

#define LINK "https://h:7/p/?view=profile&match=%7Ba%3D%22b+c%2Fd%22%7D&from=5&to=9&search=x#y"
#define MATCH "match=%7Ba%3D%22b%20c%2Fd%22%7D"

static void a_link_is_what_it_shows(void **state) {
  (void)state;
  static const struct {
    const char *words[6], *http, *target;
  } rows[] = {
      {{LINK, NULL},
       "https://h:7/p/",
       "/api/v1/profile?" MATCH "&from=5&to=9&type=cpu&limit=100&format=top"},
      {{"--http", "http://tunnel:1", "--from", "-1h", LINK, NULL}, /* the line's own words */
       "http://tunnel:1",
       "/api/v1/profile?" MATCH "&from=-1h&to=9&type=cpu&limit=100&format=top"},
      {{LINK, "--by", "board", NULL},
       "https://h:7/p/",
       "/api/v1/load?" MATCH "&from=5&to=9&type=cpu&limit=100&by=board"},
      {{"http://h:1/api/v1/profile?match=&type=wall", NULL},
       "http://h:1",
       "/api/v1/profile?from=-1h&to=now&type=wall&limit=100&format=top"},
      {{"http://h:1/", NULL},
       "http://h:1/",
       "/api/v1/profile?from=-1h&to=now&type=cpu&limit=100&format=top"},
      {{"http://h:1/?view=function&function=f%28x%29&module=m", NULL},
       "http://h:1/",
       "/api/v1/function?from=-1h&to=now&type=cpu&limit=100&function=f%28x%29&module=m"},
      {{"http://h:1/?view=function&function=f", "--callers", "g", NULL},
       "http://h:1/",
       "/api/v1/callers?from=-1h&to=now&type=cpu&limit=100&function=g"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_string_equal(target_of(rows[i].words), rows[i].target);
    assert_string_equal(settings.options.api.http, rows[i].http);
  }
}

static void a_link_of_anybodys_gets_no_token_that_is_kept_for_our_collector(void **state) {
  (void)state;
  static const struct {
    const char *words[6];
    bool is_tokenless;
  } rows[] = {
      {{"https://elsewhere:7/?match=", NULL}, true},
      {{"http://127.0.0.1:7481/?match=", NULL}, true}, /* another user's, maybe */
      {{"https://127.0.0.1:7480/?match=", NULL}, true},
      {{"http://127.0.0.1:7480/?match=", NULL}, false}, /* the default without a link */
      {{"https://elsewhere:7/?match=", "--token-file", "/t", NULL}, false},
      {{"--http", "https://ours:7", "https://elsewhere:7/?match=", NULL},
       false}, /* queries our collector */
      {{"service", NULL}, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    target_of(rows[i].words);
    assert_int_equal(settings.options.api.is_tokenless, rows[i].is_tokenless);
  }
}

static void a_link_that_is_not_whole_or_shows_something_else_is_refused(void **state) {
  (void)state;
  static char long_link[PAGE_LINK_BYTES + 32] = "http://h:1/?match=";
  memset(long_link + strlen(long_link), 'a', PAGE_LINK_BYTES);
  const char *const rows[][2] = {
      {"http://h:1/?match=%7", NULL},
      {"http://h:1/?match=a%00b", NULL},
      {"http://h:1/?match=%zz", NULL},
      {"http://h:1/?view=diff&a=x", NULL},
      {"http://h:1/?view=function", NULL},
      {"http://h:1/api/v1/boards", NULL},
      {long_link, NULL},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_int_equal(parse(rows[i]), -EINVAL);
    assert_non_null(strstr(settings.error, "link"));
  }
}

static void two_questions_at_once_are_refused(void **state) {
  (void)state;
  static const char *const rows[][6] = {
      {"--by", "board", "--callers", "f", NULL},
      {"--function", "f", "--callees", "g", NULL},
      {"--by", "board", "--format", "folded", NULL},
      {"--by", "board", "--format", "flame", NULL},
      {"--limit", "0", NULL},
      {"--depth", "0", NULL},
      {"--depth", "201", NULL},
      {"a", "b", NULL},
      {"--format", "counts", NULL},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_int_equal(parse(rows[i]), -EINVAL);
    assert_true(settings.error[0] != '\0');
  }
}

/* All commands share the environment and the config file; `table` is a format of status only. */
static void a_format_of_another_command_is_not_ours(void **state) {
  (void)state;
  static const char *const none[] = {NULL};
  setenv("FLEETPROF_FORMAT", "table", 1);
  int error = parse(none);
  unsetenv("FLEETPROF_FORMAT");
  assert_int_equal(error, 0);
  assert_true(settings.is_table);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_short_selector_is_the_long_one),
      cmocka_unit_test(each_condition_is_told),
      cmocka_unit_test(each_question_has_its_route),
      cmocka_unit_test(a_link_is_what_it_shows),
      cmocka_unit_test(a_link_of_anybodys_gets_no_token_that_is_kept_for_our_collector),
      cmocka_unit_test(a_link_that_is_not_whole_or_shows_something_else_is_refused),
      cmocka_unit_test(two_questions_at_once_are_refused),
      cmocka_unit_test(a_format_of_another_command_is_not_ours),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
