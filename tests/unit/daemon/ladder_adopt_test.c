/* SPDX-License-Identifier: Apache-2.0 */
/* A perf target for a running program: the attribution of its time, and the state after a failure.
 */
#include "ladder_fixture.h"

#include "common/clock.h"
#include "proc/proc_stat.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static bool has_perf(void) {
  return bench->keeper.perf.count > 0;
}

static struct target *adopt(pid_t pid, uint64_t explained_ns, const char **ret_fault) {
  struct hold_target held = held_of(pid);
  struct perf_running running = running_of(pid);
  struct ladder_wish wish = {&held, &running, explained_ns, .is_fresh = true};
  return ladder_adopt(&bench->worker, &wish, ret_fault);
}

static bool is_held(void) {
  for (unsigned i = 0; i < HOLD_TARGETS_MAX; i++)
    if (bench->keeper.held.entries[i] != NULL) return true;
  return false;
}

static void what_it_has_spent_alone_is_its_own(void **state) {
  const char *fault;
  (void)state;
  if (!has_perf()) skip();
  program_spend(bench->program, 200);
  uint64_t spent_ns = proc_cpu_ns(bench->program);
  struct target *target = adopt(bench->program, 50 * NS_PER_MS, &fault);
  assert_non_null(target);
  assert_true(target->held.start_cpu_ns >= spent_ns);
  assert_in_range(target->residual.total_ns - target->residual.base_total_ns,
                  spent_ns - 50 * NS_PER_MS, proc_cpu_ns(bench->program) - 50 * NS_PER_MS);
  assert_true(is_held());
  const struct process *root = processes_find(bench->worker.processes, bench->program);
  assert_true(root != NULL && root->is_root);
}

static void what_another_has_answered_for_is_not_told_again(void **state) {
  const char *fault;
  (void)state;
  if (!has_perf()) skip();
  program_spend(bench->program, 100);
  struct target *target = adopt(bench->program, UINT64_MAX, &fault);
  assert_non_null(target);
  assert_int_equal(target->residual.base_total_ns, target->residual.total_ns);
  assert_true(target->residual.total_ns >= 100 * NS_PER_MS);
}

static void its_description_is_that_of_a_perf_target_of_a_running_program(void **state) {
  const char *fault;
  struct hold_target held = held_of(bench->program);
  struct perf_running running = running_of(bench->program);
  struct ladder_wish wish = {&held, &running, 0, .is_fresh = false};
  (void)state;
  if (!has_perf()) skip();
  held.kind = HOLD_TIMER;
  held.behind = 3;
  held.set_period_ns = 5 * NS_PER_MS;
  held.is_killed = held.is_apart = held.has_paused = true;
  held.control = RING_PAUSE;
  held.clock = RING_CLOCK_PROF;
  struct target *target = ladder_adopt(&bench->worker, &wish, &fault);
  assert_non_null(target);
  assert_int_equal(target->held.kind, HOLD_PERF);
  assert_int_equal(target->held.behind, 0);
  assert_int_equal(target->held.set_period_ns, 0);
  assert_int_equal(target->held.control, RING_RUN);
  assert_int_equal(target->held.clock, 0);
  assert_false(target->held.is_killed || target->held.is_apart || target->held.has_paused);
  assert_true(target->held.adopted_ns > 0);
  assert_string_equal(target->held.service, "shop");
  program_spend(bench->program, 30);
  assert_int_equal(counted_by(target), 0); /* not before perf_running_start */
  perf_running_start(&target->held, target->fds);
  program_spend(bench->program, 100);
  assert_true(counted_by(target) > 50 * NS_PER_MS);
}

static void assert_nothing_is_left(unsigned descriptors_before) {
  assert_int_equal(bench->worker.targets.count, 0);
  assert_false(is_held());
  assert_int_equal(descriptors(), descriptors_before);
}

static void another_users_program_is_refused_and_leaves_nothing(void **state) {
  const char *fault = NULL;
  struct hold_target held = held_of(bench->program);
  struct perf_running running = running_of(bench->program);
  struct ladder_wish wish = {&held, &running, 0, .is_fresh = true};
  unsigned before = descriptors();
  (void)state;
  if (!has_perf()) skip();
  held.uid++;
  assert_null(ladder_adopt(&bench->worker, &wish, &fault));
  assert_non_null(fault);
  assert_nothing_is_left(before);
}

