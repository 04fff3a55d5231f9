/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper/hold.h"

#include "intake/perf_attr.h"
#include "ring/ring_format.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

struct keeper_end {
  int socket;
  struct hold_table table;
  int last;
};

static int pair[2];
static struct keeper_end keeper;
static pthread_t thread;
static _Atomic unsigned pause_us = 100; /* of the keeper, between two looks */

static void *keep(void *context) {
  struct keeper_end *end = context;
  while ((end->last = hold_serve(end->socket, &end->table)) != -ECONNRESET) usleep(pause_us);
  return NULL;
}

static int make(void **state) {
  (void)state;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) return -1;
  keeper = (struct keeper_end){.socket = pair[0]};
  return pthread_create(&thread, NULL, keep, &keeper);
}

static int unmake(void **state) {
  (void)state;
  close(pair[1]);
  pthread_join(thread, NULL);
  hold_table_fini(&keeper.table);
  close(pair[0]);
  return 0;
}

static void what_is_held_has_a_descriptor_of_its_own(void **state) {
  (void)state;
  int pipe_ends[2];
  char byte = 0;
  assert_int_equal(pipe2(pipe_ends, O_CLOEXEC), 0);
  struct hold_target target = {.id = 5, .kind = HOLD_TIMER, .fd_count = 1, .service = "shop"};
  assert_int_equal(hold_send_keep(pair[1], &target, &pipe_ends[1]), 0);
  close(pipe_ends[1]);
  assert_string_equal(keeper.table.entries[0]->target.service, "shop");
  assert_int_equal(keeper.table.last_id, 5);
  assert_int_equal(write(keeper.table.entries[0]->fds[0], "x", 1), 1);
  assert_int_equal(read(pipe_ends[0], &byte, 1), 1);
  assert_int_equal(hold_send_drop(pair[1], 5), 0);
  assert_null(keeper.table.entries[0]);
  assert_int_equal(read(pipe_ends[0], &byte, 1), 0); /* closed there, too */
  assert_int_equal(hold_send_drop(pair[1], 5), 0);
  assert_int_equal(keeper.table.last_id, 5);
  close(pipe_ends[0]);
}

static void a_description_can_change_while_its_descriptors_stay(void **state) {
  (void)state;
  struct hold_target target = {.id = 5, .kind = HOLD_PERF, .fd_count = 1, .exit_fd_count = 1};
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  assert_int_equal(hold_send_keep(pair[1], &target, (int[]){null, null}), 0);
  target.set_period_ns = 1000000;
  assert_int_equal(hold_send_update(pair[1], &target), 0);
  assert_int_equal(keeper.table.entries[0]->target.set_period_ns, 1000000);
  assert_int_equal(keeper.table.entries[0]->target.fd_count, 1);
  assert_int_equal(keeper.table.entries[0]->target.exit_fd_count, 1);
  target.id = 6;
  assert_int_equal(hold_send_update(pair[1], &target), -ENOENT);
  close(null);
}

static void a_full_table_says_so(void **state) {
  (void)state;
  struct hold_target target = {.kind = HOLD_PERF, .fd_count = 1};
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  for (uint32_t i = 0; i < HOLD_TARGETS_MAX; i++) {
    target.id = i + 1;
    assert_int_equal(hold_send_keep(pair[1], &target, &null), 0);
  }
  target.id++;
  assert_int_equal(hold_send_keep(pair[1], &target, &null), -ENOSPC);
  close(null);
}

/* Both ends in one thread: no answer arrives before the supervisor is called to serve. */
static void a_keeper_that_comes_late_is_not_gone_and_holds_no_ghost(void **state) {
  (void)state;
  int late[2];
  struct hold_table table = {0};
  struct hold_target target = {.id = 5, .kind = HOLD_PERF, .fd_count = 1};
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, late), 0);
  assert_int_equal(hold_send_keep(late[1], &target, &null), -ETIMEDOUT);
  target.id = 6;
  assert_int_equal(hold_send_keep(late[1], &target, &null), -ETIMEDOUT); /* at once */
  assert_int_equal(hold_send_drop(late[1], 4), 0);                       /* at once */
  assert_false(hold_has_ended(late[1]));
  unsigned served = 0;
  while (hold_serve(late[0], &table) == 0) served++;
  assert_int_equal(served, 3); /* keep and drop 5, drop 4 */
  for (unsigned i = 0; i < HOLD_TARGETS_MAX; i++) assert_null(table.entries[i]);
  assert_false(hold_has_ended(late[1]));
  close(late[0]);
  assert_true(hold_has_ended(late[1]));
  close(late[1]);
  close(null);
}

static void an_answer_to_another_question_is_thrown_away(void **state) {
  (void)state;
  struct hold_target target = {.id = 9, .kind = HOLD_PERF};
  const char stale[16] = {1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0};
  assert_int_equal(send(pair[0], stale, sizeof stale, 0), sizeof stale);
  assert_int_equal(send(pair[0], stale, sizeof stale, 0), sizeof stale);
  assert_int_equal(hold_send_update(pair[1], &target), -ENOENT);
}

