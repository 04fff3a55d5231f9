/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_fixture.h"

#include "common/clock.h"
#include "symbol/index_file.h"
#include "symbol/nursery.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { DEADLINE_MS = 20000 };

static int open_in(const char *name, int flags) {
  char path[FIXTURE_PATH_BYTES];
  fixture_path(name, path);
  int fd = open(path, flags | O_CLOEXEC, 0600);
  assert_true(fd >= 0);
  return fd;
}

static int open_with(unsigned deadline_ms, struct nursery **ret) {
  return nursery_open(&(struct nursery_options){deadline_ms, NURSERY_DEADLINES_MAX, 0}, ret);
}

static int run_on(struct nursery *nursery, int elf_fd, const char *index,
                  struct nursery_result *ret) {
  int index_fd = open_in(index, O_RDWR | O_CREAT | O_TRUNC);
  const struct worker_job job = {.elf = elf_fd, .index = index_fd, .depth = INDEX_ALL};
  int error = nursery_run(nursery, &job, ret);
  close(elf_fd);
  close(index_fd);
  return error;
}

static int run_to(struct nursery *nursery, const char *elf, const char *index,
                  struct nursery_result *ret) {
  return run_on(nursery, open_in(elf, O_RDONLY), index, ret);
}

static void expect_good(struct nursery *nursery) {
  struct nursery_result result;
  struct index_file file;
  char path[FIXTURE_PATH_BYTES];
  assert_int_equal(run_to(nursery, "lib.so", "lib.index", &result), 0);
  assert_int_equal(result.outcome, NURSERY_REPLIED);
  assert_int_equal(result.reply.status, 0);
  assert_int_equal(result.reply.build_id_len, 20);
  assert_true(result.reply.symbol_count >= 6);
  fixture_path("lib.index", path);
  assert_int_equal(index_file_open(path, &file), 0);
  assert_int_equal(symbol_index_verify(&file.index), 0);
  assert_true(file.index.block_count > 0);
  index_file_close(&file);
}

/* A process whose parent is PARENT, or 0. */
static pid_t child_of(pid_t parent) {
  DIR *processes = opendir("/proc");
  assert_non_null(processes);
  pid_t found = 0;
  for (struct dirent *entry; found == 0 && (entry = readdir(processes)) != NULL;) {
    char path[64], state;
    int pid, ppid = 0;
    if (sscanf(entry->d_name, "%d", &pid) != 1) continue;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (file == NULL) continue;
    if (fscanf(file, "%*d (%*[^)]) %c %d", &state, &ppid) == 2 && ppid == parent && state != 'Z')
      found = pid;
    fclose(file);
  }
  closedir(processes);
  return found;
}

static pid_t await_child_of(pid_t parent) {
  for (int i = 0; i < 500; i++) {
    pid_t child = child_of(parent);
    if (child != 0) return child;
    usleep(10000);
  }
  fail_msg("no child of %d", (int)parent);
  return 0;
}

/* Waits until process PID has ended, up to five seconds. */
static bool is_gone(pid_t pid) {
  char path[64], target[256];
  snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
  for (int i = 0; i < 500; i++) {
    if (readlink(path, target, sizeof target) < 0) return true; /* a zombie has none either */
    usleep(10000);
  }
  return false;
}

/* A job whose worker waits forever: its index is written to a pipe that is never read. */
struct stuck_job {
  struct nursery *nursery;
  struct span key;
  int index[2];
  struct nursery_result result;
  int error;
  pthread_t thread;
};

static void *run_stuck(void *context) {
  struct stuck_job *job = context;
  int elf = open_in("lib.so", O_RDONLY);
  const struct worker_job work = {
      .elf = elf, .index = job->index[1], .depth = INDEX_ALL, .key = job->key};
  job->error = nursery_run(job->nursery, &work, &job->result);
  close(elf);
  return NULL;
}

static void start_stuck(struct nursery *nursery, struct stuck_job *job) {
  static const char block[4096];
  *job = (struct stuck_job){.nursery = nursery,
                            .key = span_of("a file's name in thirty-two byte", 32)};
  assert_int_equal(pipe2(job->index, O_CLOEXEC), 0);
  fcntl(job->index[1], F_SETFL, O_NONBLOCK);
  while (write(job->index[1], block, sizeof block) > 0) continue;
  fcntl(job->index[1], F_SETFL, 0);
  assert_int_equal(pthread_create(&job->thread, NULL, run_stuck, job), 0);
}

static void finish_stuck(struct stuck_job *job) {
  pthread_join(job->thread, NULL);
  close(job->index[0]);
  close(job->index[1]);
}

