/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that answer, hang, die, and print too much or too little. */
#include "translate/co_process.h"

#include "common/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static struct co_process process;
static struct buf answers;

static int set_up(void **state) {
  (void)state;
  answers = (struct buf){0};
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  buf_fini(&answers);
  return 0;
}

static void start(const char *command, bool is_confined) {
  static const char *const variables[] = {"PLACE=here", NULL};
  const struct co_start how = {command, variables, is_confined};
  assert_int_equal(co_process_start(&how, &process), 0);
}

static int talk(const char *questions, enum co_stop stop, size_t stop_count, unsigned quiet_ms) {
  const struct co_talk how = {.questions = span_of_string(questions),
                              .stop = stop,
                              .stop_count = stop_count,
                              .quiet_ms = quiet_ms,
                              .answer_bytes_max = 1 << 20};
  return co_process_talk(&process, &how, &answers);
}

static void one_that_stays_answers_again_and_again(void **state) {
  (void)state;
  start("while read -r a; do echo \"$a\"; echo file:1; done", false);
  for (int i = 0; i < 3; i++) {
    buf_clear(&answers);
    assert_int_equal(talk("0x1\n0x2\n", CO_AT_LINES, 4, 5000), 0);
    assert_string_equal(buf_text(&answers), "0x1\nfile:1\n0x2\nfile:1\n");
    assert_false(co_process_is_astray(&process));
  }
  assert_int_equal(co_process_end(&process, true), 0);
}

static void empty_lines_end_answers_of_any_length(void **state) {
  (void)state;
  start("while read -r a; do echo f; echo a.c; echo g; echo b.c; printf '\\r\\n'; done", false);
  assert_int_equal(talk("0x1\n0x2\n", CO_AT_BLANKS, 2, 5000), 0);
  assert_int_equal(answers.len, 2 * 14);
  co_process_end(&process, true);
}

static void it_gets_nothing_of_ours(void **state) {
  int open_file = open("/dev/null", O_RDONLY); /* not closed at exec */
  (void)state;
  start("echo $PLACE; ls /proc/self/fd | wc -l", false);
  assert_int_equal(talk("", CO_AT_END, 0, 5000), 0);
  assert_string_equal(buf_text(&answers),
                      "here\n4\n"); /* including the one that ls lists through */
  co_process_end(&process, true);
  close(open_file);
}

static void confined_it_has_no_rights_and_no_way_to_them(void **state) {
  (void)state;
  start("grep -E 'CapEff|CapPrm|NoNewPrivs' /proc/self/status | tr -d '\\t\\n'", true);
  assert_int_equal(talk("", CO_AT_END, 0, 5000), 0);
  assert_string_equal(buf_text(&answers),
                      "CapPrm:0000000000000000CapEff:0000000000000000NoNewPrivs:1");
  co_process_end(&process, true);
}

/* In the shell's units: KiB of memory, 512 bytes of a file. */
static void confined_it_takes_so_much_and_no_more(void **state) {
  (void)state;
  start("ulimit -d; ulimit -f; ulimit -n; ulimit -t; ulimit -c", true);
  assert_int_equal(talk("", CO_AT_END, 0, 5000), 0);
  assert_string_equal(buf_text(&answers), "4194304\n2097152\n1024\n3600\n0\n");
  assert_int_equal(co_process_end(&process, true), 0);
}

static void assert_ends(const char *command, enum co_stop stop, int error) {
  uint64_t start_ns = clock_monotonic_ns();
  start(command, false);
  assert_int_equal(talk("0x1\n0x2\n", stop, 2, error == -ETIMEDOUT ? 100 : 10000), error);
  co_process_end(&process, false);
  assert_true(clock_monotonic_ns() - start_ns < 5 * NS_PER_SECOND);
  buf_clear(&answers);
}

static void what_goes_wrong_is_told_and_ends(void **state) {
  (void)state;
  assert_ends("sleep 1000 | sleep 1000", CO_AT_END, -ETIMEDOUT); /* the whole pipeline */
  assert_ends("read -r a; echo one", CO_AT_LINES, -EBADMSG);     /* dies too early */
  assert_ends("head -n 1; sleep 1000", CO_AT_LINES, -ETIMEDOUT);
  assert_ends("read -r a; printf '1\\n2\\n3\\n'; sleep 1000", CO_AT_LINES, -EBADMSG);
  assert_ends("yes", CO_AT_END, -EOVERFLOW);
}

static void a_deadline_holds_for_one_that_never_falls_silent(void **state) {
  const struct co_talk how = {.questions = span_of_string("0x1\n"),
                              .stop = CO_AT_END,
                              .quiet_ms = 60000,
                              .deadline_ns = clock_monotonic_ns() + 100 * NS_PER_MS,
                              .answer_bytes_max = 1 << 20};
  (void)state;
  start("while sleep 0.01; do echo; done", false);
  assert_int_equal(co_process_talk(&process, &how, &answers), -ETIMEDOUT);
  co_process_end(&process, false);
}

static void who_speaks_unasked_is_astray(void **state) {
  struct timespec nap = {0, 1000000};
  (void)state;
  start("while read -r a; do echo \"$a\"; done", false);
  assert_false(co_process_is_astray(&process));
  co_process_end(&process, true);
  start("echo hello; cat", false);
  for (int i = 0; i < 5000 && !co_process_is_astray(&process); i++) nanosleep(&nap, NULL);
  assert_true(co_process_is_astray(&process));
  co_process_end(&process, true);
}

static void its_status_is_known_and_a_lingerer_is_ended(void **state) {
  (void)state;
  start("cat >/dev/null; exit 3", false);
  assert_int_equal(talk("0x1\n", CO_AT_END, 0, 5000), 0);
  assert_int_equal(co_process_end(&process, true), 3);
  start("exec >&-; sleep 1000", false);
  assert_int_equal(talk("0x1\n", CO_AT_END, 0, 5000), 0);
  assert_int_equal(co_process_end(&process, true), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(one_that_stays_answers_again_and_again, set_up, tear_down),
      cmocka_unit_test_setup_teardown(empty_lines_end_answers_of_any_length, set_up, tear_down),
      cmocka_unit_test_setup_teardown(it_gets_nothing_of_ours, set_up, tear_down),
      cmocka_unit_test_setup_teardown(confined_it_has_no_rights_and_no_way_to_them, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(confined_it_takes_so_much_and_no_more, set_up, tear_down),
      cmocka_unit_test_setup_teardown(what_goes_wrong_is_told_and_ends, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_deadline_holds_for_one_that_never_falls_silent, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(who_speaks_unasked_is_astray, set_up, tear_down),
      cmocka_unit_test_setup_teardown(its_status_is_known_and_a_lingerer_is_ended, set_up,
                                      tear_down),
  };
  signal(SIGPIPE, SIG_IGN); /* required by the contract */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
