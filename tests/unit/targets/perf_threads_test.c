/* SPDX-License-Identifier: Apache-2.0 */
/* Events on each thread of a child that starts threads on request: real events in real rings.
   Linked with --wrap=perf_attr_open, so a thread can be born while others get their events. */
#include "targets/perf_threads.h"

#include "common/clock.h"
#include "intake/perf_attr.h"
#include "perf/perf_record.h"
#include "proc/proc_stat.h"
#include "targets/perf_running.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define OLD_NS (10 * NS_PER_MS)
#define NEW_NS (2 * NS_PER_MS)

enum { SAMPLES_ENOUGH = 50, TRIES = 200 };

static struct perf_rings rings;
static struct targets targets;
static struct target *target;
static struct modules *modules;
static struct processes *processes;
static pid_t child;
static int wire = -1;
static char meanwhile; /* 'b': a thread is born, 'e': the last thread ends */

static _Atomic bool is_over; /* of the program: its last burning thread */

static void *burn(void *nothing) {
  volatile uint64_t sink = 0;
  while (!is_over) sink++;
  return nothing;
}

static void *idle(void *nothing) {
  for (;;) pause();
  return nothing;
}

/* The program: its first thread sleeps, and starts others on demand. */
static void be_program(int commands) {
  char command;
  pthread_t thread;
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 << 10);
  while (read(commands, &command, 1) == 1) {
    is_over = command == 'e';
    if (is_over)
      pthread_join(thread, NULL);
    else if (pthread_create(&thread, &small, command == 'b' ? burn : idle, NULL) != 0)
      command = '!';
    if (write(commands, &command, 1) != 1) break;
  }
  _exit(0);
}

static void order(char kind) {
  char answer = 0;
  assert_int_equal(write(wire, &kind, 1), 1);
  assert_int_equal(read(wire, &answer, 1), 1);
  assert_int_equal(answer, kind);
}

int __real_perf_attr_open(const struct perf_event_attr *attr, pid_t pid, int cpu);
int __wrap_perf_attr_open(const struct perf_event_attr *attr, pid_t pid, int cpu);
int __wrap_perf_attr_open(const struct perf_event_attr *attr, pid_t pid, int cpu) {
  if (meanwhile != 0) order(meanwhile);
  meanwhile = 0;
  return __real_perf_attr_open(attr, pid, cpu);
}

static void on_file(void *context, const struct module_found *found) {
  (void)context;
  (void)found;
}

static int start_program(void) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return -1;
  child = fork();
  if (child == 0) {
    close(ends[0]);
    be_program(ends[1]);
  }
  close(ends[1]);
  wire = ends[0];
  return child < 0 ? -1 : 0;
}

static void end_program(void) {
  if (child <= 0) return;
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  child = 0;
}

/* The program has one thread and its own target, whose events count. */
static int make(void **state) {
  struct proc_stat stat;
  struct perf_running running = {.count = 1};
  int fds[INTAKE_FDS_MAX];
  (void)state;
  perf_rings_open(&rings);
  if (rings.count == 0) return 0; /* this kernel gives none: skipped */
  targets = (struct targets){.perf = &rings, .next_id = 1};
  if (modules_new(on_file, NULL, &modules) || processes_new(modules, &processes)) return -1;
  if (start_program() < 0 || proc_stat_read(child, &stat) < 0) return -1;
  struct hold_target held = {.id = 1,
                             .kind = HOLD_PERF,
                             .pid = child,
                             .uid = geteuid(),
                             .start_ticks = stat.start_ticks,
                             .control = RING_RUN,
                             .period_ns = OLD_NS};
  running.processes[0].pid = child;
  running.processes[0].start_ticks = stat.start_ticks;
  if (perf_running_open(&rings, &running, &held, fds) != NULL) return -1;
  target = targets_add_take(&targets, &held, fds);
  if (target == NULL || processes_get(processes, child, 1, -1) == NULL) return -1;
  perf_running_start(&target->held, target->fds);
  return 0;
}

