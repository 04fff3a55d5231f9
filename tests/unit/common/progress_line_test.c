/* SPDX-License-Identifier: Apache-2.0 */
/* The progress line does not disturb: not in the first second, not without a terminal that can
   erase, and never wider than the terminal. */
#include "common/progress_line.h"

#include "common/clock.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

enum { COLUMNS = 40 };

static int master, saved;
static char got[4096];

/* Makes stderr a terminal of COLUMNS. */
static int set_up(void **state) {
  const struct winsize size = {.ws_row = 24, .ws_col = COLUMNS};
  (void)state;
  setenv("TERM", "vt100", 1);
  saved = dup(STDERR_FILENO);
  master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) return -1;
  int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
  if (slave < 0 || ioctl(slave, TIOCSWINSZ, &size) != 0) return -1;
  dup2(slave, STDERR_FILENO);
  close(slave);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  fflush(stderr);
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(master);
  return 0;
}

/* The terminal's input. */
static const char *sent(void) {
  fflush(stderr);
  ssize_t len = read(master, got, sizeof got - 1);
  got[len > 0 ? len : 0] = '\0';
  return got;
}

static void make_old(struct progress_line *line) {
  line->begin_ns -= 2 * NS_PER_SECOND;
}

static void the_first_second_needs_no_words(void **state) {
  struct progress_line line;
  (void)state;
  progress_line_init(&line, true);
  line.begin_ns = clock_monotonic_ns() - NS_PER_SECOND / 1000;
  assert_false(progress_line_is_due(&line));
  make_old(&line);
  assert_true(progress_line_is_due(&line));
}

static void a_bar_is_as_full_as_what_is_done_and_goes_away(void **state) {
  struct progress_line line;
  (void)state;
  progress_line_init(&line, true);
  make_old(&line);
  progress_line_bar(&line, 1, 4, "1 of 4");
  assert_string_equal(sent(), "\r\033[K[######..................] 1 of 4");
  assert_false(progress_line_is_due(&line)); /* five times a second are enough */
  progress_line_clear(&line);
  assert_string_equal(sent(), "\r\033[K");
  progress_line_clear(&line);
  assert_string_equal(sent(), "");
}

static void what_is_wider_than_the_terminal_is_cut_between_letters(void **state) {
  struct progress_line line;
  char text[2 * COLUMNS * 2 + 1] = "";
  (void)state;
  for (int i = 0; i < 2 * COLUMNS; i++) memcpy(text + strlen(text), "\xc3\xa4", 3);
  progress_line_init(&line, true);
  progress_line_show(&line, text);
  assert_int_equal(strlen(sent()), strlen("\r\033[K") + 2 * (COLUMNS - 1));
}

static void who_cannot_erase_or_does_not_want_it_sees_nothing(void **state) {
  struct progress_line line;
  (void)state;
  for (int way = 0; way < 4; way++) {
    setenv("TERM", way == 0 ? "dumb" : way == 1 ? "" : "vt100", 1);
    if (way == 3) dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    progress_line_init(&line, way != 2);
    make_old(&line);
    assert_false(progress_line_is_due(&line));
    progress_line_bar(&line, 1, 2, "half");
    progress_line_clear(&line);
    assert_string_equal(sent(), "");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(the_first_second_needs_no_words, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_bar_is_as_full_as_what_is_done_and_goes_away, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(what_is_wider_than_the_terminal_is_cut_between_letters,
                                      set_up, tear_down),
      cmocka_unit_test_setup_teardown(who_cannot_erase_or_does_not_want_it_sees_nothing, set_up,
                                      tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