static void a_file_is_indexed_by_a_worker(void **state) {
  (void)state;
  struct nursery *nursery;
  assert_int_equal(open_with(DEADLINE_MS, &nursery), 0);
  for (int i = 0; i < 20; i++) expect_good(nursery);
  nursery_close(nursery);
}

/* More than the kernel passes in one message; the program needs the last one. */
static void any_number_of_supplements_comes_to_a_worker(void **state) {
  enum { COUNT = 600 };
  struct nursery *nursery;
  struct nursery_result result;
  int supplements[COUNT], missing = open_in("missing", O_RDWR | O_CREAT);
  (void)state;
  fixture_write("s.c", "int twice(int x) { return 2 * x; }\n", 35);
  fixture_run("cc -O2 -g -gsplit-dwarf -fPIC -c s.c -o s.o && cc -shared -nostdlib -o s.so s.o");
  assert_int_equal(open_with(DEADLINE_MS, &nursery), 0);
  for (int i = 0; i < COUNT; i++)
    supplements[i] = open_in(i == COUNT - 1 ? "s.dwo" : "s.c", O_RDONLY);
  struct worker_job job = {.elf = open_in("s.so", O_RDONLY),
                           .index = open_in("s.index", O_RDWR | O_CREAT | O_TRUNC),
                           .depth = INDEX_ALL,
                           .missing = &missing,
                           .supplements = supplements,
                           .supplement_count = COUNT};
  assert_int_equal(nursery_run(nursery, &job, &result), 0);
  assert_int_equal(result.outcome, NURSERY_REPLIED);
  assert_int_equal(result.reply.missing_units, 0);
  job.supplement_count = COUNT - 1;
  assert_int_equal(nursery_run(nursery, &job, &result), 0);
  assert_int_equal(result.outcome, NURSERY_REPLIED);
  assert_int_equal(result.reply.missing_units, 1);
  assert_int_equal(lseek(missing, 0, SEEK_END), strlen(fixture_dir) + sizeof "s.dwo" + 1);
  expect_good(nursery);
  for (int i = 0; i < COUNT; i++) close(supplements[i]);
  close(job.elf);
  close(job.index);
  close(missing);
  nursery_close(nursery);
}

static void a_bad_file_is_refused_with_a_reason(void **state) {
  (void)state;
  struct nursery *nursery;
  struct nursery_result result;
  assert_int_equal(open_with(DEADLINE_MS, &nursery), 0);
  fixture_write("bad",
                "\x7f"
                "ELFabc",
                7);
  assert_int_equal(run_to(nursery, "bad", "bad.index", &result), 0);
  assert_int_equal(result.outcome, NURSERY_REPLIED);
  assert_int_equal(result.reply.status, -EBADMSG);
  assert_true(result.reply.reason[0] != '\0');
  fixture_write("empty", "", 0);
  assert_int_equal(run_to(nursery, "empty", "bad.index", &result), 0);
  assert_true(result.reply.status < 0);
  expect_good(nursery);
  nursery_close(nursery);
}

static void a_worker_killed_in_the_middle_is_told_and_the_next_job_is_served(void **state) {
  (void)state;
  struct nursery *nursery;
  struct stuck_job job;
  assert_int_equal(open_with(DEADLINE_MS, &nursery), 0);
  pid_t nursery_pid = await_child_of(getpid());
  start_stuck(nursery, &job);
  kill(await_child_of(nursery_pid), SIGKILL);
  finish_stuck(&job);
  assert_int_equal(job.error, 0);
  assert_int_equal(job.result.outcome, NURSERY_KILLED);
  uint64_t start_ns = clock_monotonic_ns();
  expect_good(nursery);
  uint64_t took_ms = (clock_monotonic_ns() - start_ns) / NS_PER_MS;
  print_message("next job served in %llu ms\n", (unsigned long long)took_ms);
  assert_true(took_ms < 5000);
  nursery_close(nursery);
}

static void a_worker_that_crashes_is_the_files_fault(void **state) {
  (void)state;
  struct nursery *nursery;
  struct stuck_job job;
  assert_int_equal(open_with(DEADLINE_MS, &nursery), 0);
  pid_t nursery_pid = await_child_of(getpid());
  start_stuck(nursery, &job);
  kill(await_child_of(nursery_pid), SIGXCPU);
  finish_stuck(&job);
  assert_int_equal(job.error, 0);
  assert_int_equal(job.result.outcome, NURSERY_DIED);
  assert_int_equal(job.result.signal, SIGXCPU);
  nursery_close(nursery);
}