static int unmake(void **state) {
  (void)state;
  if (rings.count == 0) return 0;
  close(wire);
  end_program();
  targets_fini(&targets);
  processes_free(processes);
  modules_free(modules);
  perf_rings_close(&rings);
  return 0;
}

static void wait_ms(long ms) {
  nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static uint64_t sum_of(const int *fds, unsigned count) {
  uint64_t sum = 0, one;
  for (unsigned i = 0; i < count; i++) {
    assert_int_equal(perf_event_read_ns(fds[i], &one), 0);
    sum += one;
  }
  return sum;
}

/* Of the events that the target was made with. */
static uint64_t sum_of_whole(void) {
  return sum_of(target->fds, target->held.fd_count);
}

static void wait_for_more(const int *fds, unsigned count) {
  uint64_t before = sum_of(fds, count);
  for (unsigned tries = 0; tries < TRIES && sum_of(fds, count) < before + 20 * NS_PER_MS; tries++)
    wait_ms(20);
  assert_true(sum_of(fds, count) >= before + 20 * NS_PER_MS);
}

struct seen {
  unsigned old, near, other; /* samples near the old period, near the new period */
  unsigned whole, thread;    /* of events of the whole program, of threads */
};

static void see_sample(const struct perf_record *sample, struct seen *seen) {
  uint32_t place = 0;
  uint64_t period_ns = sample->sample.period_ns;
  assert_ptr_equal(targets_find_event(&targets, sample->id, &place), target);
  bool is_thread = place < target->threads.count && target->threads.ids[place] == sample->id;
  *(is_thread ? &seen->thread : &seen->whole) += 1;
  if (period_ns > OLD_NS / 10 * 9 && period_ns < OLD_NS / 10 * 11)
    seen->old++;
  else if (period_ns > NEW_NS / 10 * 9 && period_ns < NEW_NS / 10 * 11)
    seen->near++;
  else
    seen->other++;
}

/* Reads the samples in the rings. */
static void take_samples(struct seen *seen) {
  static uint8_t bytes[PERF_RECORD_BYTES_MAX];
  static struct perf_record record;
  for (unsigned i = 0; i < rings.count; i++) {
    const struct perf_ring *ring = &rings.cpus[i];
    uint64_t at = perf_ring_tail(ring), head = perf_ring_head(ring);
    while (at < head) {
      struct perf_event_header header;
      perf_ring_copy(ring, at, (uint8_t *)&header, sizeof header);
      assert_true(header.size >= sizeof header);
      perf_ring_copy(ring, at, bytes, header.size);
      assert_int_equal(perf_record_decode((struct span){bytes, header.size}, NULL, &record), 0);
      if (seen != NULL && record.kind == PERF_RECORD_KIND_SAMPLE) see_sample(&record, seen);
      at += header.size;
    }
    perf_ring_release(ring, head);
  }
}

static void see_enough(struct seen *seen) {
  *seen = (struct seen){0};
  for (unsigned tries = 0; tries < TRIES && seen->whole + seen->thread < SAMPLES_ENOUGH; tries++) {
    wait_ms(50);
    take_samples(seen);
  }
  assert_true(seen->whole + seen->thread >= SAMPLES_ENOUGH);
}

static void threads_follow_a_change_of_rate_when_they_have_events_of_their_own(void **state) {
  struct seen seen;
  (void)state;
  if (rings.count == 0) skip();
  order('b');
  order('b');
  wait_for_more(target->fds, target->held.fd_count);
  take_samples(NULL);
  assert_int_equal(rate_set(target, NEW_NS), 0);
  see_enough(&seen);
  assert_int_equal(seen.old, seen.whole); /* inherited events do not follow */
  assert_int_equal(perf_threads_open(&targets, processes, target), 0);
  assert_null(target->rate.apart_fault);
  assert_int_equal(target->threads.count, 3 * rings.count);
  take_samples(NULL);
  uint64_t whole_ns = sum_of_whole();
  see_enough(&seen);
  assert_int_equal(seen.near, seen.thread);
  assert_int_equal(seen.whole + seen.other + seen.old, 0);
  const int *second = target->threads.fds + rings.count;
  wait_for_more(second, rings.count);
  wait_for_more(second + rings.count, rings.count);
  assert_int_equal(sum_of_whole(), whole_ns); /* they stand still */
}

static void a_second_set_takes_over_and_nothing_that_was_counted_is_lost(void **state) {
  (void)state;
  if (rings.count == 0) skip();
  target->held.is_apart = true;
  target->held.exit_fd_count = 0; /* as of a program without the event that counts all */
  order('b');
  assert_int_equal(perf_threads_open(&targets, processes, target), 0);
  wait_for_more(target->threads.fds, target->threads.count);
  uint64_t first_id = target->threads.ids[0];
  uint64_t counted_ns = sum_of(target->threads.fds, target->threads.count);
  assert_int_equal(perf_threads_open(&targets, processes, target), 0);
  assert_true(target->threads.ids[0] != first_id);
  assert_null(targets_find_event(&targets, first_id, NULL));
  assert_true(target->threads.closed_ns >= counted_ns);
  target_read_total(target);
  assert_true(target->residual.counted_ns >= counted_ns + sum_of_whole());
  target->held.exit_fd_count = 2;
}

static void what_a_thread_with_events_starts_inherits_them(void **state) {
  (void)state;
  if (rings.count == 0) skip();
  assert_int_equal(perf_threads_open(&targets, processes, target), 0);
  assert_int_equal(target->threads.count, rings.count); /* of the thread that only sleeps */
  order('b');
  wait_for_more(target->threads.fds, target->threads.count);
}

static void a_thread_that_is_born_meanwhile_has_all_taken_back(void **state) {
  (void)state;
  if (rings.count == 0) skip();
  order('b');
  uint64_t before_ns = clock_monotonic_ns();
  meanwhile = 'b';
  assert_int_equal(perf_threads_open(&targets, processes, target), -EAGAIN);
  assert_int_equal(target->threads.count, 0);
  assert_null(target->rate.apart_fault); /* it may go well the next time */
  wait_for_more(target->fds, target->held.fd_count);
  target->rate.inherited = PERF_THREADS_INHERITED_MIN;
  assert_false(perf_threads_is_due(target, before_ns));
  assert_true(perf_threads_is_due(target, clock_monotonic_ns() + 2 * NS_PER_SECOND));
  assert_int_equal(perf_threads_open(&targets, processes, target), 0);
  assert_int_equal(target->threads.count, 3 * rings.count);
  assert_int_equal(target->rate.apart_wait_ns, 2 * NS_PER_SECOND); /* ever less often */
}

static void a_thread_that_ends_meanwhile_needs_none(void **state) {
  (void)state;
  if (rings.count == 0) skip();
  order('b');
  meanwhile = 'e';
  assert_int_equal(perf_threads_open(&targets, processes, target), 0);
  assert_int_equal(target->threads.count, rings.count);
}

static void too_many_threads_keep_what_they_have_and_it_is_said(void **state) {
  (void)state;
  if (rings.count == 0) skip();
  order('b');
  for (unsigned i = 0; i < PERF_THREADS_MAX; i++) order('i');
  assert_int_equal(perf_threads_open(&targets, processes, target), -EOVERFLOW);
  assert_string_equal(target->rate.apart_fault, "too many threads");
  assert_int_equal(target->threads.count, 0);
  wait_for_more(target->fds, target->held.fd_count);
}

static void more_events_than_all_targets_may_have_are_refused(void **state) {
  struct target other = {.threads.count = PERF_THREADS_EVENTS_OF_ALL};
  (void)state;
  if (rings.count == 0) skip();
  targets.rows[HOLD_TARGETS_MAX - 1] = &other;
  assert_int_equal(perf_threads_open(&targets, processes, target), -EOVERFLOW);
  targets.rows[HOLD_TARGETS_MAX - 1] = NULL;
  assert_int_equal(target->threads.count, 0);
  assert_string_equal(target->rate.apart_fault, "too many threads");
}

static void a_tree_with_another_users_process_is_left_as_it_is(void **state) {
  (void)state;
  if (rings.count == 0) skip();
  order('b');
  target->held.uid = geteuid() + 1;
  assert_int_equal(perf_threads_open(&targets, processes, target), -EPERM);
  assert_int_equal(target->threads.count, 0);
  assert_string_equal(target->rate.apart_fault,
                      "the kernel refuses events on them, or a process has more rights");
  wait_for_more(target->fds, target->held.fd_count);
}

static void a_program_that_has_ended_needs_none(void **state) {
  (void)state;
  if (rings.count == 0) skip();
  end_program();
  assert_int_equal(perf_threads_open(&targets, processes, target), -ESRCH);
  assert_int_equal(target->threads.count, 0);
  assert_null(target->rate.apart_fault);
}

static void it_is_due_when_samples_went_astray_and_the_program_is_sampled(void **state) {
  struct perf_rings none = {.count = 0};
  struct target one = {.held = {.kind = HOLD_PERF, .control = RING_RUN}, .perf = &none};
  (void)state;
  assert_false(perf_threads_is_due(&one, 1));
  one.rate.astray = PERF_THREADS_ASTRAY_MIN;
  assert_true(perf_threads_is_due(&one, 1));
  one.rate.astray = PERF_THREADS_ASTRAY_MIN - 1;
  one.rate.inherited = PERF_THREADS_INHERITED_MIN;
  assert_true(perf_threads_is_due(&one, 1));
  one.held.control = RING_PAUSE;
  assert_false(perf_threads_is_due(&one, 1));
  one.held.control = RING_RUN;
  one.bad_events = 1;
  assert_false(perf_threads_is_due(&one, 1));
  one.bad_events = 0;
  one.ended_ns = 1;
  assert_false(perf_threads_is_due(&one, 1));
  one.ended_ns = 0;
  one.rate.apart_at_ns = 2;
  assert_false(perf_threads_is_due(&one, 1));
  assert_true(perf_threads_is_due(&one, 2));
  one.held.kind = HOLD_TIMER;
  assert_false(perf_threads_is_due(&one, 2));
}

static void it_is_narrow_when_others_or_long_tasks_have_the_cpus(void **state) {
  const uint64_t look_ns = PERF_THREADS_WIDE_SECONDS * NS_PER_SECOND;
  struct target one = {.held = {.kind = HOLD_PERF, .control = RING_RUN}};
  (void)state;
  one.threads.is_wide = true;
  one.weight_ns = NS_PER_SECOND;
  assert_false(perf_threads_is_narrow_due(&one, look_ns - 1));
  assert_true(perf_threads_is_narrow_due(&one, look_ns)); /* no task was short */
  one.weight_ns += NS_PER_SECOND;
  one.rate.unseen_ns = NS_PER_SECOND / 2;
  assert_false(perf_threads_is_narrow_due(&one, 2 * look_ns));
  one.rate.unseen_ns *= 2;
  one.records = 100;
  one.rate.foreign = 100 * PERF_THREADS_FOREIGN_TIMES - 1;
  assert_false(perf_threads_is_narrow_due(&one, 3 * look_ns));
  one.rate.unseen_ns *= 2;
  one.rate.foreign += PERF_THREADS_FOREIGN_MIN; /* and no sample of its own since then */
  assert_true(perf_threads_is_narrow_due(&one, 4 * look_ns));
}

/* At a period of 10 ms: each ended task adds one sample at a fixed point of its life. */
static void first_samples_of_many_tasks_are_told(void **state) {
  const uint64_t ms = NS_PER_SECOND / 1000;
  struct target one = {.held = {.kind = HOLD_PERF, .control = RING_RUN, .period_ns = 10 * ms}};
  (void)state;
  one.weight_ns = 1000 * ms;
  for (unsigned i = 0; i < 100; i++) perf_threads_note_end(&one, 9 * ms); /* these have none */
  assert_false(perf_threads_are_short(&one));
  for (unsigned i = 0; i < 10; i++) perf_threads_note_end(&one, 30 * ms);
  assert_false(perf_threads_are_short(&one)); /* a tenth */
  perf_threads_note_end(&one, 30 * ms);
  assert_true(perf_threads_are_short(&one));
  one.rate.first_ns = 0;
  one.threads.is_wide = true; /* a CPU's clock meets each at any place */
  for (unsigned i = 0; i < 100; i++) perf_threads_note_end(&one, 30 * ms);
  assert_false(perf_threads_are_short(&one));
}

static void the_events_of_the_tree_go_on_when_those_of_the_cpus_are_closed(void **state) {
  (void)state;
  if (rings.count == 0) skip();
  order('b');
  if (perf_threads_open_wide(&targets, target) != 0) skip(); /* not as an ordinary user */
  uint64_t whole_ns = sum_of_whole(), waited_ns = clock_monotonic_ns() + NS_PER_SECOND;
  assert_int_equal(targets_count_wide(&targets), 1);
  wait_ms(100);
  assert_int_equal(sum_of_whole(), whole_ns);
  target->rate.unseen_tasks = PERF_THREADS_UNSEEN_TASKS;
  assert_int_equal(perf_threads_narrow(&targets, target, true), 0);
  assert_int_equal(targets_count_wide(&targets), 0);
  wait_for_more(target->fds, target->held.fd_count);
  target->rate.unseen_tasks += PERF_THREADS_UNSEEN_TASKS;
  target->rate.unseen_ns += NS_PER_SECOND;
  assert_false(perf_threads_is_wide_due(&targets, target, waited_ns));
  waited_ns = target->rate.wide_at_ns;
  assert_true(perf_threads_is_wide_due(&targets, target, waited_ns));
  struct target other = {.threads.is_wide = true};
  targets.rows[HOLD_TARGETS_MAX - 1] = &other;
  assert_false(perf_threads_is_wide_due(&targets, target, waited_ns));
  other.threads = (struct target_threads){.count = PERF_THREADS_EVENTS_OF_ALL};
  assert_int_equal(perf_threads_open_wide(&targets, target), -EOVERFLOW);
  targets.rows[HOLD_TARGETS_MAX - 1] = NULL;
  assert_false(target->threads.is_wide);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)
      TEST(threads_follow_a_change_of_rate_when_they_have_events_of_their_own),
      TEST(a_second_set_takes_over_and_nothing_that_was_counted_is_lost),
      TEST(what_a_thread_with_events_starts_inherits_them),
      TEST(a_thread_that_is_born_meanwhile_has_all_taken_back),
      TEST(a_thread_that_ends_meanwhile_needs_none),
      TEST(too_many_threads_keep_what_they_have_and_it_is_said),
      TEST(more_events_than_all_targets_may_have_are_refused),
      TEST(a_tree_with_another_users_process_is_left_as_it_is),
      TEST(a_program_that_has_ended_needs_none),
      TEST(first_samples_of_many_tasks_are_told),
      TEST(the_events_of_the_tree_go_on_when_those_of_the_cpus_are_closed),
      cmocka_unit_test(it_is_narrow_when_others_or_long_tasks_have_the_cpus),
      cmocka_unit_test(it_is_due_when_samples_went_astray_and_the_program_is_sampled),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