/* A stopped event on this process, or -1 without perf. */
static int stopped_event(void) {
  struct perf_event_attr attr;
  perf_attr_fill(&attr, 1000000000);
  perf_attr_wait_for_enable(&attr);
  return perf_attr_open(&attr, 0, -1);
}

static bool does_count(int event) {
  uint64_t before = 0, after = 0;
  struct timespec now, begun;
  assert_int_equal(read(event, &before, sizeof before), sizeof before);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((now.tv_sec - begun.tv_sec) * 1000000000 + now.tv_nsec - begun.tv_nsec < 10000000);
  assert_int_equal(read(event, &after, sizeof after), sizeof after);
  return after > before;
}

struct switched {
  struct hold_target target;
  bool does_count;
};

static void what_a_dead_worker_had_stopped_for_events_of_its_own_goes_on(void **state) {
  static const struct switched cases[] = {
      {{.kind = HOLD_PERF, .control = RING_RUN, .is_apart = true}, true},
      {{.kind = HOLD_PERF, .control = RING_RUN}, false}, /* the worker never touched it */
      {{.kind = HOLD_PERF, .control = RING_PAUSE, .is_apart = true}, false},
      {{.kind = HOLD_PERF, .control = RING_OFF, .is_apart = true}, false},
      {{.kind = HOLD_PERF, .control = RING_RUN, .is_apart = true, .is_killed = true}, false},
  };
  enum { CASES = sizeof cases / sizeof *cases };
  (void)state;
  struct hold_table table = {0};
  int events[CASES][2], trial = stopped_event();
  if (trial < 0) skip(); /* this kernel gives none */
  close(trial);
  for (uint32_t i = 0; i < CASES; i++) {
    struct hold_target target = cases[i].target;
    target.id = i + 1;
    target.fd_count = 2;
    events[i][0] = stopped_event();
    events[i][1] = stopped_event();
    assert_non_null(hold_table_add_take(&table, &target, events[i]));
  }
  hold_table_switch_back(&table);
  for (unsigned i = 0; i < CASES; i++)
    for (unsigned at = 0; at < 2; at++)
      assert_int_equal(does_count(events[i][at]), cases[i].does_count);
  hold_table_fini(&table);
}

static void a_file_is_held_until_newer_ones_need_its_place(void **state) {
  (void)state;
  int ends[2];
  struct stat found, held;
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  assert_int_equal(fstat(ends[0], &found), 0);
  assert_int_equal(hold_send_file(pair[1], ends[0]), 0);
  assert_int_equal(keeper.table.file_count, 1);
  assert_int_equal(fstat(keeper.table.files[0], &held), 0);
  assert_int_equal(held.st_ino, found.st_ino);
  close(ends[0]);
  assert_int_equal(write(ends[1], "x", 1), 1);           /* it can still be read */
  assert_int_equal(hold_send_file(pair[1], ends[1]), 0); /* the same pipe */
  assert_int_equal(keeper.table.file_count, 1);
  for (unsigned i = 0; i < HOLD_FILES_MAX; i++) {
    int file = memfd_create("file", MFD_CLOEXEC);
    assert_int_equal(hold_send_file(pair[1], file), 0);
    close(file);
  }
  assert_int_equal(keeper.table.file_count, 1 + HOLD_FILES_MAX);
  signal(SIGPIPE, SIG_IGN);
  assert_int_equal(write(ends[1], "x", 1), -1); /* no reader is left */
  assert_int_equal(errno, EPIPE);
  close(ends[1]);
}

static void on_alarm(int signal) {
  (void)signal;
}

static void a_signal_does_not_end_the_wait_for_the_keeper(void **state) {
  (void)state;
  struct sigaction action = {.sa_handler = on_alarm}; /* no SA_RESTART */
  struct itimerval often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
  struct hold_target target = {.id = 5, .kind = HOLD_PERF};
  pause_us = 200000;
  assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
  assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
  usleep(1000);
  for (unsigned i = 0; i < 3; i++) assert_int_equal(hold_send_update(pair[1], &target), -ENOENT);
  setitimer(ITIMER_REAL, &never, NULL);
  pause_us = 100;
}

static void a_message_of_another_size_is_refused_and_changes_nothing(void **state) {
  (void)state;
  int32_t answer[4] = {0}; /* serial, error, padding */
  assert_int_equal(send(pair[1], "short", 5, 0), 5);
  assert_int_equal(recv(pair[1], answer, sizeof answer, 0), sizeof answer);
  assert_int_equal(answer[2], -EBADMSG);
  assert_int_equal(hold_send_drop(pair[1], 1), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)
      TEST(what_is_held_has_a_descriptor_of_its_own),
      TEST(a_description_can_change_while_its_descriptors_stay),
      TEST(a_full_table_says_so),
      TEST(a_keeper_that_comes_late_is_not_gone_and_holds_no_ghost),
      TEST(an_answer_to_another_question_is_thrown_away),
      TEST(what_a_dead_worker_had_stopped_for_events_of_its_own_goes_on),
      TEST(a_file_is_held_until_newer_ones_need_its_place),
      TEST(a_signal_does_not_end_the_wait_for_the_keeper),
      TEST(a_message_of_another_size_is_refused_and_changes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