static void a_worker_ends_at_its_deadline(void **state) {
  (void)state;
  struct nursery *nursery;
  struct stuck_job job;
  assert_int_equal(open_with(300, &nursery), 0);
  uint64_t start_ns = clock_monotonic_ns();
  start_stuck(nursery, &job);
  finish_stuck(&job);
  assert_int_equal(job.error, 0);
  assert_int_equal(job.result.outcome, NURSERY_TIMED_OUT);
  assert_true(clock_monotonic_ns() - start_ns < 3 * NS_PER_SECOND);
  expect_good(nursery);
  nursery_close(nursery);
}

/* How long a worker of NURSERY takes for some milliseconds' work; RET is its outcome. */
static uint64_t run_on_self(struct nursery *nursery, struct nursery_result *ret) {
  int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  uint64_t start_ns = clock_monotonic_ns();
  assert_int_equal(run_on(nursery, self, "self.index", ret), 0);
  return clock_monotonic_ns() - start_ns;
}

/* A busy machine may leave a worker without CPU time for as short a deadline: hence the tries, each
   with a third of the time that the same work took just now. */
static void a_worker_that_gets_on_outlives_its_deadline(void **state) {
  (void)state;
  enum { TRIES = 50 };
  struct nursery *nursery;
  struct nursery_result result;
  bool is_outlived = false;
  for (int i = 0; i < TRIES && !is_outlived; i++) {
    assert_int_equal(open_with(DEADLINE_MS, &nursery), 0);
    unsigned short_ms = (unsigned)(run_on_self(nursery, &result) / NS_PER_MS / 3) + 1;
    nursery_close(nursery);
    assert_int_equal(open_with(short_ms, &nursery), 0);
    uint64_t took_ns = run_on_self(nursery, &result);
    nursery_close(nursery);
    is_outlived = result.outcome == NURSERY_REPLIED && took_ns > 3 * short_ms * NS_PER_MS / 2;
  }
  assert_true(is_outlived);
  assert_int_equal(result.reply.status, 0);
}

static void a_file_whose_workers_stand_is_given_up_and_others_are_not(void **state) {
  (void)state;
  struct nursery *nursery;
  struct stuck_job job;
  assert_int_equal(open_with(50, &nursery), 0);
  for (int i = 0; i < 4; i++) {
    start_stuck(nursery, &job);
    finish_stuck(&job);
    assert_int_equal(job.error, 0);
    assert_int_equal(job.result.outcome, i < 3 ? NURSERY_TIMED_OUT : NURSERY_GIVEN_UP);
  }
  expect_good(nursery);
  nursery_close(nursery);
}

/* The niceness of a worker of NURSERY, which it closes. */
static int niceness_in(struct nursery *nursery) {
  struct stuck_job job;
  pid_t nursery_pid = await_child_of(getpid());
  start_stuck(nursery, &job);
  pid_t worker = await_child_of(nursery_pid);
  int niceness = getpriority(PRIO_PROCESS, (id_t)worker);
  kill(worker, SIGKILL);
  finish_stuck(&job);
  nursery_close(nursery);
  return niceness;
}

static void workers_give_way(void **state) {
  (void)state;
  struct nursery *asked, *background;
  int own = getpriority(PRIO_PROCESS, 0);
  if (own > 4) skip(); /* if the test already has the lowest priority */
  assert_int_equal(nursery_open(&NURSERY_ASKED, &asked), 0);
  assert_int_equal(niceness_in(asked), own + 10);
  assert_int_equal(nursery_open(&NURSERY_BACKGROUND, &background), 0);
  assert_int_equal(niceness_in(background), own + 15);
}

static void a_nursery_that_was_killed_is_replaced(void **state) {
  (void)state;
  struct nursery *nursery;
  struct stuck_job job;
  assert_int_equal(open_with(DEADLINE_MS, &nursery), 0);
  kill(await_child_of(getpid()), SIGKILL);
  usleep(50000);
  expect_good(nursery);
  start_stuck(nursery, &job); /* now with a thread, in the middle of a job */
  pid_t nursery_pid = await_child_of(getpid());
  pid_t worker_pid = await_child_of(nursery_pid);
  kill(nursery_pid, SIGKILL);
  assert_true(is_gone(worker_pid)); /* it did not outlive the nursery */
  finish_stuck(&job);
  assert_int_equal(job.result.outcome, NURSERY_KILLED);
  expect_good(nursery);
  nursery_close(nursery);
  assert_int_equal(child_of(getpid()), 0);
}

