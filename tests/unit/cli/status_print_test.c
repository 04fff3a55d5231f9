/* SPDX-License-Identifier: Apache-2.0 */
/* The text output of a daemon's status: each line is right, even if the daemon omitted fields. */
#include "cli/status_print.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *text;

/* Prints JSON into `text`. */
static int print(const char *json) {
  size_t len;
  free(text);
  FILE *out = open_memstream(&text, &len);
  int error = status_print_text(json, "/s", out);
  fclose(out);
  return error;
}

#define SAYS(json, wanted)                 \
  do {                                     \
    assert_int_equal(print(json), 0);      \
    assert_non_null(strstr(text, wanted)); \
  } while (0)

static int free_text(void **state) {
  (void)state;
  free(text);
  text = NULL;
  return 0;
}

static void what_is_no_status_is_refused(void **state) {
  (void)state;
  assert_int_equal(print("[]"), -EBADMSG);
  assert_int_equal(print("{"), -EBADMSG);
  assert_int_equal(print("{}"), 0);
}

static void samples_are_told_by_where_they_are(void **state) {
  (void)state;
  SAYS("{\"loss\":{\"produced\":10,\"shipped\":7,\"acked\":4,\"spooled\":3,\"open\":1,"
       "\"dropped\":{\"ring_full\":0,\"spool_full\":2}}}",
       "10 since this daemon's start: 4 stored by the collector, 3 in the spool, 1 in the open "
       "window; lost: spool_full 2\n");
  SAYS("{\"loss\":{\"produced\":1,\"acked\":1,\"dropped\":{}}}",
       "0 in the open window, none lost\n");
  SAYS("{\"loss\":{\"produced\":8,\"shipped\":7}}", "start: 7 in batches, 0 in the open window");
}

static void samples_of_an_earlier_daemon_are_told_apart(void **state) {
  (void)state;
  SAYS("{\"spool\":{\"entries\":1,\"records\":9},\"loss\":{\"spooled\":2}}",
       "1 batch waiting, 9 samples (7 of earlier daemons), ");
  SAYS("{\"spool\":{\"entries\":2,\"records\":2},\"loss\":{\"spooled\":2}}",
       "2 batches waiting, 2 samples, ");
}

#define COST(state, added, bytes)                                                   \
  "{\"cost\":{\"added_cpu_percent\":" added ",\"bytes_day\":" bytes                 \
  "},\"budget\":{\"cpu_percent\":0.5,\"bytes_day\":5242880,\"debug_used\":3145728," \
  "\"debug_bytes_day\":268435456,\"state\":\"" state "\"}}"

static void nothing_over_the_budget_is_called_within(void **state) {
  (void)state;
  SAYS(COST("within", "0.4", "100"), "\n            within the budget\n");
  SAYS(COST("within", "0.6", "100"), "over the budget for a while");
  SAYS(COST("window", "0.1", "9000000"), "over the budget for a while");
  SAYS(COST("unheld", "1.2", "100"), "the default one does not hold rates that were asked for");
  SAYS(COST("unheld", "1.2", "100"), "with samples 1.2 % (budget 0.5 %)");
  SAYS(COST("daemon", "0.8", "100"), "over the budget: the daemon alone takes all of --budget-cpu");
  SAYS(COST("floor", "0.6", "100"), "over the budget at the lowest rate");
  SAYS(COST("later", "0.1", "100"), "\n            later\n");
}

static void no_page_is_told_of_where_there_is_none(void **state) {
  (void)state;
  SAYS("{\"uplink\":{\"page_url\":\"http://h:1/\"}}", "; the page: http://h:1/\n");
  SAYS("{\"uplink\":{\"page_url\":\"http://h:1/api/v1/\"}}",
       "; it has no page, its API: http://h:1/api/v1/\n");
}

