/* SPDX-License-Identifier: Apache-2.0 */
/* The sampler of each process from one moment to the next: real programs, real perf events, and a
   ring without a writer. */
#include "ladder_fixture.h"

#include "census/census_parts.h"
#include "common/clock.h"
#include "daemon/sweep.h"
#include "drain/target_state.h"
#include "proc/proc_board.h"
#include "proc/proc_stat.h"
#include "targets/timer_ring.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static bool has_perf(void) {
  return bench->keeper.perf.count > 0;
}

/* Like an exec that gains privileges, or a process that may control the daemon. */
static void stop_events(struct target *target) {
  for (uint32_t i = 0; i < target->held.fd_count; i++)
    ioctl(target->fds[i], PERF_EVENT_IOC_DISABLE, 0);
}

/* Looks, has the program spend enough, and looks again. */
static void look_twice(void) {
  step();
  program_spend(bench->program, 350);
  step();
}

static void assert_said(const char *text, const char *part) {
  if (strstr(text, part) == NULL) fail_msg("\"%s\" is not in \"%s\"", part, text);
}

static void a_program_that_is_sampled_stays_as_it_is(void **state) {
  (void)state;
  if (!has_perf()) skip();
  struct target *target = begin_perf(bench->program);
  look_twice();
  assert_ptr_equal(perf_of(bench->program), target);
  assert_int_equal(target->held.falls, 0);
  assert_int_equal(bench->worker.targets.count, 1);
}

/* Keeps the program from spending time while we look, however long we wait for the CPU meanwhile.
 */
static void hold_program(bool is_held) {
  siginfo_t change;
  kill(bench->program, is_held ? SIGSTOP : SIGCONT);
  waitid(P_PID, (id_t)bench->program, &change, is_held ? WSTOPPED : WCONTINUED);
}

static void step_still(void) {
  hold_program(true);
  step();
  hold_program(false);
}

