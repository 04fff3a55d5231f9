/* SPDX-License-Identifier: Apache-2.0 */
/* The distance of equal log lines, by a clock that the test sets (--wrap of clock_monotonic_ns). */
#include "identity/rationed_log.h"

#include "common/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { APART_S = RATIONED_LOG_APART_S_MAX, A_SECOND = 10 /* lines */ };

static uint64_t now_s;
static char path[64];

uint64_t __wrap_clock_monotonic_ns(void);
uint64_t __wrap_clock_monotonic_ns(void) {
  return now_s * NS_PER_SECOND;
}

static int set_up(void **state) {
  snprintf(path, sizeof path, "/tmp/rationed_log_test.XXXXXX");
  int fd = mkstemp(path);
  now_s = 1000;
  *state = rationed_log_new(path, "renewals", APART_S);
  return fd < 0 || close(fd) != 0 || *state == NULL;
}

/* Ends LOG. Returns the number of lines with TEXT. */
static unsigned count(struct rationed_log *log, const char *text) {
  static char all[256 << 10];
  unsigned found = 0;
  rationed_log_free(log);
  FILE *file = fopen(path, "re");
  assert_non_null(file);
  all[fread(all, 1, sizeof all - 1, file)] = '\0';
  fclose(file);
  remove(path);
  for (const char *at = all; (at = strstr(at, text)) != NULL; at++) found++;
  return found;
}

static void the_same_of_one_is_noted_once_a_minute(void **state) {
  struct rationed_log *log = *state;
  for (now_s = 1000; now_s <= 1000 + 10 * APART_S; now_s++)
    rationed_log_note(log, "press-7", "renewed");
  assert_int_equal(count(log, "press-7: renewed\n"), 11);
}

static void another_or_other_words_are_noted(void **state) {
  struct rationed_log *log = *state;
  rationed_log_note(log, "press-7", "renewed");
  rationed_log_note(log, "press-7", "renewed after it had expired");
  rationed_log_note(log, "press-8", "renewed");
  assert_int_equal(count(log, "renewed"), 3);
}

/* One line each of COUNT other texts from FROM_S on, at the maximum rate. */
static void note_others(struct rationed_log *log, uint64_t from_s, unsigned count) {
  char name[32];
  for (unsigned i = 0; i < count; i++) {
    now_s = from_s + i / A_SECOND;
    snprintf(name, sizeof name, "edge-%llu-%u", (unsigned long long)from_s, i);
    rationed_log_note(log, name, "renewed");
    if (i % A_SECOND == 0) usleep(1000); /* the queue is short */
  }
}

/* Regardless of other lines logged before and meanwhile. */
static void none_is_forgotten_within_the_minute(void **state) {
  struct rationed_log *log = *state;
  note_others(log, 1000 - APART_S, APART_S * A_SECOND - 1);
  usleep(100000); /* until the queue has a place for sure */
  now_s = 1000;
  rationed_log_note(log, "press-7", "renewed");
  note_others(log, 1000, APART_S * A_SECOND - 2); /* leaves a place in the last second */
  now_s = 1000 + APART_S - 1;
  rationed_log_note(log, "press-7", "renewed");
  assert_int_equal(count(log, "press-7: renewed\n"), 1);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(the_same_of_one_is_noted_once_a_minute),
      TEST(another_or_other_words_are_noted),
      TEST(none_is_forgotten_within_the_minute),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
