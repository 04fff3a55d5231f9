/* SPDX-License-Identifier: Apache-2.0 */
/* Simultaneous runs of one name get separate places: as many as there are runs and no more. */
#include "cli/run_place.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char socket_path[64]; /* of no other test at the same time */

/* Another run: takes its place, reports it, and keeps it until it is killed. */
static pid_t begin_another(const char *service, const char *labels, unsigned *ret_place) {
  int told[2];
  assert_int_equal(pipe(told), 0);
  pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failing test leaves no process behind */
    unsigned place = run_place_take(socket_path, service, labels);
    if (write(told[1], &place, sizeof place) != sizeof place) _exit(1);
    pause();
  }
  assert_int_equal(read(told[0], ret_place, sizeof *ret_place), sizeof *ret_place);
  close(told[0]);
  close(told[1]);
  return pid;
}

static void end(pid_t pid) {
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
}

static void runs_at_once_have_the_lowest_places_that_are_free(void **state) {
  (void)state;
  unsigned first, second, third, again, other, labelled;
  pid_t a = begin_another("shop", "", &first), b = begin_another("shop", "", &second);
  pid_t c = begin_another("shop", "", &third);
  pid_t d = begin_another("bank", "", &other), e = begin_another("shop", "a=b", &labelled);
  end(b);
  b = begin_another("shop", "", &again);
  assert_int_equal(first, 1);
  assert_int_equal(second, 2);
  assert_int_equal(third, 3);
  assert_int_equal(again, 2);
  assert_int_equal(other, 1);
  assert_int_equal(labelled, 1);
  const pid_t all[] = {a, b, c, d, e};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) end(all[i]);
}

static void there_are_so_many_places_and_no_more(void **state) {
  (void)state;
  pid_t all[RUN_PLACES];
  unsigned place;
  for (unsigned i = 0; i < RUN_PLACES; i++) {
    all[i] = begin_another("crowd", "", &place);
    assert_int_equal(place, i + 1);
  }
  assert_int_equal(run_place_take(socket_path, "crowd", ""), 0);
  for (unsigned i = 0; i < RUN_PLACES; i++) end(all[i]);
}

static void the_first_is_labelled_as_it_was_given(void **state) {
  (void)state;
  char labels[16] = "", more[16] = "a=b", full[8] = "abc=def";
  run_place_label(1, labels, sizeof labels);
  assert_string_equal(labels, "");
  run_place_label(0, labels, sizeof labels);
  assert_string_equal(labels, "");
  run_place_label(2, labels, sizeof labels);
  assert_string_equal(labels, "run=2");
  run_place_label(64, more, sizeof more);
  assert_string_equal(more, "a=b\nrun=64");
  run_place_label(2, full, sizeof full);
  assert_string_equal(full, "abc=def");
}

int main(void) {
  snprintf(socket_path, sizeof socket_path, "/run_place_test.%d", (int)getpid());
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_at_once_have_the_lowest_places_that_are_free),
      cmocka_unit_test(there_are_so_many_places_and_no_more),
      cmocka_unit_test(the_first_is_labelled_as_it_was_given),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
