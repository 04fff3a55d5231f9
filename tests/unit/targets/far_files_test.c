/* SPDX-License-Identifier: Apache-2.0 */
/* Children that answer, and children that do not. */
#include "targets/far_files.h"

#include "common/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct far_files files;
static struct far_answer answer;

static void never(const struct far_question *question, struct far_answer *ret) {
  (void)question;
  (void)ret;
  for (;;) pause();
}

static void say_what_is_open(const struct far_question *question, struct far_answer *ret) {
  (void)question;
  for (int fd = 0; fd < 1024; fd++) ret->error += fcntl(fd, F_GETFD) >= 0;
}

static int fresh(void **state) {
  (void)state;
  memset(&files, 0, sizeof files);
  return 0;
}

static void a_file_is_looked_at_by_a_child(void **state) {
  (void)state;
  struct far_question question = {.path = "/proc/self/exe", .device = 9};
  assert_int_equal(far_files_ask(&files, &question, NULL, &answer), 0);
  assert_int_equal(answer.error, 0);
  assert_true(answer.identity.id_bytes > 0);
  assert_true(answer.stamp.size_bytes > 0);
  assert_string_equal(answer.open_path, "/proc/self/exe");
  question.path = "/nowhere";
  assert_int_equal(far_files_ask(&files, &question, NULL, &answer), 0);
  assert_int_equal(answer.error, -ENOENT);
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

static void a_child_holds_nothing_of_the_daemon(void **state) {
  (void)state;
  struct far_question question = {.path = "/", .device = 9};
  int lock = open("/dev/null", O_RDONLY);
  assert_int_equal(far_files_ask(&files, &question, say_what_is_open, &answer), 0);
  assert_int_equal(answer.error, 1);
  close(lock);
}

static void a_device_that_does_not_answer_is_waited_for_once(void **state) {
  (void)state;
  struct far_question question = {.path = "/", .device = 9}, other = {.path = "/", .device = 10};
  assert_int_equal(far_files_ask(&files, &question, never, &answer), -ETIMEDOUT);
  uint64_t begin_ns = clock_monotonic_ns();
  assert_int_equal(far_files_ask(&files, &question, never, &answer), -EBUSY);
  assert_true(clock_monotonic_ns() - begin_ns < FAR_PATIENCE_MS * NS_PER_MS);
  assert_int_equal(far_files_ask(&files, &other, say_what_is_open, &answer), 0);
}

static void one_that_was_late_is_asked_again_after_a_while(void **state) {
  (void)state;
  struct far_question question = {.path = "/", .device = 9};
  assert_int_equal(far_files_ask(&files, &question, never, &answer), -ETIMEDOUT);
  files.stalls[0].until_ms = 0;
  int error = -EBUSY; /* until the killed child is reaped */
  while (error == -EBUSY) error = far_files_ask(&files, &question, say_what_is_open, &answer);
  assert_int_equal(error, 0);
}

static void however_many_do_not_answer_few_children_wait(void **state) {
  (void)state;
  struct far_question question = {.path = "/"};
  for (unsigned i = 0; i < FAR_STALLED_MAX; i++) {
    question.device = i + 1;
    files.stalls[i] = (struct far_stall){fork(), i + 1, UINT64_MAX};
    if (files.stalls[i].child == 0) never(&question, &answer);
  }
  question.device = 99;
  assert_int_equal(far_files_ask(&files, &question, say_what_is_open, &answer), -EBUSY);
  for (unsigned i = 0; i < FAR_STALLED_MAX; i++) kill(files.stalls[i].child, SIGKILL);
  int error = -EBUSY;
  while (error == -EBUSY) error = far_files_ask(&files, &question, say_what_is_open, &answer);
  assert_int_equal(error, 0);
  while (waitpid(-1, NULL, 0) > 0) continue;
}

static void a_disk_is_not_far(void **state) {
  (void)state;
  assert_false(far_files_is_far(&files, 0, 8ULL << 32 | 1));
  assert_false(far_files_is_far(&files, 0, 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_file_is_looked_at_by_a_child, fresh),
      cmocka_unit_test_setup(a_child_holds_nothing_of_the_daemon, fresh),
      cmocka_unit_test_setup(a_device_that_does_not_answer_is_waited_for_once, fresh),
      cmocka_unit_test_setup(one_that_was_late_is_asked_again_after_a_while, fresh),
      cmocka_unit_test_setup(however_many_do_not_answer_few_children_wait, fresh),
      cmocka_unit_test_setup(a_disk_is_not_far, fresh),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
