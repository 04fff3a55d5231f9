/* SPDX-License-Identifier: Apache-2.0 */
/* Children that make tables, and children that fail. */
#include "table_fixture.h"
#include "walk/table_key.h"

#include "common/clock.h"
#include "elf/module_file.h"
#include "proc/proc_status.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATIENCE_MS = 20000, PATH_BYTES = 512, SHARED_BYTES = 4096 };

static enum table_state make_one(const struct table_wanted *wanted, struct buf *ret, char *why) {
  (void)wanted, (void)why;
  fixture_table(16, ret);
  return TABLE_READY;
}

static enum table_state lie(const struct table_wanted *wanted, struct buf *ret, char *why) {
  (void)wanted, (void)why;
  buf_append_string(ret, "this is no table, whatever its mark says");
  return TABLE_READY;
}

static enum table_state die(const struct table_wanted *wanted, struct buf *ret, char *why) {
  (void)wanted, (void)ret, (void)why;
  raise(SIGSEGV);
  return TABLE_READY;
}

static enum table_state hang(const struct table_wanted *wanted, struct buf *ret, char *why) {
  (void)wanted, (void)ret, (void)why;
  for (unsigned i = 0; i < 1000; i++) pause();
  return TABLE_FAILED;
}

static enum table_state write_too_much(const struct table_wanted *wanted, struct buf *ret,
                                       char *why) {
  (void)wanted, (void)why;
  uint8_t *room = buf_reserve(ret, TABLE_JOB_TABLE_BYTES_MAX + (1 << 20));
  if (room != NULL) ret->len = TABLE_JOB_TABLE_BYTES_MAX + (1 << 20);
  return TABLE_READY;
}

/* Reports its environment in WHY. */
static enum table_state look_around(const struct table_wanted *wanted, struct buf *ret, char *why) {
  struct rlimit core, cpu;
  int open_count = 0;
  (void)wanted, (void)ret;
  for (int fd = 0; fd < 1024; fd++) open_count += fcntl(fd, F_GETFD) >= 0;
  getrlimit(RLIMIT_CORE, &core);
  getrlimit(RLIMIT_CPU, &cpu);
  errno = 0;
  snprintf(why, TABLE_FILE_WHY_BYTES, "%d open, core %lu, cpu %lu, nice %d", open_count,
           (unsigned long)core.rlim_cur, (unsigned long)cpu.rlim_cur, getpriority(PRIO_PROCESS, 0));
  return TABLE_NOTHING;
}

static struct table_file run(struct table_job *job, const struct table_wanted *wanted,
                             table_build *build) {
  struct table_file file = {.state = TABLE_WAITING};
  assert_int_equal(table_job_start(job, wanted, build), 0);
  for (int ms = 0; ms < PATIENCE_MS && !table_job_step(job, fixture_id(wanted), &file); ms++)
    usleep(1000);
  assert_int_not_equal(file.state, TABLE_WAITING);
  assert_int_equal(job->child, 0);
  return file;
}

static void a_child_makes_a_table(void **state) {
  (void)state;
  struct table_job job = {0};
  struct table_wanted wanted = fixture_wanted(1);
  struct table_file file = run(&job, &wanted, make_one);
  assert_int_equal(file.state, TABLE_READY);
  assert_int_equal(unwind_table_find(file.table, 0)->offset, 16);
  table_file_unmap(&file);
}

static void a_child_that_dies_or_lies_makes_no_table(void **state) {
  (void)state;
  struct table_job job = {0};
  struct table_wanted wanted = fixture_wanted(1);
  struct table_file file = run(&job, &wanted, die);
  assert_int_equal(file.state, TABLE_FAILED);
  assert_string_equal(file.why, "whoever made its table died of signal 11");
  file = run(&job, &wanted, lie);
  assert_int_equal(file.state, TABLE_FAILED);
  assert_string_equal(file.why, "what was made is no table");
  file = run(&job, &wanted, write_too_much);
  assert_int_equal(file.state, TABLE_FAILED);
}

