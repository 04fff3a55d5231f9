/* SPDX-License-Identifier: Apache-2.0 */
/* Each claim is tried by a child that enters the sandbox first. */
#include "elf_fixture.h"

#include "symbol/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { ENTERED = 100, NOT_ENTERED };

static int ends[2]; /* a pipe whose other end the child may still write to */

/* Runs ATTEMPT in a sandboxed child.  Returns its exit status, or -signal. */
static int in_sandbox(int (*attempt)(void)) {
  int status = 0;
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) _exit(sandbox_enter(0) == 0 ? attempt() : NOT_ENTERED);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* 0 when the call failed with EPERM, which is how the sandbox refuses. */
static int refused(long result) {
  return result == -1 && errno == EPERM ? 0 : 1;
}

static int try_nothing(void) {
  return ENTERED;
}

static int try_open(void) {
  return refused(open("/etc/passwd", O_RDONLY)) | refused(open("/tmp/x", O_CREAT | O_RDWR, 0600)) |
         refused(syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY));
}

static int try_socket(void) {
  return refused(socket(AF_INET, SOCK_STREAM, 0)) | refused(socket(AF_UNIX, SOCK_STREAM, 0)) |
         refused(syscall(SYS_connect, 0, NULL, 0)) | refused(syscall(SYS_bind, 0, NULL, 0));
}

static int try_exec(void) {
  char *const words[] = {"/bin/true", NULL};
  return refused(execve("/bin/true", words, NULL));
}

static int try_fork(void) {
  return refused(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) | refused(syscall(SYS_vfork));
}

static int try_others(void) {
  return refused(kill(getppid(), 0)) | refused(ptrace(PTRACE_ATTACH, getppid(), 0, 0)) |
         refused(syscall(SYS_unlinkat, AT_FDCWD, "/tmp/x", 0)) |
         refused(syscall(SYS_fcntl, 0, F_DUPFD, 0));
}

static int try_executable_memory(void) {
  const int any = PROT_READ | PROT_WRITE | PROT_EXEC;
  void *plain = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (plain == MAP_FAILED) return 2;
  if (mmap(NULL, 4096, any, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) return 3;
  return refused(mprotect(plain, 4096, PROT_READ | PROT_EXEC));
}

static int try_work(void) {
  char *memory = malloc(64 << 20);
  if (memory == NULL) return 1;
  memset(memory, 1, 64 << 20);
  memory = realloc(memory, 128 << 20);
  if (memory == NULL) return 2;
  free(memory);
  return write(ends[1], "done", 4) == 4 ? 0 : 3;
}

static int try_much_memory(void) {
  return malloc(2UL << 30) == NULL ? 0 : 1;
}

static int try_lifting_limits(void) {
  struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY}, less = {1, 1};
  return refused(setrlimit(RLIMIT_CPU, &all)) | refused(setrlimit(RLIMIT_CORE, &all)) |
         refused(setrlimit(RLIMIT_CPU,
                           &less)); /* which every process may do, if the call were allowed */
}

static void it_can_be_entered(void **state) {
  (void)state;
  assert_int_equal(in_sandbox(try_nothing), ENTERED);
}

static void no_file_can_be_opened(void **state) {
  (void)state;
  assert_int_equal(in_sandbox(try_open), 0);
}

static void no_socket_can_be_made(void **state) {
  (void)state;
  assert_int_equal(in_sandbox(try_socket), 0);
}

static void no_program_can_be_started(void **state) {
  (void)state;
  assert_int_equal(in_sandbox(try_exec), 0);
  assert_int_equal(in_sandbox(try_fork), 0);
}

static void other_processes_and_files_are_out_of_reach(void **state) {
  (void)state;
  assert_int_equal(in_sandbox(try_others), 0);
}

static void no_memory_can_be_made_executable(void **state) {
  (void)state;
  assert_int_equal(in_sandbox(try_executable_memory), 0);
}

static void memory_and_open_descriptors_still_work(void **state) {
  (void)state;
  char answer[4];
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(in_sandbox(try_work), 0);
  assert_int_equal(read(ends[0], answer, 4), 4);
  close(ends[0]);
  close(ends[1]);
}

static void memory_is_limited(void **state) {
  (void)state;
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
  skip(); /* sanitizers need terabytes */
#endif
  assert_int_equal(in_sandbox(try_much_memory), 0);
}

static void limits_cannot_be_lifted(void **state) {
  (void)state;
  assert_int_equal(in_sandbox(try_lifting_limits), 0);
}

/* Read from outside, since waiting for it to strike takes seconds. */
static void cpu_time_is_limited_by_the_length_of_the_file(void **state) {
  static const struct {
    uint64_t file_bytes;
    rlim_t seconds;
  } cases[] = {{0, 5}, {4096, 5}, {40 << 20, 15}, {1 << 30, 60}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct rlimit limit;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
      alarm(20); /* ends it should this test fail */
      if (sandbox_enter(cases[i].file_bytes) != 0) _exit(1);
      for (;;) continue;
    }
    do {
      usleep(10000);
      assert_int_equal(prlimit(pid, RLIMIT_CPU, NULL, &limit), 0);
    } while (limit.rlim_cur == RLIM_INFINITY);
    assert_int_equal(limit.rlim_cur, cases[i].seconds);
    assert_int_equal(prlimit(pid, RLIMIT_CORE, NULL, &limit), 0);
    assert_int_equal(limit.rlim_max, 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_can_be_entered),
      cmocka_unit_test(no_file_can_be_opened),
      cmocka_unit_test(no_socket_can_be_made),
      cmocka_unit_test(no_program_can_be_started),
      cmocka_unit_test(other_processes_and_files_are_out_of_reach),
      cmocka_unit_test(no_memory_can_be_made_executable),
      cmocka_unit_test(memory_and_open_descriptors_still_work),
      cmocka_unit_test(memory_is_limited),
      cmocka_unit_test(limits_cannot_be_lifted),
      cmocka_unit_test(cpu_time_is_limited_by_the_length_of_the_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
