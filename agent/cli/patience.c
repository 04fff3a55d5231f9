/* SPDX-License-Identifier: Apache-2.0 */
/* The wait is a blocking receive in another folder (intake_client.c), which continues after a
   signal.  So a signal handler writes the message, with write(2) only.  A watch rewrites its
   message every second.

   The timer and signal are separate from alarm(): an alarm that a caller has set stays intact, and
   the profiled program has ended before any wait. */
#include "patience.h"

#include "common/progress_line.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ERASE "\r\033[K" /* erases the line */

enum {
  TEXT_BYTES = 256,
  WATCH_CHARS = 64, /* with the seconds it fits the narrowest terminal */
  SIGNAL_OFFSET = 5 /* from the last real-time signal */
};

static char word[TEXT_BYTES];
static size_t word_len;
static timer_t timer;
static bool has_timer;
static volatile sig_atomic_t seconds; /* of a watch */
static bool is_watch;

/* Appends the seconds to the message; a handler must not use stdio. */
static size_t add_seconds(char *to) {
  char digits[12];
  size_t at = sizeof digits, len = 0;
  unsigned left = (unsigned)seconds;
  do digits[--at] = (char)('0' + left % 10);
  while ((left /= 10) > 0);
  to[len++] = ' ';
  while (at < sizeof digits) to[len++] = digits[at++];
  to[len++] = ' ';
  to[len++] = 's';
  return len;
}

static void on_time(int signal) {
  int error = errno;
  char text[TEXT_BYTES + 16];
  size_t len = word_len;
  (void)signal;
  memcpy(text, word, word_len);
  if (is_watch) seconds++;
  if (is_watch) len += add_seconds(text + len);
  if (write(STDERR_FILENO, text, len) < 0) errno = error; /* no reader: no message */
  errno = error;
}

static void start(struct itimerspec times) {
  int number = SIGRTMAX - SIGNAL_OFFSET;
  struct sigaction action = {.sa_handler = on_time, .sa_flags = SA_RESTART};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
  word_len = strlen(word);
  seconds = 0;
  if (sigaction(number, &action, NULL) != 0) return;
  has_timer = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
  if (has_timer) timer_settime(timer, 0, &times, NULL);
}

void patience_begin(const char *text, unsigned ms) {
  snprintf(word, sizeof word, "%s\n", text);
  is_watch = false;
  start((struct itimerspec){.it_value = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000}});
}

void patience_watch(const char *text) {
  if (!progress_line_is_possible()) return;
  snprintf(word, sizeof word, ERASE "%.*s", WATCH_CHARS, text);
  is_watch = true;
  start((struct itimerspec){.it_value = {1, 0}, .it_interval = {1, 0}});
}

void patience_clear(void) {
  if (has_timer && is_watch && seconds > 0) fputs(ERASE, stderr);
}

void patience_end(void) {
  if (has_timer) timer_delete(timer); /* before the last message is erased */
  patience_clear();
  has_timer = false;
}