static void a_child_that_hangs_is_ended(void **state) {
  (void)state;
  struct table_job job = {0};
  struct table_wanted wanted = fixture_wanted(1);
  struct table_file file;
  assert_int_equal(table_job_start(&job, &wanted, hang), 0);
  pid_t child = job.child;
  assert_false(table_job_step(&job, fixture_id(&wanted), &file));
  for (int tries = 0; tries < PATIENCE_MS / 50; tries++) { /* its start takes CPU time, too */
    job.moved_ns -= TABLE_JOB_STILL_MS_MAX * NS_PER_MS;
    if (table_job_step(&job, fixture_id(&wanted), &file)) break;
    usleep(50000);
  }
  assert_int_equal(job.child, 0);
  assert_int_equal(file.state, TABLE_FAILED);
  assert_string_equal(file.why, "making its table stood still for 60 s");
  for (int ms = 0; ms < PATIENCE_MS && kill(child, 0) == 0; ms++) {
    usleep(1000);
    run(&job, &wanted, look_around); /* reaps the ended children */
  }
  assert_int_equal(kill(child, 0), -1);
}

static enum table_state work(const struct table_wanted *wanted, struct buf *ret, char *why) {
  uint64_t until_ns = clock_cpu_ns() + NS_PER_SECOND;
  while (clock_cpu_ns() < until_ns) continue;
  return look_around(wanted, ret, why);
}

static void a_child_that_gets_little_of_the_cpu_goes_on(void **state) {
  (void)state;
  struct table_job job = {0};
  struct table_wanted wanted = fixture_wanted(1);
  struct table_file file;
  bool is_over = false;
  assert_int_equal(table_job_start(&job, &wanted, work), 0);
  for (uint64_t cpu_ns = 0; !is_over; cpu_ns = job.cpu_ns) { /* a minute for a moment of CPU */
    while (!is_over && job.cpu_ns == cpu_ns)
      is_over = table_job_step(&job, fixture_id(&wanted), &file);
    if (!is_over) job.moved_ns -= (TABLE_JOB_STILL_MS_MAX - PATIENCE_MS) * NS_PER_MS;
  }
  assert_int_equal(file.state, TABLE_NOTHING);
}

static void a_child_holds_nothing_and_asks_for_little(void **state) {
  (void)state;
  struct table_job job = {0};
  struct table_wanted wanted = fixture_wanted(1);
  int ours = open("/dev/null", O_RDONLY);
  char expected[TABLE_FILE_WHY_BYTES];
  struct table_file file = run(&job, &wanted, look_around);
  assert_int_equal(file.state, TABLE_NOTHING);
  snprintf(expected, sizeof expected, "1 open, core 0, cpu 20, nice %d",
           getpriority(PRIO_PROCESS, 0));
  assert_string_equal(file.why, expected);
  close(ours);
}

/* Runs until it is stopped, however late the stopping process gets the CPU. */
static enum table_state take_long(const struct table_wanted *wanted, struct buf *ret, char *why) {
  uint64_t until_ns = clock_cpu_ns() + PATIENCE_MS / 2 * NS_PER_MS;
  while (clock_cpu_ns() < until_ns && getpriority(PRIO_PROCESS, 0) != TABLE_JOB_NICE) continue;
  return look_around(wanted, ret, why);
}

static void a_child_that_takes_long_gives_way(void **state) {
  (void)state;
  struct table_job job = {0};
  struct table_wanted wanted = fixture_wanted(1);
  struct table_file file = run(&job, &wanted, take_long);
  assert_non_null(strstr(file.why, "nice 10"));
}

/* RET is this program, or its copy in PATH, whose file belongs to OWNER. */
static void identify(const char *path, uint32_t owner, struct table_wanted *ret) {
  struct module_stamp stamp;
  struct module_identity identity;
  int fd = open(path, O_RDONLY);
  memset(ret, 0, sizeof *ret);
  assert_int_equal(module_file_stamp(fd, &stamp), 0);
  assert_int_equal(module_file_identify(fd, &stamp, &identity), 0);
  close(fd);
  snprintf(ret->path, sizeof ret->path, "%s", path);
  ret->pid = getpid();
  ret->id_bytes = table_key(span_of(identity.id, identity.id_bytes), owner, ret->id);
}