static void events_that_stop_are_opened_anew_and_no_time_is_lost(void **state) {
  struct rusage usage;
  struct proc_board before, after;
  (void)state;
  if (!has_perf()) skip();
  proc_board_read(&before);
  hold_program(true);
  struct target *target = begin_perf(bench->program);
  uint32_t id = target->held.id;
  hold_program(false);
  step_still();
  hold_program(true);
  stop_events(target);
  hold_program(false);
  program_spend(bench->program, 350);
  step_still();
  target = perf_of(bench->program);
  assert_non_null(target);
  assert_null(targets_find(&bench->worker.targets, id));
  assert_int_equal(target->held.falls, 1);
  assert_string_equal(target->held.why, "perf: its events count no more");
  step_still();
  program_spend(bench->program, 350);
  step_still();
  assert_ptr_equal(perf_of(bench->program), target);
  assert_true(counted_by(target) > 300 * NS_PER_MS);
  kill(bench->program, SIGKILL);
  assert_true(wait4(bench->program, NULL, 0, &usage) == bench->program);
  bench->program = 0;
  sweep_targets(&bench->worker);
  assert_int_equal(bench->worker.targets.count, 0);
  uint64_t spent_us = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
                      (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  uint64_t told_us = shipped_ns() / 1000;
  /* Time spent between two reads of its clock is not attributed: of some 800 ms. Events keep
     running in time that the hypervisor has stolen. */
  proc_board_read(&after);
  uint64_t stolen_us = (after.stolen_ns - before.stolen_ns) / 1000;
  assert_in_range(told_us, spent_us - spent_us / 20, spent_us + spent_us / 50 + stolen_us);
}

static void who_takes_events_away_for_ever_means_it(void **state) {
  (void)state;
  if (!has_perf()) skip();
  struct target *target = begin_perf(bench->program);
  target->held.falls = 3;
  stop_events(target);
  look_twice();
  assert_ptr_equal(perf_of(bench->program), target);
  assert_string_equal(target_sampler(target), "none");
  assert_string_equal(target->look.step_fault, "it was taken away too often");
  target->held.falls = 0;
  step(); /* not so soon again */
  assert_ptr_equal(perf_of(bench->program), target);
  target->look.step_ns -= 61 * NS_PER_SECOND;
  step();
  assert_int_equal(perf_of(bench->program)->held.falls, 1);
}

static void a_ring_behind_stays_behind_what_was_opened_anew(void **state) {
  (void)state;
  if (!has_perf()) skip();
  struct target *target = begin_perf(bench->program);
  struct target *ring = begin_ring(bench->program, target->held.id, RING_PAUSE);
  stop_events(target);
  look_twice();
  target = perf_of(bench->program);
  assert_int_equal(ring->held.behind, target->held.id);
  assert_int_equal(ring->held.control, RING_PAUSE);
  assert_int_equal(target->held.falls, 1);
}

static void a_ring_behind_goes_to_work_when_perf_cannot(void **state) {
  (void)state;
  if (!has_perf()) skip();
  struct target *target = begin_perf(bench->program);
  struct target *ring = begin_ring(bench->program, target->held.id, RING_PAUSE);
  assert_int_equal(rate_wish(target, 20 * NS_PER_MS), 0); /* ctl: 50 Hz */
  target->held.asked_mhz = 50000;
  target->held.falls = 3;
  stop_events(target);
  look_twice();
  assert_null(perf_of(bench->program)); /* its account is closed */
  assert_int_equal(ring->held.behind, 0);
  assert_int_equal(ring->held.control, RING_RUN);
  assert_int_equal(ring->held.wish_period_ns, 20 * NS_PER_MS);
  assert_said(ring->held.why, "perf: its events count no more");
  assert_said(ring->held.why, "perf: it was taken away too often");
  assert_true(ring->exit.billed_ns > 300 * NS_PER_MS); /* perf has answered for that */
}

static void a_ring_that_was_switched_off_is_not_woken(void **state) {
  (void)state;
  if (!has_perf()) skip();
  struct target *target = begin_perf(bench->program);
  struct target *ring = begin_ring(bench->program, target->held.id, RING_OFF);
  target->held.falls = 3;
  stop_events(target);
  look_twice();
  assert_int_equal(ring->held.control, RING_OFF);
  assert_ptr_equal(perf_of(bench->program), target);
  assert_string_equal(target_sampler(target), "none");
}

static void a_ring_whose_events_went_with_a_worker_goes_to_work(void **state) {
  (void)state;
  struct target *ring = begin_ring(bench->program, 999, RING_PAUSE);
  step();
  assert_int_equal(ring->held.behind, 0);
  assert_int_equal(ring->held.control, RING_RUN);
  assert_said(ring->held.why, "perf: its events are lost");
}

/* The number of threads without samples, for any reason. */
static uint32_t dark_after_a_look(struct target *ring) {
  struct census_figures figures;
  uint32_t sum = 0;
  program_spend(bench->program, 200);
  census_of(ring)->looked_ns = 1; /* long ago */
  census_step(&bench->worker.targets);
  census_figures(ring, &figures);
  for (unsigned i = 0; i < UNSAMPLED_REASONS; i++) sum += figures.unsampled[i];
  return sum;
}

/* Signals may wait in the ring then. */
static void a_look_after_a_turn_that_was_missed_proves_nothing(void **state) {
  (void)state;
  struct target *ring = begin_ring(bench->program, 0, RING_RUN);
  for (unsigned i = 0; i < 3; i++) {
    ring->turn.missed++;
    assert_int_equal(dark_after_a_look(ring), 0);
  }
  assert_int_equal(dark_after_a_look(ring), 1); /* no agent is there at all */
}

/* A timer target whose threads' timers are gone, according to the census. */
static struct target *begin_failed_ring(void) {
  struct target *ring = begin_ring(bench->program, 0, RING_RUN);
  ring->held.exe[0] = '\0'; /* its program is not looked up */
  struct census *census = census_of(ring);
  assert_non_null(census);
  census->figures.has_failed = true;
  census->figures.unsampled[UNSAMPLED_DELETED] = 1;
  return ring;
}

static void a_timer_that_fails_goes_on_by_perf_and_its_ring_stands_behind(void **state) {
  (void)state;
  if (!has_perf()) skip();
  struct target *ring = begin_failed_ring();
  uint64_t spent_ns = proc_cpu_ns(bench->program);
  step();
  struct target *target = perf_of(bench->program);
  assert_non_null(target);
  assert_int_equal(ring->held.behind, target->held.id);
  assert_int_equal(ring->held.control, RING_PAUSE);
  assert_said(target->held.why, "timer: not sampled: 1 thread");
  assert_true(ring->exit.billed_ns >= spent_ns); /* unseen until now: reported at once */
  assert_int_equal(ring->exit.begun_ns, 0);
  program_spend(bench->program, 100);
  assert_true(counted_by(target) > 50 * NS_PER_MS);
  assert_true(shipped_ns() >= spent_ns);
}

static void what_an_exec_put_in_its_place_goes_on_by_perf_at_the_second_step(void **state) {
  (void)state;
  if (!has_perf()) skip();
  struct target *ring = begin_ring(bench->program, 0, RING_RUN);
  assert_int_not_equal(ring->look.exe_inode, 0);
  ring->look.exe_inode++; /* another file registered */
  step();
  assert_null(perf_of(bench->program)); /* the new program's agent may be about to register */
  step();
  struct target *target = perf_of(bench->program);
  assert_non_null(target);
  assert_said(target->held.why, "by exec");
}

static void on_signal(int signal) {
  (void)signal;
}

/* A program in a chroot reports another path; an unreadable file gives no information. */
static void another_path_or_none_is_no_exec(void **state) {
  (void)state;
  if (!has_perf()) skip();
  struct target *ring = begin_ring(bench->program, 0, RING_RUN);
  snprintf(ring->held.exe, sizeof ring->held.exe, "/bin/another");
  for (unsigned i = 0; i < 3; i++) step();
  assert_null(perf_of(bench->program));
  ring->look.exe_inode = ring->look.exe_device = 0;
  for (unsigned i = 0; i < 3; i++) step();
  assert_null(perf_of(bench->program));
}

static void another_file_is_no_exec_while_the_signal_has_its_handler(void **state) {
  struct sigaction action = {.sa_handler = SIG_DFL};
  (void)state;
  if (!has_perf()) skip();
  struct target *ring = begin_ring(getpid(), 0, RING_RUN);
  int signal = (int)timer_ring_signal(&ring->held);
  action.sa_handler = on_signal;
  assert_int_equal(sigaction(signal, &action, NULL), 0);
  ring->look.exe_inode++;
  for (unsigned i = 0; i < 3; i++) step();
  assert_null(perf_of(getpid()));
  action.sa_handler = SIG_DFL;
  assert_int_equal(sigaction(signal, &action, NULL), 0);
  for (unsigned i = 0; i < 2; i++) step();
  assert_non_null(perf_of(getpid()));
}

static void what_only_the_agent_can_write_has_no_other_rung(void **state) {
  (void)state;
  if (!has_perf()) skip();
  struct target *ring = begin_failed_ring();
  ring->held.collect = RING_HISTOGRAM;
  step();
  assert_null(perf_of(bench->program));
  assert_said(ring->look.step_fault, "only the agent can");
  census_of(ring)->figures.has_failed = false;
  step();
  assert_null(ring->look.step_fault); /* it has resumed */
  ring->held.collect = RING_STACKS;
}

static void under_the_kill_switch_and_at_the_end_nobody_takes_a_step(void **state) {
  (void)state;
  if (!has_perf()) skip();
  struct target *ring = begin_failed_ring();
  bench->worker.is_killed = true;
  step();
  assert_null(perf_of(bench->program));
  bench->worker.is_killed = false;
  bench->worker.stop_by_ns = 1;
  step();
  assert_null(perf_of(bench->program));
  bench->worker.stop_by_ns = 0;
  ring->held.control = RING_PAUSE; /* by ctl */
  step();
  assert_null(perf_of(bench->program));
  ring->held.control = RING_RUN;
  step();
  assert_non_null(perf_of(bench->program));
}

/* `run`'s message about the program, a second ago. */
static struct worker_note *note_run_of(pid_t pid, const char *sampler) {
  struct worker_note *note = &bench->worker.notes[0];
  struct hold_target held = held_of(pid);
  *note = (struct worker_note){.serial = 1,
                               .pid = held.pid,
                               .uid = held.uid,
                               .asked_mhz = held.asked_mhz,
                               .start_ticks = held.start_ticks,
                               .begun_ns = clock_monotonic_ns() - NS_PER_SECOND};
  snprintf(note->sampler, sizeof note->sampler, "%s", sampler);
  snprintf(note->service, sizeof note->service, "noted");
  return note;
}

static struct worker_note *note_run(const char *sampler) {
  return note_run_of(bench->program, sampler);
}

static void a_run_by_timer_without_an_agent_goes_on_by_perf(void **state) {
  (void)state;
  if (!has_perf()) skip();
  struct worker_note *note = note_run("timer");
  step();
  struct target *target = perf_of(bench->program);
  assert_non_null(target);
  assert_int_equal(target->run, note->serial);
  assert_string_equal(target->held.service, "noted");
  assert_int_equal(target->held.period_ns, 10101010);
  assert_said(target->held.why, "timer: no agent came up in the program: its environment was");
  assert_string_equal(note->why, target->held.why);
  step();
  assert_int_equal(bench->worker.targets.count, 1); /* requested once */
}

/* The samplers reported for the run of NOTE. */
static const char *samplers_of(const struct worker_note *note) {
  static char text[INTAKE_SAMPLERS_BYTES];
  struct run_samples samples = run_note_samples(&bench->worker, note);
  run_note_samplers(note, &samples, text);
  return text;
}

static void who_took_the_samples_is_named_and_not_who_was_asked(void **state) {
  (void)state;
  struct worker_note *note = note_run("timer");
  assert_string_equal(samplers_of(note), "timer"); /* none yet */
  struct target *perf = begin_perf(bench->program);
  perf->run = note->serial;
  perf->records = 3;
  assert_string_equal(samplers_of(note), "perf");
  struct target *ring = begin_ring(bench->program, perf->held.id, RING_PAUSE);
  ring->run = note->serial;
  ring->records = 4;
  run_note_leave(&bench->worker, ring);
  ring->run = 0;
  assert_string_equal(samplers_of(note), "timer and perf");
  assert_int_equal(run_note_samples(&bench->worker, note).by_agent, 4);
}

static void a_ring_that_took_over_from_perf_is_part_of_the_run(void **state) {
  (void)state;
  struct worker_note *note = note_run("perf");
  begin_perf(bench->program)->records = 3;
  assert_string_equal(samplers_of(note), "perf");
  begin_ring(bench->program, 0, RING_RUN)->records = 4;
  assert_string_equal(samplers_of(note), "timer and perf");
}

static void a_run_counts_the_time_of_perf_once_when_its_ring_takes_over(void **state) {
  (void)state;
  if (!has_perf()) skip();
  struct worker_note *note = note_run("timer");
  struct target *target = begin_perf(bench->program);
  struct target *ring = begin_ring(bench->program, target->held.id, RING_PAUSE);
  target->run = ring->run = note->serial;
  target->held.falls = 3;
  stop_events(target);
  look_twice();
  assert_null(perf_of(bench->program));
  assert_true(note->explained_ns > 300 * NS_PER_MS);
  assert_true(ring->exit.billed_ns > 300 * NS_PER_MS); /* the ring does not bill it, either */
  assert_int_equal(ring->exit.perf_ns, ring->exit.billed_ns);
}

static void a_run_whose_agent_was_refused_says_what_it_was_told(void **state) {
  (void)state;
  if (!has_perf()) skip();
  struct worker_note *note = note_run("timer");
  run_note_refuse(&bench->worker, bench->program, "timer: no memory for a ring");
  step();
  struct target *target = perf_of(bench->program);
  assert_non_null(target);
  assert_string_equal(target->held.why, "timer: no memory for a ring");
  assert_string_equal(note->why, target->held.why);
}

static void an_agent_has_its_time_to_come_up(void **state) {
  (void)state;
  if (!has_perf()) skip();
  struct worker_note *note = NULL;
  for (unsigned tries = 0; tries < 50 && (note == NULL || note->is_looked_at); tries++) {
    note = note_run("timer");
    note->begun_ns = clock_monotonic_ns();
    step();
    uint64_t took_ns = clock_monotonic_ns() - note->begun_ns; /* we may have had no CPU */
    assert_true(!note->is_looked_at || took_ns >= 700 * NS_PER_MS);
    if (!note->is_looked_at && tries == 0) assert_int_equal(bench->worker.targets.count, 0);
  }
  assert_false(note->is_looked_at);
}

static void notes_that_need_nothing_are_left_alone(void **state) {
  (void)state;
  if (!has_perf()) skip();
  note_run("none");
  step();
  note_run("timer")->is_told = true;
  step();
  note_run("timer")->start_ticks++; /* another process by now */
  step();
  assert_int_equal(bench->worker.targets.count, 0);
  struct target *ring = begin_ring(bench->program, 0, RING_RUN);
  note_run("timer");
  step();
  assert_int_equal(bench->worker.targets.count, 1); /* its agent is there */
  assert_null(perf_of(bench->program));
  assert_int_equal(ring->held.behind, 0);
}

static void a_run_within_a_sampled_tree_needs_nothing(void **state) {
  pid_t child = 0;
  (void)state;
  if (!has_perf()) skip();
  pid_t parent = program_start_two(&child);
  begin_perf(parent)->held.adopted_ns = 0; /* as if by run, before there was a child */
  note_run_of(child, "timer");
  step();
  assert_int_equal(bench->worker.targets.count, 1);
  program_end(parent);
  kill(child, SIGKILL);
}

static void a_run_that_wants_a_histogram_is_told_why_it_gets_nothing(void **state) {
  (void)state;
  struct worker_note *note = note_run("timer");
  note->collect = RING_HISTOGRAM;
  step();
  assert_int_equal(bench->worker.targets.count, 0);
  assert_said(note->why, "not sampled: perf: cannot write what was asked for");
}

static void what_run_has_said_of_perf_is_not_said_again(void **state) {
  (void)state;
  struct worker_note *note = note_run("timer");
  note->collect = RING_HISTOGRAM;
  snprintf(note->why, sizeof note->why,
           "perf: cannot write a histogram, only the agent can; static: cannot be preloaded");
  step();
  const char *said = strstr(note->why, "only the agent can");
  assert_non_null(said);
  assert_null(strstr(said + 1, "only the agent can"));
}

static void
what_a_sampled_program_starts_is_covered_and_what_was_there_before_is_not(void **state) {
  pid_t child = 0;
  (void)state;
  if (!has_perf()) skip();
  assert_null(ladder_cover(&bench->worker, bench->program));
  struct target *target = begin_perf(bench->program);
  assert_ptr_equal(ladder_cover(&bench->worker, bench->program), target);
  assert_null(ladder_cover(&bench->worker, getpid()));
  pid_t parent = program_start_two(&child);
  target = begin_perf(parent);
  target->held.adopted_ns = 0; /* as if by run, before there was a child */
  assert_ptr_equal(ladder_cover(&bench->worker, child), target);
  target->held.adopted_ns = clock_boottime_ns() + NS_PER_SECOND; /* its child was there first */
  assert_null(ladder_cover(&bench->worker, child));
  target->held.adopted_ns = 0;
  target_stop(target, "for a reason");
  assert_null(ladder_cover(&bench->worker, child));
  program_end(parent);
  kill(child, SIGKILL);
}

struct wish {
  struct intake_request request;
  const char *part; /* of the reason; NULL: perf is wanted */
};

static void perf_is_for_who_did_not_ask_for_anything_else(void **state) {
  static const struct wish wishes[] = {
      {{.sampler = ""}, NULL},
      {{.sampler = "auto"}, NULL},
      {{.sampler = "perf", .is_dormant = 1}, NULL},
      {{.sampler = "auto", .collect = RING_PC_LR}, NULL},
      {{.sampler = "perf", .collect = RING_HISTOGRAM}, "only the agent can"},
      {{.sampler = "auto", .collect = RING_RECORDER}, "only the agent can"},
      {{.sampler = "timer"}, "another sampler"},
      {{.sampler = "auto", .clock = RING_CLOCK_PROF}, "another clock"},
      {{.sampler = "auto", .is_dormant = 1}, "starts dormant"},
  };
  (void)state;
  for (unsigned i = 0; i < sizeof wishes / sizeof *wishes; i++) {
    const char *why = ladder_perf_obstacle(&bench->worker, &wishes[i].request);
    if (wishes[i].part == NULL) {
      assert_null(why);
      continue;
    }
    assert_non_null(why);
    assert_said(why, wishes[i].part);
  }
}

/* Windows end in the spool here. */
void __wrap_uplink_kick(struct uplink *uplink);
void __wrap_uplink_kick(struct uplink *uplink) {
  (void)uplink;
}

/* All users share the cost of windows, and any user can begin runs. */
static void of_a_daemon_for_all_others_than_root_begin_a_window_in_ten_seconds(void **state) {
  static const struct {
    bool is_system;
    uint32_t uid;
    unsigned age_s;
    bool begins;
  } rows[] = {
      {true, 1000, 5, false}, {true, 1000, 10, true}, {true, 0, 5, true}, {false, 1000, 5, true}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint64_t before_ns = clock_monotonic_ns() - rows[i].age_s * NS_PER_SECOND;
    bench->settings.is_system = rows[i].is_system;
    bench->worker.closed_ns = before_ns;
    run_note_begin_window(&bench->worker, rows[i].uid);
    assert_int_equal(bench->worker.closed_ns != before_ns, rows[i].begins);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, ladder_make, ladder_unmake)
      TEST(a_program_that_is_sampled_stays_as_it_is),
      TEST(events_that_stop_are_opened_anew_and_no_time_is_lost),
      TEST(who_takes_events_away_for_ever_means_it),
      TEST(a_ring_behind_stays_behind_what_was_opened_anew),
      TEST(a_ring_behind_goes_to_work_when_perf_cannot),
      TEST(a_ring_that_was_switched_off_is_not_woken),
      TEST(a_ring_whose_events_went_with_a_worker_goes_to_work),
      TEST(a_timer_that_fails_goes_on_by_perf_and_its_ring_stands_behind),
      TEST(what_an_exec_put_in_its_place_goes_on_by_perf_at_the_second_step),
      TEST(another_path_or_none_is_no_exec),
      TEST(another_file_is_no_exec_while_the_signal_has_its_handler),
      TEST(what_only_the_agent_can_write_has_no_other_rung),
      TEST(under_the_kill_switch_and_at_the_end_nobody_takes_a_step),
      TEST(a_look_after_a_turn_that_was_missed_proves_nothing),
      TEST(a_run_by_timer_without_an_agent_goes_on_by_perf),
      TEST(a_run_counts_the_time_of_perf_once_when_its_ring_takes_over),
      TEST(a_run_whose_agent_was_refused_says_what_it_was_told),
      TEST(an_agent_has_its_time_to_come_up),
      TEST(who_took_the_samples_is_named_and_not_who_was_asked),
      TEST(a_ring_that_took_over_from_perf_is_part_of_the_run),
      TEST(notes_that_need_nothing_are_left_alone),
      TEST(a_run_within_a_sampled_tree_needs_nothing),
      TEST(a_run_that_wants_a_histogram_is_told_why_it_gets_nothing),
      TEST(what_run_has_said_of_perf_is_not_said_again),
      TEST(what_a_sampled_program_starts_is_covered_and_what_was_there_before_is_not),
      TEST(perf_is_for_who_did_not_ask_for_anything_else),
      TEST(of_a_daemon_for_all_others_than_root_begin_a_window_in_ten_seconds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
