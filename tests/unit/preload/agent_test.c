/* SPDX-License-Identifier: Apache-2.0 */
/* libfleetprof.so itself, preloaded into real programs, against a daemon of one thread that hands
   out one ring and reads it after the program has ended. */
#include "intake/intake_format.h"
#include "ring/ring_reader.h"
#include "ring/ring_switch.h"
#include "unwind/unwind_map.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { SLOTS = 256, SLOT_BYTES = 1 << 17, HZ = 200, OUTPUT_BYTES = 4096, HANG_SECONDS = 20 };

#define PERIOD_NS (1000000000ULL / HZ)
#define TARGETS TARGET_DIR "/"

/* The test daemon's reaction to a request. */
enum manner {
  ANSWERS,
  REFUSES,
  IS_SILENT,
  SENDS_UNSEALED,
  SENDS_SHORT,
  SENDS_NO_RING,
  MAKES_TABLES
};

struct fake {
  char directory[64], path[96];
  int listener, memfd, map, tables;
  enum manner manner;
  pthread_t thread;
  struct ring_reader ring;
  struct intake_request last;
  _Atomic int requests; /* released after `last` and `maps` are written */
  char maps[4096];
  _Atomic int is_over; /* the program has ended */
};

struct outcome {
  int status;
  char output[OUTPUT_BYTES];
  struct rusage usage;
  uint64_t took_ms;
};

static struct fake fake;

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void make_ring(void) {
  off_t size = (off_t)ring_total_bytes(SLOTS, SLOT_BYTES);
  fake.memfd = memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  assert_int_equal(ftruncate(fake.memfd, fake.manner == SENDS_SHORT ? size - 4096 : size), 0);
  if (fake.manner != SENDS_UNSEALED)
    fcntl(fake.memfd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  fake.ring = (struct ring_reader){.slot_count = SLOTS, .slot_bytes = SLOT_BYTES};
  fake.ring.base = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fake.memfd, 0);
  assert_true(fake.ring.base != MAP_FAILED);
  ring_init(&fake.ring, &(struct ring_terms){.period_ns = PERIOD_NS, .signal = 61});
}

static int sealed_memory(size_t bytes, const void *head, size_t head_bytes) {
  int fd = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
  assert_int_equal(pwrite(fd, head, head_bytes, 0), head_bytes);
  assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
  return fd;
}

/* Tables that the daemon is making, and never has made. */
static void make_tables(void) {
  struct unwind_map *map = calloc(1, sizeof *map);
  assert_non_null(map);
  map->magic = UNWIND_MAP_MAGIC;
  map->version = UNWIND_MAP_VERSION;
  map->is_awaited = 1;
  fake.map = sealed_memory(UNWIND_MAP_BYTES, map, sizeof *map);
  fake.tables = sealed_memory(4096, "", 1);
  free(map);
}

static void answer(int connection) {
  const int fds[] = {fake.memfd, fake.map, fake.tables};
  size_t bytes = fake.manner == MAKES_TABLES ? sizeof fds : sizeof *fds;
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof fds)];
  } control = {.bytes = {0}};
  struct intake_reply reply = {.magic = INTAKE_MAGIC, .version = INTAKE_VERSION};
  reply.kind = fake.manner == REFUSES ? INTAKE_REFUSED : INTAKE_RING;
  struct iovec body = {&reply, sizeof reply};
  struct msghdr message = {.msg_iov = &body, .msg_iovlen = 1};
  if (reply.kind == INTAKE_RING && fake.manner != SENDS_NO_RING) {
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE(bytes);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(bytes);
    memcpy(CMSG_DATA(&control.header), fds, bytes);
  }
  sendmsg(connection, &message, MSG_NOSIGNAL);
}

static void take_request(int connection) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  struct iovec body = {&fake.last, sizeof fake.last};
  struct msghdr message = {
      .msg_iov = &body, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  if (recvmsg(connection, &message, MSG_CMSG_CLOEXEC) != sizeof fake.last) return;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header != NULL) {
    int fd;
    memcpy(&fd, CMSG_DATA(header), sizeof fd);
    ssize_t len = read(fd, fake.maps, sizeof fake.maps - 1);
    fake.maps[len > 0 ? len : 0] = '\0';
    close(fd);
  }
  fake.requests++;
  if (fake.manner != IS_SILENT) answer(connection);
}

