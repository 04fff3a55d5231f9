/* SPDX-License-Identifier: Apache-2.0 */
/* Puts itself into a seccomp sandbox after its start, then makes threads and forks as far as the
   sandbox permits. The filters allow the calls of this program and libc and kill for any other,
   especially a profiler's timer_create.

   A thread begun before the filter continues and ends in it (it applies to all threads). It burns
   in burn_outside before, and twice as much in burn_behind_it after. It may not read a clock there,
   so both are counted in rounds.

   launcher: the sandbox is that of a vfork child, which shares this process's memory and ends; the
   rest is not sandboxed: burn_outside in a forked child, burn_behind_it in a new thread.

     sandbox strict|kill|errno|trap|launcher MS */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FILTER_MAX = 128, THREADS = 3, FORKS = 3, ROUNDS = 5000000, EVEN_ROUNDS = 20000000 };

/* Calls that libc needs for threads, forks, memory and output; rt_sigreturn for any handler. */
static const long allowed[] = {
    SYS_read,         SYS_write,          SYS_close,          SYS_mmap,
    SYS_munmap,       SYS_mprotect,       SYS_madvise,        SYS_brk,
    SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_clone,          SYS_clone3,
    SYS_futex,        SYS_exit,           SYS_exit_group,     SYS_set_robust_list,
    SYS_rseq,         SYS_wait4,          SYS_sched_yield,    SYS_fstat,
    SYS_newfstatat,   SYS_tgkill,         SYS_restart_syscall};

static volatile uint64_t sink;
static double ms;
static long begun;
static _Atomic int is_outside_done, is_inside;

static void burn(void) {
  for (uint64_t i = 0; i < ROUNDS; i++) sink += i;
}

/* The same instructions, which take the same time anywhere, and different enough that no compiler
   merges them. */
__attribute__((noinline)) static void burn_outside(void) {
  for (uint64_t left = EVEN_ROUNDS; left > 0; left--)
    __asm__ volatile("/* outside */" : "+r"(left));
}
__attribute__((noinline)) static void burn_behind_it(void) {
  for (uint64_t left = EVEN_ROUNDS; left > 0; left--) __asm__ volatile("/* behind */" : "+r"(left));
}

static void *work(void *unused) {
  burn();
  return unused;
}

static void burn_turns(void (*one)(void), double turns) {
  for (double i = 0; i < turns; i++) one();
}

/* An initial thread: it runs alone, so its work takes the same time before and after. */
static void *end_inside(void *unused) {
  burn_turns(burn_outside, ms / 10);
  is_outside_done = 1;
  while (!is_inside) sched_yield();
  burn_turns(burn_behind_it, ms / 5);
  return unused;
}

static int install(uint32_t verdict, int is_for_all) {
  struct sock_filter filter[FILTER_MAX];
  unsigned short n = 0;
  filter[n++] =
      (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
    filter[n++] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)allowed[i], 0, 1);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict);
  struct sock_fprog program = {.len = n, .filter = filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  if (!is_for_all) return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

static void say_and_leave(const char *text) {
  if (write(STDOUT_FILENO, text, strlen(text)) < 0) begun = 1;
  syscall(SYS_exit, 0);
}

static void live_on(void) {
  for (int i = 0; i < FORKS; i++) {
    pid_t child = fork();
    if (child == 0) {
      burn();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) say_and_leave("a child died\n");
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++) pthread_create(&threads[t], NULL, work, NULL);
    for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
  }
}

static void on_sigsys(int signal, siginfo_t *event, void *context) {
  (void)signal;
  (void)context;
  if (event->si_syscall > 0) say_and_leave("SIGSYS\n");
}

static void *work_behind_it(void *unused) {
  burn_turns(burn_behind_it, ms / 5);
  return unused;
}

static int launch(void) {
  pid_t child = vfork();
  if (child == 0) _exit(install(SECCOMP_RET_KILL_PROCESS, 0) != 0 ? 77 : 0);
  int status = -1;
  if (waitpid(child, &status, 0) != child || status != 0) return 77;
  pthread_t after;
  if (pthread_create(&after, NULL, work_behind_it, NULL) != 0) return 1;
  pthread_join(after, NULL);
  child = fork();
  if (child == 0) {
    burn_turns(burn_outside, ms / 10);
    _exit(0);
  }
  waitpid(child, &status, 0);
  say_and_leave(status == 0 ? "launcher: all lived\n" : "launcher: a child died\n");
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  ms = strtod(argv[2], NULL);
  pthread_t before;
  pthread_create(&before, NULL, work, NULL);
  burn();
  pthread_join(before, NULL);
  sigaction(SIGSYS, &(struct sigaction){.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO}, NULL);
  if (strcmp(argv[1], "strict") == 0) {
    burn_turns(burn_outside, ms / 10);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) != 0) return 77;
    burn_turns(burn_behind_it, ms / 5);
    say_and_leave("strict: still alive\n");
  }
  if (strcmp(argv[1], "launcher") == 0) return launch();
  uint32_t verdict = strcmp(argv[1], "kill") == 0   ? SECCOMP_RET_KILL_PROCESS
                     : strcmp(argv[1], "trap") == 0 ? SECCOMP_RET_TRAP
                                                    : SECCOMP_RET_ERRNO | EPERM;
  /* Once for this thread alone by prctl, once for all by syscall. */
  pthread_create(&before, NULL, end_inside, NULL);
  while (!is_outside_done) sched_yield();
  if (install(verdict, 1) != 0) return 77;
  is_inside = 1;
  pthread_join(before, NULL);
  for (double i = 0; i < ms / 50; i++) live_on();
  printf("%s: threads and forks lived in the sandbox\n", argv[1]);
  fflush(stdout);
  return 0;
}
