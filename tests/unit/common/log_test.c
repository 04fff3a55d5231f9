/* SPDX-License-Identifier: Apache-2.0 */
#include "common/log.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Runs with stderr in a pipe; printed gets the output. */
static char printed[8192];
static int kept_stderr, reader;

static void catch_stderr(void) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  kept_stderr = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  reader = ends[0];
}

static void release_stderr(void) {
  dup2(kept_stderr, STDERR_FILENO);
  close(kept_stderr);
  ssize_t len = read(reader, printed, sizeof printed - 1);
  printed[len > 0 ? len : 0] = '\0';
  close(reader);
}

static void a_line_has_its_level_and_keeps_errno(void **state) {
  (void)state;
  catch_stderr();
  errno = ENOSPC;
  log_error("uplink collector: connect: %s", "refused");
  int after = errno;
  log_warn("w");
  release_stderr();
  assert_int_equal(after, ENOSPC);
  assert_string_equal(printed, "error uplink collector: connect: refused\nwarn w\n");
}

static void lines_above_the_level_are_not_printed(void **state) {
  (void)state;
  catch_stderr();
  log_debug("hidden");
  log_set_level(LOG_LEVEL_DEBUG);
  log_debug("shown");
  log_set_level(LOG_LEVEL_ERROR);
  log_warn("hidden");
  log_info("hidden");
  log_error("shown too");
  log_set_level(LOG_LEVEL_INFO);
  log_info("and this");
  release_stderr();
  assert_string_equal(printed, "debug shown\nerror shown too\ninfo and this\n");
}

static void what_a_peer_said_cannot_make_a_second_line(void **state) {
  (void)state;
  catch_stderr();
  log_error("peer: %s", "a\nerror forged\x1b[2J\x7f");
  release_stderr();
  assert_string_equal(printed, "error peer: a?error forged?[2J?\n");
  catch_stderr();
  log_error("peer: %s", "\xc2\x9b"
                        "2J \xe2\x80\xae"
                        "gpj.exe \xc3\xa4"); /* C1, U+202E, and a letter */
  release_stderr();
  assert_string_equal(printed, "error peer: ?\?2J ?\?\?gpj.exe \xc3\xa4\n");
}

static void a_line_too_long_is_cut_and_says_so(void **state) {
  (void)state;
  char text[3000];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  catch_stderr();
  log_error("%s", text);
  release_stderr();
  size_t len = strlen(printed);
  assert_true(len <= 1024);
  assert_string_equal(printed + len - 5, "x...\n");
  assert_null(memchr(printed, '\0', len));
}

static void a_closed_stderr_does_no_harm(void **state) {
  (void)state;
  catch_stderr();
  close(STDERR_FILENO);
  errno = ENOSPC;
  log_error("nobody hears");
  int after = errno;
  release_stderr();
  assert_int_equal(after, ENOSPC);
  assert_string_equal(printed, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_line_has_its_level_and_keeps_errno),
      cmocka_unit_test(lines_above_the_level_are_not_printed),
      cmocka_unit_test(what_a_peer_said_cannot_make_a_second_line),
      cmocka_unit_test(a_line_too_long_is_cut_and_says_so),
      cmocka_unit_test(a_closed_stderr_does_no_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