static void programs_that_were_not_taken_are_told_by_reason(void **state) {
  (void)state;
  SAYS(
      "{\"intake\":{\"refused_programs\":{\"no room\":1},\"turned_away\":3,\"deferred\":2}}",
      "\n  refused   1 program: no room; 3 programs: the daemon was busy; 2 requests: what their ");
  SAYS("{\"intake\":{\"refused_programs\":{},\"turned_away\":1,\"deferred\":0}}",
       "\n  refused   1 program: the daemon was busy\n");
  assert_int_equal(print("{\"intake\":{\"refused_programs\":{},\"turned_away\":0}}"), 0);
  assert_null(strstr(text, "refused"));
}

static void debug_files_are_told_beside_the_batches(void **state) {
  (void)state;
  SAYS(COST("within", "0.4", "2048"),
       "batches 2.0 KiB in 24 h (budget 5.0 MiB), debug files 3.0 MiB today (budget 256 MiB)\n");
}

static void the_whole_board_is_of_no_one_process(void **state) {
  (void)state;
  SAYS("{\"targets\":[{\"pid\":0,\"service\":\"[board]\",\"sampler\":\"system\"}]}",
       "      all [board]              system ");
  SAYS("{\"targets\":[]}", "no program is sampled now");
}

static void a_recorder_at_work_has_what_it_wrote(void **state) {
  (void)state;
  SAYS("{\"targets\":[{\"pid\":7,\"service\":\"r\",\"sampler\":\"timer\",\"asked_hz\":99,"
       "\"samples\":0,\"written\":1234}]}",
       "     99        -      1234         -  records\n");
  SAYS("{\"targets\":[{\"pid\":7,\"service\":\"r\",\"sampler\":\"timer\",\"asked_hz\":99,"
       "\"samples\":5,\"cpu_seconds\":0.5}]}",
       "     99        -         5      0.50  runs\n");
}

static void how_stacks_ended_is_told_where_it_is_known(void **state) {
  (void)state;
#define STACKS(stacks) "{\"targets\":[{\"pid\":7,\"service\":\"s\",\"stacks\":{" stacks "}}]}"
  SAYS(STACKS("\"not_told\":0,\"complete\":0.973,\"truncated\":0,\"no_table\":0.027,\"bad\":0"),
       "\n          stacks: 97.3 % complete, 2.7 % no table\n");
  SAYS(STACKS("\"not_told\":0.5,\"truncated\":0.5"), "stacks: 50.0 % not told, 50.0 % truncated");
  static const char *const silent[] = {STACKS("\"not_told\":1,\"complete\":0"), STACKS(""),
                                       "{\"targets\":[{\"pid\":7,\"service\":\"s\"}]}"};
  for (unsigned i = 0; i < 3; i++) {
    assert_int_equal(print(silent[i]), 0);
    assert_null(strstr(text, "stacks"));
  }
}

static void a_run_that_was_sampled_is_told_from_one_that_was_not(void **state) {
  (void)state;
  SAYS("{\"targets\":[{\"pid\":7,\"service\":\"live\",\"sampler\":\"perf\"}],"
       "\"notes\":[{\"pid\":7,\"service\":\"live\"},"
       "{\"pid\":6,\"service\":\"gone\",\"sampler\":\"perf\",\"samples\":5,\"ended\":true},"
       "{\"pid\":5,\"service\":\"mute\",\"sampler\":\"timer\",\"samples\":0,\"why\":\"static\"}]}",
       "of `fleetprof run`, nothing was sampled of\n");
  const char *ended = strstr(text, "of `fleetprof run`, sampled until they ended\n");
  const char *mute = strstr(text, "      5 mute                 timer          0  runs; static\n");
  const char *gone = strstr(text, "      6 gone                 perf           5  ended\n");
  assert_non_null(ended);
  assert_non_null(mute);
  assert_non_null(gone);
  assert_true(mute < ended && ended < gone);
  assert_null(strstr(strstr(text, "nothing was"), "live"));
}

#define ENDED(unsampled, why)                                                               \
  "{\"notes\":[{\"pid\":7,\"service\":\"s\",\"sampler\":\"timer\",\"samples\":5,\"ended\":" \
  "true,\"unsampled\":\"" unsampled "\",\"why\":\"" why "\"}]}"