static void identify_self(struct table_wanted *ret) {
  char path[LIMIT_PATH_BYTES + 1] = "";
  struct module_stamp stamp;
  assert_true(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
  int fd = open(path, O_RDONLY);
  assert_int_equal(module_file_stamp(fd, &stamp), 0);
  close(fd);
  identify(path, table_key_owner(stamp.owner, getpid()), ret);
}

/* A copy of this program in fixture_folder(), of MODE. */
static void copy_self(const char *folder, mode_t mode, char path[PATH_BYTES]) {
  static char bytes[64 << 10];
  snprintf(path, PATH_BYTES, "%s/copy", folder);
  int from = open("/proc/self/exe", O_RDONLY), to = open(path, O_WRONLY | O_CREAT, 0700);
  for (ssize_t got; (got = read(from, bytes, sizeof bytes)) > 0;)
    assert_int_equal(write(to, bytes, (size_t)got), got);
  assert_int_equal(fchmod(to, mode), 0);
  close(from);
  close(to);
}

static void this_program_has_a_table(void **state) {
  (void)state;
  struct table_job job = {0};
  struct table_wanted wanted;
  identify_self(&wanted);
  struct table_file file = run(&job, &wanted, table_job_build);
  assert_int_equal(file.state, TABLE_READY);
  assert_true(file.table->row_count > 10);
  table_file_unmap(&file);
}

static void a_file_that_has_become_another_is_not_believed(void **state) {
  (void)state;
  struct table_job job = {0};
  struct table_wanted wanted;
  identify_self(&wanted);
  wanted.id[0] ^= 1;
  struct table_file file = run(&job, &wanted, table_job_build);
  assert_int_equal(file.state, TABLE_UNREADABLE);
  snprintf(wanted.path, sizeof wanted.path, "/nowhere/at/all");
  file = run(&job, &wanted, table_job_build);
  assert_int_equal(file.state, TABLE_UNREADABLE);
  assert_string_equal(file.why, strerror(ENOENT));
}

/* Files of any writer are not shared with all: the id is only the file's own claim. */
static void a_file_speaks_for_who_can_have_written_it(void **state) {
  (void)state;
  enum { OTHER = 65534 };
  struct table_job job = {0};
  struct table_wanted wanted;
  char path[PATH_BYTES];
  const char *folder = fixture_folder();
  uint32_t user = getuid();
  copy_self(folder, 0755, path);
  if (user == 0) assert_int_equal(chown(path, OTHER, OTHER), 0);
  identify(path, user == 0 ? 0 : OTHER, &wanted);
  assert_int_equal(run(&job, &wanted, table_job_build).state, TABLE_UNREADABLE);
  if (user == 0) assert_int_equal(chown(path, 0, 0), 0);
  assert_int_equal(chmod(path, 0757), 0); /* every user may have written it; we have it mapped */
  identify(path, OTHER, &wanted);
  assert_int_equal(run(&job, &wanted, table_job_build).state, TABLE_UNREADABLE);
  identify(path, user, &wanted);
  struct table_file file = run(&job, &wanted, table_job_build);
  assert_int_equal(file.state, TABLE_READY);
  table_file_unmap(&file);
  wanted.pid = 0;
  assert_int_equal(run(&job, &wanted, table_job_build).state, TABLE_UNREADABLE);
  fixture_folder_remove();
}

static enum table_state ask_for_too_much(const struct table_wanted *wanted, struct buf *ret,
                                         char *why) {
  char *all[64];
  (void)wanted, (void)ret;
  table_job_confine();
  for (unsigned i = 0; i < 64; i++) {
    all[i] = malloc(16 << 20);
    if (all[i] != NULL) memset(all[i], 1, 16 << 20);
    if (all[i] != NULL) continue;
    snprintf(why, TABLE_FILE_WHY_BYTES, "no more after %u MiB", 16 * i);
    return TABLE_FAILED;
  }
  return TABLE_NOTHING;
}

static uint8_t *shared;

static enum table_state look_for_shared(const struct table_wanted *wanted, struct buf *ret,
                                        char *why) {
  (void)wanted, (void)ret, (void)why;
  errno = 0;
  msync(shared, SHARED_BYTES, MS_ASYNC);
  return errno == ENOMEM ? TABLE_NOTHING : TABLE_REFUSED;
}

static void a_child_has_no_memory_that_others_read(void **state) {
  (void)state;
  struct table_job job = {0};
  struct table_wanted wanted = fixture_wanted(1);
  shared = mmap(NULL, SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_int_equal(run(&job, &wanted, look_for_shared).state, TABLE_NOTHING);
  shared[0] = 1; /* still this process' own */
  munmap(shared, SHARED_BYTES);
}

static bool is_refused(long result) {
  return result == -1 && errno == EPERM;
}

static enum table_state try_all(const struct table_wanted *wanted, struct buf *ret, char *why) {
  (void)wanted, (void)ret;
  table_job_confine();
  bool is_confined = is_refused(open("/dev/null", O_RDONLY)) && is_refused(fork()) &&
                     is_refused(socket(AF_UNIX, SOCK_STREAM, 0)) && is_refused(kill(1, 0)) &&
                     is_refused(setpriority(PRIO_USER, 0, TABLE_JOB_NICE));
  void *room = malloc(4 << 20);
  bool is_low = getpriority(PRIO_PROCESS, 0) > TABLE_JOB_NICE; /* as this test itself is */
  bool is_able = room != NULL && (is_low || setpriority(PRIO_PROCESS, 0, TABLE_JOB_NICE) == 0);
  snprintf(why, TABLE_FILE_WHY_BYTES, "%d %d", is_confined, is_able);
  free(room);
  return TABLE_NOTHING;
}

static volatile sig_atomic_t is_busy = 1;

static enum table_state be_busy(const struct table_wanted *wanted, struct buf *ret, char *why) {
  (void)wanted, (void)ret, (void)why;
  table_job_confine();
  while (is_busy) continue;
  return TABLE_FAILED;
}

static bool is_nobody(pid_t pid) {
  struct proc_status status = {.uid = 0};
  return proc_status_read(pid, pid, &status) == 0 && status.seccomp == 2 &&
         (geteuid() != 0 || status.uid == 65534);
}

static void a_child_that_reads_can_do_nothing_else(void **state) {
  (void)state;
  struct table_job job = {0};
  struct table_wanted wanted = fixture_wanted(1);
  if (prctl(PR_GET_SECCOMP) < 0) skip();
  assert_string_equal(run(&job, &wanted, try_all).why, "1 1");
  assert_int_equal(table_job_start(&job, &wanted, be_busy), 0);
  for (int ms = 0; ms < PATIENCE_MS && !is_nobody(job.child); ms++) usleep(1000);
  assert_true(is_nobody(job.child));
  table_job_stop(&job);
}

static char writer_path[PATH_BYTES]; /* the path that the child writes to afterwards */

static enum table_state leave_a_writer(const struct table_wanted *wanted, struct buf *ret,
                                       char *why) {
  int fd = 0;
  while (fcntl(fd, F_GETFD) < 0) fd++;
  mmap(NULL, SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  int told = open(writer_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t writer = fork();
  if (writer == 0) {
    sleep(PATIENCE_MS / 1000); /* or until the test is through with it */
    _exit(0);
  }
  bool is_told = write(told, &writer, sizeof writer) == sizeof writer;
  close(told);
  return is_told ? make_one(wanted, ret, why) : TABLE_REFUSED;
}

static void end_writer(void) {
  pid_t writer = 0;
  int told = open(writer_path, O_RDONLY);
  assert_int_equal(read(told, &writer, sizeof writer), sizeof writer);
  close(told);
  unlink(writer_path);
  assert_int_equal(kill(writer, SIGKILL), 0); /* it was there until now */
}

static void what_somebody_can_still_write_is_not_believed(void **state) {
  (void)state;
  struct table_job job = {0};
  struct table_wanted wanted = fixture_wanted(1);
  snprintf(writer_path, sizeof writer_path, "%s/writer", fixture_folder());
  struct table_file file = run(&job, &wanted, leave_a_writer);
  end_writer();
  fixture_folder_remove();
  assert_int_equal(file.state, TABLE_FAILED);
  assert_string_equal(file.why, "what was made is no table");
}

static void a_child_gets_only_so_much_memory(void **state) {
  (void)state;
  struct table_job job = {0};
  struct table_wanted wanted = fixture_wanted(1);
  struct table_file file = run(&job, &wanted, ask_for_too_much);
  assert_int_equal(file.state, TABLE_FAILED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_child_makes_a_table),
      cmocka_unit_test(a_child_has_no_memory_that_others_read),
      cmocka_unit_test(a_child_that_reads_can_do_nothing_else),
      cmocka_unit_test(what_somebody_can_still_write_is_not_believed),
      cmocka_unit_test(a_child_that_dies_or_lies_makes_no_table),
      cmocka_unit_test(a_child_that_hangs_is_ended),
      cmocka_unit_test(a_child_that_gets_little_of_the_cpu_goes_on),
      cmocka_unit_test(a_child_holds_nothing_and_asks_for_little),
      cmocka_unit_test(a_child_that_takes_long_gives_way),
      cmocka_unit_test(this_program_has_a_table),
      cmocka_unit_test(a_file_that_has_become_another_is_not_believed),
      cmocka_unit_test(a_file_speaks_for_who_can_have_written_it),
      cmocka_unit_test(a_child_gets_only_so_much_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