static void a_program_that_has_ended_is_refused_and_leaves_nothing(void **state) {
  const char *fault = NULL;
  struct hold_target held = held_of(bench->program);
  struct perf_running running = running_of(bench->program);
  struct ladder_wish wish = {&held, &running, 0, .is_fresh = true};
  unsigned before = descriptors();
  (void)state;
  if (!has_perf()) skip();
  program_end(bench->program);
  bench->program = 0;
  assert_null(ladder_adopt(&bench->worker, &wish, &fault));
  assert_string_equal(fault, "it is gone, or has too many threads");
  assert_nothing_is_left(before);
}

static void without_room_nothing_is_opened(void **state) {
  const char *fault = NULL;
  unsigned before = descriptors();
  (void)state;
  bench->worker.targets.count = HOLD_TARGETS_MAX;
  assert_null(adopt(bench->program, 0, &fault));
  bench->worker.targets.count = 0;
  assert_string_equal(fault, "256 targets, or 192 of one user, are profiled already");
  assert_nothing_is_left(before);
}

static void what_the_keeper_cannot_hold_is_closed_again(void **state) {
  const char *fault = NULL;
  (void)state;
  if (!has_perf()) skip();
  shutdown(bench->keeper.worker_socket, SHUT_RDWR);
  unsigned before = descriptors();
  assert_null(adopt(bench->program, 0, &fault));
  assert_string_equal(fault, "the perf events could not be taken over");
  assert_nothing_is_left(before);
}

static void a_refused_program_is_told_why_in_front_of_what_was_said_before(void **state) {
  struct hold_target held = held_of(bench->program);
  (void)state;
  bench->worker.targets.count = HOLD_TARGETS_MAX;
  snprintf(held.why, sizeof held.why, "system: not here");
  assert_null(ladder_begin(&bench->worker, &held));
  bench->worker.targets.count = 0;
  assert_string_equal(held.why, "perf: 256 targets, or 192 of one user, are profiled already; "
                                "system: not here");
}

static void the_living_processes_of_a_target_are_listed_its_own_first(void **state) {
  pid_t child = 0;
  struct perf_running running;
  (void)state;
  if (!has_perf()) skip();
  pid_t parent = program_start_two(&child);
  struct target *target = begin_perf(parent);
  assert_non_null(processes_get(bench->worker.processes, child, target->held.id, -1));
  ladder_list(&bench->worker, target, &running);
  assert_int_equal(running.count, 2);
  assert_int_equal(running.processes[0].pid, parent);
  assert_int_equal(running.processes[1].pid, child);
  assert_int_equal(running.processes[1].start_ticks, held_of(child).start_ticks);
  assert_true(ladder_spent_ns(&running) >= proc_cpu_ns(parent));
  processes_find(bench->worker.processes, child)->has_ended = true;
  ladder_list(&bench->worker, target, &running);
  assert_int_equal(running.count, 1);
  processes_find(bench->worker.processes, child)->has_ended = false;
  program_end(parent);
  ladder_list(&bench->worker, target, &running);
  assert_int_equal(running.count, 1); /* without its first thread */
  assert_int_equal(running.processes[0].pid, child);
  kill(child, SIGKILL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, ladder_make, ladder_unmake)
      TEST(what_it_has_spent_alone_is_its_own),
      TEST(what_another_has_answered_for_is_not_told_again),
      TEST(its_description_is_that_of_a_perf_target_of_a_running_program),
      TEST(another_users_program_is_refused_and_leaves_nothing),
      TEST(a_program_that_has_ended_is_refused_and_leaves_nothing),
      TEST(without_room_nothing_is_opened),
      TEST(what_the_keeper_cannot_hold_is_closed_again),
      TEST(a_refused_program_is_told_why_in_front_of_what_was_said_before),
      TEST(the_living_processes_of_a_target_are_listed_its_own_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
