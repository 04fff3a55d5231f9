/* SPDX-License-Identifier: Apache-2.0 */
/* The wait is a blocking receive in another folder, which knows nothing of words; a signal that
   interrupts it is no end of it (intake_client.c).  So the word comes from a handler: write(2), and
   nothing else.

   A timer and a signal of its own: the alarm that a caller may have set for us stays his, and the
   program is gone by the time that anybody waits here. */
#include "patience.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_BYTES = 256, SIGNAL_OFFSET = 5 /* from the last real-time signal */ };

static char word[TEXT_BYTES];
static size_t word_len;
static timer_t timer;
static bool has_timer;

static void on_time(int signal) {
  int error = errno;
  (void)signal;
  if (write(STDERR_FILENO, word, word_len) < 0) errno = error; /* nobody reads it: no word */
  errno = error;
}

void patience_begin(const char *text, unsigned ms) {
  int number = SIGRTMAX - SIGNAL_OFFSET;
  struct sigaction action = {.sa_handler = on_time, .sa_flags = SA_RESTART};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
  struct itimerspec times = {.it_value = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000}};
  snprintf(word, sizeof word, "%s\n", text);
  word_len = strlen(word);
  if (sigaction(number, &action, NULL) != 0) return;
  has_timer = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
  if (has_timer) timer_settime(timer, 0, &times, NULL);
}

void patience_end(void) {
  if (has_timer) timer_delete(timer);
  has_timer = false;
}