static void a_run_that_ended_has_its_unsampled_time_and_why_it_went_by_timer(void **state) {
  (void)state;
  SAYS(ENDED("12 % of it is [unsampled]: its report says what helps", "perf: no right"),
       "ended; 12 % of it is [unsampled]: its report says what helps; perf: no right\n");
  SAYS(ENDED("12 % of it is [unsampled]: not sampled: 2 thr", "not sampled: 2 threads; perf: no"),
       "ended; 12 % of it is [unsampled]: not sampled: 2 thr\n");
  SAYS(ENDED("", "perf: no right"), "ended; perf: no right\n");
}

static void of_many_runs_that_ended_the_newest_are_shown(void **state) {
  (void)state;
  char json[1024] = "{\"notes\":[", *end = json + strlen(json);
  for (int i = 1; i <= 12; i++)
    end += snprintf(end, 64, "%s{\"serial\":%d,\"pid\":%d,\"samples\":1}", i > 1 ? "," : "", i,
                    100 + i);
  snprintf(end, 64, "]}");
  SAYS(json, "and 2 before these\n");
  assert_null(strstr(text, " 102 "));
  assert_non_null(strstr(text, " 103 "));
  assert_non_null(strstr(text, " 112 "));
}

static void a_rate_of_ten_thousand_is_no_power(void **state) {
  (void)state;
  SAYS("{\"targets\":[{\"pid\":7,\"service\":\"r\",\"sampler\":\"perf\",\"asked_hz\":10000,"
       "\"achieved_hz\":9842.3,\"rate_hz\":10000,\"rate_reason\":\"ctl\"}]}",
       "perf     10000     9842 ");
  assert_non_null(strstr(text, "runs, 10000 Hz (ctl)\n"));
}

static void what_unwind_tables_lack_is_said(void **state) {
  (void)state;
  SAYS("{\"tables\":{\"ready\":3,\"functions_refused\":2,\"functions_left\":0,\"untold_rows\":1,"
       "\"functions_path\":\"/lib/x.so\",\"functions_why\":\"an entry that is cut\"}}",
       "\n  tables    2 functions refused (the last in /lib/x.so: an entry that is cut); "
       "1 place that no rule can tell of\n");
  SAYS("{\"tables\":{\"refused\":1,\"failed\":1,\"path\":\"/lib/y.so\",\"why\":\"no ELF\","
       "\"functions_left\":1}}",
       "\n  tables    2 modules without one (the last in /lib/y.so: no ELF); 1 function told of "
       "twice\n");
  assert_int_equal(print("{\"tables\":{\"ready\":3,\"functions_refused\":0}}"), 0);
  assert_null(strstr(text, "tables"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(what_is_no_status_is_refused, free_text),
      cmocka_unit_test_teardown(what_unwind_tables_lack_is_said, free_text),
      cmocka_unit_test_teardown(samples_are_told_by_where_they_are, free_text),
      cmocka_unit_test_teardown(samples_of_an_earlier_daemon_are_told_apart, free_text),
      cmocka_unit_test_teardown(nothing_over_the_budget_is_called_within, free_text),
      cmocka_unit_test_teardown(no_page_is_told_of_where_there_is_none, free_text),
      cmocka_unit_test_teardown(programs_that_were_not_taken_are_told_by_reason, free_text),
      cmocka_unit_test_teardown(debug_files_are_told_beside_the_batches, free_text),
      cmocka_unit_test_teardown(the_whole_board_is_of_no_one_process, free_text),
      cmocka_unit_test_teardown(a_recorder_at_work_has_what_it_wrote, free_text),
      cmocka_unit_test_teardown(how_stacks_ended_is_told_where_it_is_known, free_text),
      cmocka_unit_test_teardown(a_run_that_was_sampled_is_told_from_one_that_was_not, free_text),
      cmocka_unit_test_teardown(a_run_that_ended_has_its_unsampled_time_and_why_it_went_by_timer,
                                free_text),
      cmocka_unit_test_teardown(of_many_runs_that_ended_the_newest_are_shown, free_text),
      cmocka_unit_test_teardown(a_rate_of_ten_thousand_is_no_power, free_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
