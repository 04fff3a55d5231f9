/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/status as kernels write it, as old kernels do, and with a hostile thread name. */
#include "proc/proc_status.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

static const char usual[] = "Name:\tredis-server\nUmask:\t0022\nState:\tS (sleeping)\n"
                            "Tgid:\t77\nSigQ:\t3/63448\nSigPnd:\t0000000000000000\n"
                            "SigBlk:\t0200000000000001\nSigIgn:\t0000000000001000\n"
                            "SigCgt:\t8000000000000002\nSeccomp:\t2\nSeccomp_filters:\t3\n"
                            "voluntary_ctxt_switches:\t578\nnonvoluntary_ctxt_switches:\t21\n";

static void what_is_needed_is_found(void **state) {
  (void)state;
  struct proc_status status;
  assert_int_equal(proc_status_parse(span_of_string(usual), &status), 0);
  assert_int_equal(status.state, 'S');
  assert_int_equal(status.blocked, 0x0200000000000001);
  assert_int_equal(status.caught, 0x8000000000000002);
  assert_int_equal(status.seccomp, 2);
  assert_int_equal(status.filters, 3);
  assert_int_equal(status.queued, 3);
  assert_int_equal(status.queue_max, 63448);
  assert_int_equal(status.sleeps, 578);
  assert_int_equal(status.pushes, 21);
  assert_int_equal(status.sleeps, 578);
}

static void a_kernel_that_counts_no_filters_says_unknown(void **state) {
  (void)state;
  struct proc_status status;
  assert_int_equal(proc_status_parse(span_of_string("Name:\tx\nState:\tR (running)\n"), &status),
                   0);
  assert_int_equal(status.filters, PROC_FILTERS_UNKNOWN);
  assert_int_equal(status.seccomp, 0);
}

static void a_name_cannot_pose_as_a_line(void **state) {
  (void)state;
  struct proc_status status;
  const char *text = "Name:\tState: R Seccomp: 0\nState:\tS (sleeping)\nSeccomp:\t2\n";
  assert_int_equal(proc_status_parse(span_of_string(text), &status), 0);
  assert_int_equal(status.state, 'S');
  assert_int_equal(status.seccomp, 2);
}

static void what_has_no_state_is_refused(void **state) {
  (void)state;
  struct proc_status status;
  assert_int_equal(proc_status_parse(span_of_string(""), &status), -EBADMSG);
  assert_int_equal(proc_status_parse(span_of_string("Name:\tx\n"), &status), -EBADMSG);
}

static void our_own_is_read(void **state) {
  (void)state;
  struct proc_status status;
  assert_int_equal(proc_status_read(getpid(), getpid(), &status), 0);
  assert_int_equal(status.state, 'R');
  assert_true(status.queue_max > 0);
  assert_true(proc_status_read(getpid(), 1, &status) < 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_needed_is_found),
      cmocka_unit_test(a_kernel_that_counts_no_filters_says_unknown),
      cmocka_unit_test(a_name_cannot_pose_as_a_line),
      cmocka_unit_test(what_has_no_state_is_refused),
      cmocka_unit_test(our_own_is_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