static void *serve(void *unused) {
  int connection;
  while ((connection = accept4(fake.listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
    take_request(connection);
    char byte;
    if (fake.manner == IS_SILENT) (void)!recv(connection, &byte, 1, 0); /* until it gives up */
    close(connection);
  }
  return unused;
}

static void start(enum manner manner) {
  memset(&fake, 0, sizeof fake);
  fake.manner = manner;
  make_ring();
  if (manner == MAKES_TABLES) make_tables();
  snprintf(fake.directory, sizeof fake.directory, "/tmp/fleetprof-test-XXXXXX");
  assert_non_null(mkdtemp(fake.directory));
  snprintf(fake.path, sizeof fake.path, "%s/s", fake.directory);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  memcpy(address.sun_path, fake.path, sizeof fake.path);
  fake.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  assert_int_equal(bind(fake.listener, (struct sockaddr *)&address, sizeof address), 0);
  assert_int_equal(listen(fake.listener, 64), 0);
  assert_int_equal(pthread_create(&fake.thread, NULL, serve, NULL), 0);
}

static int stop(void **state) {
  (void)state;
  if (fake.listener == 0) return 0;
  shutdown(fake.listener, SHUT_RDWR);
  pthread_join(fake.thread, NULL);
  close(fake.listener);
  close(fake.memfd);
  if (fake.manner == MAKES_TABLES) close(fake.map), close(fake.tables);
  munmap(fake.ring.base, (size_t)ring_total_bytes(SLOTS, SLOT_BYTES));
  unlink(fake.path);
  rmdir(fake.directory);
  fake.listener = 0;
  return 0;
}

static void exec_target(int output, const char *socket, char *const *words) {
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  if (socket != NULL) {
    bool is_frozen = fake.manner == MAKES_TABLES;
    setenv("LD_PRELOAD", is_frozen ? AGENT_SO ":" TARGETS "libfrozen_clock.so" : AGENT_SO, 1);
    if (is_frozen) alarm(HANG_SECONDS);
    setenv("FLEETPROF_SOCKET", socket, 1);
    setenv("FLEETPROF_SERVICE", "tested", 1);
    setenv("FLEETPROF_LABEL", "a=1;b=2", 1);
    setenv("FLEETPROF_HZ", "199.5", 1);
  }
  execv(words[0], words);
  _exit(127);
}

/* Runs WORDS under the agent (without it when SOCKET is NULL) to its end. */
static struct outcome run(const char *socket, char *const *words) {
  struct outcome outcome = {0};
  int output[2];
  uint64_t begin = now_ms();
  assert_int_equal(pipe2(output, O_CLOEXEC), 0);
  pid_t child = fork();
  if (child == 0) exec_target(output[1], socket, words);
  close(output[1]);
  size_t len = 0;
  ssize_t got;
  while ((got = read(output[0], outcome.output + len, OUTPUT_BYTES - 1 - len)) > 0)
    len += (size_t)got;
  close(output[0]);
  assert_int_equal(wait4(child, &outcome.status, 0, &outcome.usage), child);
  outcome.took_ms = now_ms() - begin;
  return outcome;
}

#define RUN(...) run(fake.path, (char *const[]){__VA_ARGS__, NULL})
#define RUN_PLAIN(...) run(NULL, (char *const[]){__VA_ARGS__, NULL})

struct census {
  uint64_t weight;
  unsigned records, pids, tids, released, deepest, truncated;
};

static unsigned add_slot(unsigned slot, struct census *census) {
  static uint8_t bytes[SLOT_BYTES];
  struct ring_view view;
  struct ring_sample sample;
  ring_reader_look(&fake.ring, slot, &view);
  assert_false(view.is_broken);
  assert_int_equal(view.dropped_full, 0);
  if (view.pid == 0) return 0;
  size_t len = ring_reader_copy(&fake.ring, slot, &view, bytes), at = 0;
  long step;
  while ((step = ring_record_decode(bytes + at, len - at, &sample)) > 0) {
    at += (size_t)step;
    if (sample.depth == 0) continue;
    census->records++;
    census->weight += sample.weight;
    if (sample.depth > census->deepest) census->deepest = sample.depth;
    if (sample.flags & RING_RECORD_TRUNCATED) census->truncated++;
  }
  assert_int_equal(step, 0);
  census->tids++;
  census->released += view.is_released;
  return view.pid;
}

static struct census count(void) {
  struct census census = {0};
  unsigned pids[SLOTS];
  for (unsigned i = 0; i < SLOTS; i++) {
    unsigned pid = add_slot(i, &census), known = 0;
    if (pid == 0) continue;
    while (known < census.pids && pids[known] != pid) known++;
    if (known == census.pids) pids[census.pids++] = pid;
  }
  return census;
}

static double cpu_seconds(const struct rusage *usage) {
  return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
         (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1e-6;
}

static void the_weight_of_all_threads_is_the_cpu_time(void **state) {
  (void)state;
  start(ANSWERS);
  struct outcome outcome = RUN(TARGETS "truth", "1.5");
  assert_int_equal(outcome.status, 0);
  struct census census = count();
  assert_int_equal(census.pids, 1);
  assert_int_equal(census.tids, 2);
  assert_int_equal(census.released, 1); /* the second thread; the first ended with its process */
  double ratio = (double)(census.weight * PERIOD_NS) * 1e-9 / cpu_seconds(&outcome.usage);
  assert_true(ratio > .95 && ratio < 1.05);
}

static const struct timespec a_millisecond = {.tv_nsec = 1000000};

/* A daemon's part of a change: each process gets permission as soon as it requests it. */
static bool is_change_met(uint32_t serial) {
  bool is_met = false;
  for (unsigned row = 0; row < RING_PROCESSES_MAX; row++) {
    struct ring_process_view view;
    ring_switch_look(&fake.ring, row, &view);
    if (view.pid == 0) continue;
    if (view.asked == serial) ring_switch_permit(&fake.ring, row, &view, serial);
    is_met |= view.seen == serial;
  }
  return is_met;
}

/* Ten times the period, and back, as fast as the program obeys. */
static void *swing(void *ret_changes) {
  int *changes = ret_changes;
  while (!fake.is_over) {
    ring_switch_set_period(&fake.ring, PERIOD_NS * (*changes % 2 ? 1 : 10));
    ring_switch_raise(&fake.ring);
    while (!fake.is_over && !is_change_met(ring_switch_serial(&fake.ring)))
      nanosleep(&a_millisecond, NULL);
    ++*changes;
  }
  return NULL;
}

static void the_weight_is_kept_through_changes_of_the_rate(void **state) {
  (void)state;
  int changes = 0;
  pthread_t swinging;
  start(ANSWERS);
  assert_int_equal(pthread_create(&swinging, NULL, swing, &changes), 0);
  struct outcome outcome = RUN(TARGETS "spin", "3000");
  fake.is_over = 1;
  pthread_join(swinging, NULL);
  assert_int_equal(outcome.status, 0);
  assert_true(changes >= 20);
  double ratio = (double)(count().weight * PERIOD_NS) * 1e-9 / cpu_seconds(&outcome.usage);
  assert_true(ratio > .93 && ratio < 1.07);
}

static double said_seconds(void) {
  return (double)ring_reader_exit_cpu_ns(&fake.ring) * 1e-9;
}

static void a_program_says_at_its_end_what_it_has_spent(void **state) {
  (void)state;
  start(ANSWERS);
  struct outcome outcome = RUN(TARGETS "truth", "0.3");
  double ratio = said_seconds() / cpu_seconds(&outcome.usage);
  assert_true(ratio > .95 && ratio < 1.001);
}

/* It calls libc's prctl, and compilers' code calls syscall: the gate detects their results. */
static void a_program_says_what_it_spent_unless_it_is_in_a_sandbox(void **state) {
  start(ANSWERS);
  struct outcome outcome = RUN(TARGETS "dodger", "plain", "0.2");
  assert_int_equal(outcome.status, 0);
  assert_true(said_seconds() > 0);
  stop(state);
  start(ANSWERS);
  outcome = RUN(TARGETS "dodger", "sandbox", "0.2");
  assert_int_equal(outcome.status, 0);
  assert_int_equal(ring_reader_exit_cpu_ns(&fake.ring), 0);
}

/* A plugin that is bound without our wrappers could have entered a sandbox. */
static void a_program_with_plugins_says_it_unless_one_could_begin_a_sandbox(void **state) {
  start(ANSWERS);
  struct outcome outcome = RUN(TARGETS "plugs", TARGETS "libplugin.so", "0.05");
  assert_int_equal(outcome.status, 0);
  assert_true(said_seconds() / cpu_seconds(&outcome.usage) > .9);
  stop(state);
  start(ANSWERS);
  outcome = RUN(TARGETS "plugs", TARGETS "libsandbox_plugin.so", "0.05");
  assert_int_equal(outcome.status, 0); /* and not killed for a look at the clock */
  assert_int_equal(ring_reader_exit_cpu_ns(&fake.ring), 0);
}

static void the_request_says_what_the_environment_says(void **state) {
  (void)state;
  start(ANSWERS);
  RUN("/bin/true");
  assert_int_equal(fake.requests, 1);
  assert_int_equal(fake.last.kind, INTAKE_TARGET);
  assert_int_equal(fake.last.asked_mhz, 199500);
  assert_string_equal(fake.last.service, "tested");
  assert_string_equal(fake.last.labels, "a=1\nb=2");
  assert_non_null(strstr(fake.last.exe, "/true"));
  assert_non_null(strstr(fake.maps, "/true"));
}

static void children_of_a_fork_are_sampled_in_slots_of_their_own(void **state) {
  (void)state;
  start(ANSWERS);
  struct outcome outcome = RUN(TARGETS "forks", "100");
  assert_int_equal(outcome.status, 0);
  assert_string_equal(outcome.output, RUN_PLAIN(TARGETS "forks", "100").output);
  struct census census = count();
  /* Few: a child of a few ms may end before the kernel's tick looks at its timer. */
  assert_true(census.pids > 5);
  assert_int_equal(fake.requests, 1);
}

static void threads_end_in_every_way_and_give_their_slots_back(void **state) {
  (void)state;
  start(ANSWERS);
  struct outcome outcome = RUN(TARGETS "threads", "200");
  assert_int_equal(outcome.status, 0);
  assert_string_equal(outcome.output, RUN_PLAIN(TARGETS "threads", "200").output);
  struct census census = count();
  assert_true(census.tids > 5);
  assert_true(census.released >= census.tids - 1);
  assert_int_equal(ring_reader_unsampled(&fake.ring), 0);
}

static void frames_are_walked_up_to_the_entry_of_the_program(void **state) {
  (void)state;
  start(ANSWERS);
  assert_int_equal(RUN(TARGETS "spin_frame_pointers", "300").status, 0);
  struct census census = count();
  assert_true(census.deepest >= 22 && census.deepest <= 32);
  assert_int_equal(census.truncated, 0);
}

static void a_stack_deeper_than_a_record_is_cut_and_says_so(void **state) {
  (void)state;
  start(ANSWERS);
  assert_int_equal(RUN(TARGETS "deep_stack", "5000", "200").status, 0);
  struct census census = count();
  assert_int_equal(census.deepest, RING_DEPTH_MAX);
  assert_true(census.truncated > 10);
}

static void errno_waits_and_alternate_stacks_are_not_disturbed(void **state) {
  (void)state;
  start(ANSWERS);
  struct outcome outcome = RUN(TARGETS "signals", "1");
  assert_string_equal(outcome.output, "canaries 0, waits 0, stack 0\n");
  assert_int_equal(outcome.status, 0);
  assert_true(count().records > 100);
}

static void no_descriptor_is_left_in_the_program(void **state) {
  (void)state;
  start(ANSWERS);
  struct outcome plain = RUN_PLAIN("/bin/ls", "/proc/self/fd");
  assert_string_equal(RUN("/bin/ls", "/proc/self/fd").output, plain.output);
  assert_int_equal(fake.requests, 1);
}

static void a_program_that_execs_dies_of_no_late_signal(void **state) {
  (void)state;
  start(ANSWERS);
  struct outcome outcome =
      RUN("/bin/bash", "-c",
          "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; exec env -i /bin/echo clean");
  assert_int_equal(outcome.status, 0);
  assert_string_equal(outcome.output, "clean\n");
}

/* MANNER gives no usable ring: the program must run as if nothing were there. */
static void runs_unsampled(enum manner manner) {
  start(manner);
  struct outcome outcome = RUN(TARGETS "threads", "20");
  assert_int_equal(outcome.status, 0);
  assert_string_equal(outcome.output, "20 of 20 threads came to their end\n");
  assert_int_equal(fake.requests, 1);
  assert_int_equal(count().records, 0);
  assert_int_equal(ring_reader_unsampled(&fake.ring), 0);
  stop(NULL);
}

static void without_a_usable_ring_the_program_runs_on(void **state) {
  (void)state;
  static const enum manner manners[] = {REFUSES, SENDS_UNSEALED, SENDS_SHORT, SENDS_NO_RING};
  for (unsigned i = 0; i < sizeof manners / sizeof *manners; i++) runs_unsampled(manners[i]);
}

static void a_daemon_that_never_answers_costs_a_fifth_of_a_second(void **state) {
  (void)state;
  start(IS_SILENT);
  struct outcome outcome = RUN("/bin/true");
  assert_int_equal(outcome.status, 0);
  assert_true(outcome.took_ms >= 150 && outcome.took_ms < 1000);
}

/* Pauses of a millisecond are counted: a program's clock may be a library's. */
static void tables_that_never_come_are_awaited_for_a_while_by_a_clock_that_stands(void **state) {
  (void)state;
  start(MAKES_TABLES);
  struct outcome outcome = RUN("/bin/true");
  assert_int_equal(outcome.status, 0);
  assert_int_equal(fake.requests, 1);
  assert_true(outcome.took_ms >= 150); /* it did wait */
}

static void without_a_daemon_nothing_happens(void **state) {
  (void)state;
  struct outcome outcome = run("/nonexistent/socket", (char *const[]){"/bin/echo", "hi", NULL});
  assert_int_equal(outcome.status, 0);
  assert_string_equal(outcome.output, "hi\n");
}

static void a_signal_that_is_taken_is_left_alone(void **state) {
  (void)state;
  start(ANSWERS);
  signal(61, SIG_IGN); /* the child inherits that */
  struct outcome outcome = RUN(TARGETS "truth", "0.2");
  signal(61, SIG_DFL);
  assert_int_equal(outcome.status, 0);
  assert_int_equal(fake.requests, 1);
  assert_int_equal(count().records, 0);
}

static void a_user_without_room_for_a_signal_runs_unsampled_and_is_counted(void **state) {
  (void)state;
  start(ANSWERS);
  struct outcome outcome = RUN("/bin/bash", "-c", "ulimit -i 0; exec " TARGETS "truth 0.2");
  assert_int_equal(outcome.status, 0);
  const struct ring_header *header = (const struct ring_header *)(const void *)fake.ring.base;
  assert_int_equal(header->timers_refused, 2);
  assert_int_equal(ring_reader_unsampled(&fake.ring), 2);
}

/* Starts five threads. Below three quarters of the limit there is room for three timers (one, and
   those of bash and sed, which have ended by then), above it for more. Returns how many were
   refused. */
static uint32_t refused_of_five(void) {
  start(ANSWERS);
  struct outcome outcome =
      RUN("/bin/bash", "-c",
          "queued=$(sed -n 's/^SigQ:[^0-9]*\\([0-9]*\\).*/\\1/p' /proc/self/status); "
          "ulimit -i $(((queued + 1) * 4 / 3)); exec " TARGETS "switched 0.5");
  assert_int_equal(outcome.status, 0);
  const struct ring_header *header = (const struct ring_header *)(const void *)fake.ring.base;
  return header->timers_refused;
}

/* The number of signals queued by other processes of this user changes while the program starts. */
static void a_quarter_of_the_signals_that_a_user_may_queue_stays_free(void **state) {
  uint32_t refused = refused_of_five();
  for (unsigned again = 0; again < 5 && (refused == 0 || refused == 5); again++) {
    stop(state);
    refused = refused_of_five();
  }
  assert_in_range(refused, 1, 4);
  assert_true(count().records > 0);
}

#define CLAIM(test) cmocka_unit_test_teardown(test, stop)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(the_weight_of_all_threads_is_the_cpu_time),
      CLAIM(the_weight_is_kept_through_changes_of_the_rate),
      CLAIM(the_request_says_what_the_environment_says),
      CLAIM(a_program_says_at_its_end_what_it_has_spent),
      CLAIM(a_program_says_what_it_spent_unless_it_is_in_a_sandbox),
      CLAIM(a_program_with_plugins_says_it_unless_one_could_begin_a_sandbox),
      CLAIM(children_of_a_fork_are_sampled_in_slots_of_their_own),
      CLAIM(threads_end_in_every_way_and_give_their_slots_back),
      CLAIM(frames_are_walked_up_to_the_entry_of_the_program),
      CLAIM(a_stack_deeper_than_a_record_is_cut_and_says_so),
      CLAIM(errno_waits_and_alternate_stacks_are_not_disturbed),
      CLAIM(no_descriptor_is_left_in_the_program),
      CLAIM(a_program_that_execs_dies_of_no_late_signal),
      CLAIM(without_a_usable_ring_the_program_runs_on),
      CLAIM(a_daemon_that_never_answers_costs_a_fifth_of_a_second),
      CLAIM(tables_that_never_come_are_awaited_for_a_while_by_a_clock_that_stands),
      CLAIM(without_a_daemon_nothing_happens),
      CLAIM(a_signal_that_is_taken_is_left_alone),
      CLAIM(a_user_without_room_for_a_signal_runs_unsampled_and_is_counted),
      CLAIM(a_quarter_of_the_signals_that_a_user_may_queue_stays_free),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