static void *run_good(void *nursery) {
  static _Atomic unsigned count;
  char index[32];
  struct nursery_result result;
  snprintf(index, sizeof index, "thread%u.index", count++);
  for (int i = 0; i < 10; i++)
    if (run_to(nursery, "lib.so", index, &result) != 0 || result.reply.status != 0) return nursery;
  return NULL;
}

static void many_threads_take_turns(void **state) {
  (void)state;
  struct nursery *nursery;
  pthread_t threads[8];
  assert_int_equal(open_with(DEADLINE_MS, &nursery), 0);
  for (int i = 0; i < 8; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, run_good, nursery), 0);
  for (int i = 0; i < 8; i++) {
    void *failure;
    pthread_join(threads[i], &failure);
    assert_null(failure);
  }
  nursery_close(nursery);
}

/* The file NAME of process PID, as far as it fits. */
static size_t read_of(pid_t pid, const char *name, char *text, size_t room) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  size_t len = fread(text, 1, room, file);
  fclose(file);
  return len;
}

static void a_worker_has_nothing_of_its_owner(void **state) {
  (void)state;
  struct nursery *nursery;
  struct stuck_job job;
  static char text[65536];
  assert_int_equal(setenv("NURSERY_TEST_SECRET", "x", 1), 0);
  assert_int_equal(open_with(DEADLINE_MS, &nursery), 0);
  pid_t nursery_pid = await_child_of(getpid());
  start_stuck(nursery, &job);
  pid_t worker = await_child_of(nursery_pid);
  size_t len = read_of(worker, "environ", text, sizeof text);
  assert_null(memmem(text, len, "SECRET", 6));
  len = read_of(worker, "maps", text, sizeof text);
  assert_non_null(memmem(text, len, "fleetprof-symbols", 17));
  assert_null(memmem(text, len, "nursery_test", 12));
  kill(worker, SIGKILL);
  finish_stuck(&job);
  nursery_close(nursery);
}

static void the_nursery_keeps_no_descriptor_and_ends_with_its_owner(void **state) {
  (void)state;
  int marks[2];
  char byte;
  assert_int_equal(pipe(marks), 0); /* not close-on-exec: as a careless program would have it */
  pid_t owner = fork();
  assert_true(owner >= 0);
  if (owner == 0) {
    struct nursery *nursery;
    alarm(20); /* ends it should this test fail */
    if (open_with(DEADLINE_MS, &nursery) != 0) _exit(1);
    char text[32];
    int len = snprintf(text, sizeof text, "%d\n", (int)await_child_of(getpid()));
    if (write(marks[1], text, (size_t)len) != len) _exit(1);
    close(marks[1]);
    pause();
  }
  close(marks[1]);
  char text[32] = "";
  assert_true(read(marks[0], text, sizeof text - 1) > 0);
  pid_t nursery_pid = (pid_t)strtol(text, NULL, 10);
  assert_int_equal(read(marks[0], &byte, 1), 0); /* the nursery holds no end of it */
  assert_int_equal(kill(nursery_pid, 0), 0);
  kill(nursery_pid, SIGTERM);
  usleep(50000);
  assert_int_equal(child_of(owner), nursery_pid); /* a signal to the group does not end it */
  kill(owner, SIGKILL);
  waitpid(owner, NULL, 0);
  assert_true(is_gone(nursery_pid));
  close(marks[0]);
}

static int set_up(void **state) {
  int error = fixture_set_up(state);
  if (error == 0) fixture_make_library("");
  return error;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_file_is_indexed_by_a_worker),
      cmocka_unit_test(any_number_of_supplements_comes_to_a_worker),
      cmocka_unit_test(a_bad_file_is_refused_with_a_reason),
      cmocka_unit_test(a_worker_killed_in_the_middle_is_told_and_the_next_job_is_served),
      cmocka_unit_test(a_worker_that_crashes_is_the_files_fault),
      cmocka_unit_test(a_worker_ends_at_its_deadline),
      cmocka_unit_test(a_worker_that_gets_on_outlives_its_deadline),
      cmocka_unit_test(a_file_whose_workers_stand_is_given_up_and_others_are_not),
      cmocka_unit_test(workers_give_way),
      cmocka_unit_test(a_nursery_that_was_killed_is_replaced),
      cmocka_unit_test(many_threads_take_turns),
      cmocka_unit_test(a_worker_has_nothing_of_its_owner),
      cmocka_unit_test(the_nursery_keeps_no_descriptor_and_ends_with_its_owner),
  };
  return cmocka_run_group_tests(tests, set_up, fixture_tear_down);
}
