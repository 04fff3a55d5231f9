/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/call_gate.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { INSIDE_US = 20000 };

static _Atomic int is_inside, has_left;

static void *stay_inside(void *context) {
  (void)context;
  if (!call_gate_enter()) return NULL;
  atomic_store(&is_inside, 1);
  usleep(INSIDE_US);
  atomic_store(&has_left, 1);
  call_gate_leave();
  return NULL;
}

static void an_open_gate_may_be_entered_again_and_again(void **state) {
  (void)state;
  assert_true(call_gate_enter());
  assert_true(call_gate_enter());
  call_gate_leave();
  call_gate_leave();
}

static void nobody_enters_a_closed_gate(void **state) {
  (void)state;
  call_gate_close(true);
  assert_false(call_gate_enter());
  call_gate_reopen();
  assert_true(call_gate_enter());
  call_gate_leave();
}

static void a_sandbox_that_failed_does_not_open_one_that_stands(void **state) {
  (void)state;
  call_gate_close(true);
  call_gate_close(true);
  call_gate_reopen();
  assert_false(call_gate_enter());
  call_gate_reopen();
}

static void who_closes_waits_for_those_inside(void **state) {
  (void)state;
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, stay_inside, NULL), 0);
  while (!atomic_load(&is_inside)) usleep(100);
  call_gate_close(true);
  assert_true(atomic_load(&has_left));
  call_gate_reopen();
  pthread_join(thread, NULL);
}

/* The parent's other threads were inside; the child has no other threads to wait for. */
static void a_child_does_not_wait_for_threads_it_has_not(void **state) {
  (void)state;
  assert_true(call_gate_enter());
  pid_t child = fork();
  if (child == 0) {
    call_gate_in_child();
    alarm(10);
    call_gate_close(true);
    _exit(call_gate_enter() ? 1 : 0);
  }
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  call_gate_leave();
}

/* Answers as the child saw it: bit 0, it was counted; bit 1, the gate was open to it. */
static int close_in_vforks_child(void) {
  pid_t child = vfork();
  if (child == 0) {
    bool is_counted = call_gate_close(true);
    call_gate_close(true); /* a second filter */
    _exit((is_counted ? 1 : 0) | (call_gate_enter() ? 2 : 0));
  }
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void the_sandbox_of_a_vforks_child_goes_with_it(void **state) {
  (void)state;
  for (int i = 0; i < 100; i++) {
    assert_int_equal(close_in_vforks_child(), 0);
    assert_true(call_gate_enter());
    call_gate_leave();
  }
}

/* The child's copy of the memory is its own, and a sandbox is inherited. */
static void a_vforks_child_in_a_sandbox_forks_into_it(void **state) {
  (void)state;
  pid_t child = vfork();
  if (child == 0) {
    call_gate_close(true);
    pid_t grandchild = (pid_t)syscall(SYS_fork);
    if (grandchild == 0) {
      call_gate_in_child();
      _exit(call_gate_enter() ? 1 : 0);
    }
    int inner = -1;
    waitpid(grandchild, &inner, 0);
    _exit(inner != 0);
  }
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

static void *close_in_vforks_children(void *failures) {
  for (int i = 0; i < 200; i++)
    if (close_in_vforks_child() != 0) atomic_fetch_add((_Atomic int *)failures, 1);
  return NULL;
}

static void threads_may_have_such_children_at_once(void **state) {
  (void)state;
  pthread_t threads[3];
  _Atomic int failures = 0;
  for (int i = 0; i < 3; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, close_in_vforks_children, &failures), 0);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  assert_int_equal(failures, 0);
  assert_true(call_gate_enter());
  call_gate_leave();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_open_gate_may_be_entered_again_and_again),
      cmocka_unit_test(nobody_enters_a_closed_gate),
      cmocka_unit_test(a_sandbox_that_failed_does_not_open_one_that_stands),
      cmocka_unit_test(who_closes_waits_for_those_inside),
      cmocka_unit_test(a_child_does_not_wait_for_threads_it_has_not),
      cmocka_unit_test(the_sandbox_of_a_vforks_child_goes_with_it),
      cmocka_unit_test(a_vforks_child_in_a_sandbox_forks_into_it),
      cmocka_unit_test(threads_may_have_such_children_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
