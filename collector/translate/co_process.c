/* SPDX-License-Identifier: Apache-2.0 */
/* A translator may answer each line at once, or buffer everything until its input ends. So the
   caller cannot wait for one answer before the next question, and cannot write everything before
   reading: both pipes are finite. Reads and writes are interleaved by poll.

   Between fork and exec only async-signal-safe calls are made, because the process has many
   threads. The child's data is prepared before. The command has the rights of its user, but
   inherits no descriptors and, if confined, no capabilities. */
#include "co_process.h"

#include "common/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  READ_BYTES = 64 << 10,
  FIRST_OTHER_FD = 3,
  OLD_KERNEL_FDS = 4096, /* closed one by one if the kernel has no close_range */
  CANNOT_EXEC = 127,
  END_MS = 300, /* between closing its stdout and its exit */
  NAP_MS = 2,
};

/* ---- starting ---- */

static size_t count_words(const char *const *words) {
  size_t count = 0;
  while (words != NULL && words[count] != NULL) count++;
  return count;
}

/* Returns this process's environment with VARIABLES added; they replace variables of the same
   name. */
static const char **make_environment(const char *const *variables) {
  const char *const *ours = (const char *const *)environ;
  size_t added = count_words(variables), count = count_words(ours);
  const char **all = calloc(added + count + 1, sizeof *all);
  if (all == NULL) return NULL;
  for (size_t i = 0; i < added; i++) all[i] = variables[i];
  size_t kept = added;
  for (size_t i = 0; i < count; i++) {
    size_t name = strcspn(ours[i], "=") + 1, j = 0;
    while (j < added && strncmp(variables[j], ours[i], name) != 0) j++;
    if (j == added) all[kept++] = ours[i];
  }
  return all;
}

/* Its input may be untrusted: a file that makes it use all memory, or write for ever, must end only
   the translator. The caller limits its time. */
static void limit_use(void) {
  static const struct {
    int what;
    rlim_t most;
  } limits[] = {{RLIMIT_CORE, 0},
                {RLIMIT_DATA, CO_MEMORY_BYTES_MAX},
                {RLIMIT_FSIZE, CO_FILE_BYTES_MAX},
                {RLIMIT_NOFILE, CO_FILES_MAX},
                {RLIMIT_CPU, CO_CPU_S_MAX}};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)limits[i].what, &limit) != 0) continue;
    if (limits[i].most < limit.rlim_max) limit.rlim_max = limits[i].most;
    if (limit.rlim_max < limit.rlim_cur) limit.rlim_cur = limit.rlim_max;
    setrlimit((__rlimit_resource_t)limits[i].what, &limit);
  }
}

/* Root without capabilities has only the rights of the owner of root's files. */
static void give_up_rights(void) {
  struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
  prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0, 0); /* exec restores none */
  syscall(SYS_capset, &head, none);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static void close_others(void) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, FIRST_OTHER_FD, ~0U, 0) == 0) return;
#endif
  for (int fd = FIRST_OTHER_FD; fd < OLD_KERNEL_FDS; fd++) close(fd);
}

_Noreturn static void be_translator(const struct co_start *start, const char **environment,
                                    const int ends[2]) {
  const char *const words[] = {"sh", "-c", start->command, NULL};
  struct sigaction usual = {.sa_handler = SIG_DFL};
  sigset_t none;
  setpgid(0, 0); /* so that a whole pipeline can be killed */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(ends[0], STDIN_FILENO);
  dup2(ends[1], STDOUT_FILENO);
  if (start->is_confined) {
    int nothing = open("/dev/null", O_WRONLY);
    if (nothing >= 0) dup2(nothing, STDERR_FILENO);
    limit_use();
    give_up_rights();
  }
  close_others();
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  sigaction(SIGPIPE, &usual, NULL);
  execve("/bin/sh", (char *const *)(uintptr_t)words, (char *const *)(uintptr_t)environment);
  _exit(CANNOT_EXEC);
}

static void close_pair(const int pair[2]) {
  close(pair[0]);
  close(pair[1]);
}

/* Makes a pipe above the standard descriptors, which the child replaces. */
static int make_pipe(int ret[2]) {
  int low[2];
  if (pipe2(low, O_CLOEXEC) != 0) return -errno;
  ret[0] = fcntl(low[0], F_DUPFD_CLOEXEC, FIRST_OTHER_FD);
  ret[1] = fcntl(low[1], F_DUPFD_CLOEXEC, FIRST_OTHER_FD);
  int error = ret[0] < 0 || ret[1] < 0 ? -errno : 0;
  close_pair(low);
  for (int i = 0; i < 2 && error != 0; i++)
    if (ret[i] >= 0) close(ret[i]);
  return error;
}

/* Forks the translator between IN and OUT. Returns its pid or -errno. */
static pid_t fork_between(const struct co_start *start, const int in[2], const int out[2]) {
  const char **environment = make_environment(start->variables);
  if (environment == NULL) return -ENOMEM;
  pid_t pid = fork();
  if (pid == 0) be_translator(start, environment, (int[]){in[0], out[1]});
  if (pid < 0) pid = -errno;
  free(environment);
  return pid;
}

int co_process_start(const struct co_start *start, struct co_process *ret) {
  int in[2], out[2];
  int error = make_pipe(in);
  if (error != 0) return error;
  error = make_pipe(out);
  if (error != 0) {
    close_pair(in);
    return error;
  }
  pid_t pid = fork_between(start, in, out);
  close(in[0]);
  close(out[1]);
  if (pid < 0) {
    close(in[1]);
    close(out[0]);
    return pid;
  }
  setpgid(pid, pid);
  fcntl(in[1], F_SETFL, O_NONBLOCK);
  fcntl(out[0], F_SETFL, O_NONBLOCK);
  *ret = (struct co_process){.pid = pid, .in = in[1], .out = out[0]};
  return 0;
}

/* ---- exchange ---- */

struct progress {
  struct span questions; /* still to be written */
  size_t seen, stops;    /* bytes of the answers that were scanned, and line ends found in them */
  bool is_ended;         /* it has closed its stdout */
};

static void close_input(struct co_process *process) {
  if (process->in >= 0) close(process->in);
  process->in = -1;
}

static void write_some(struct co_process *process, const struct co_talk *talk,
                       struct progress *progress) {
  struct span *rest = &progress->questions;
  while (rest->len > 0) {
    ssize_t put = write(process->in, rest->data, rest->len);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (put < 0) break; /* it reads no more; its answers still count */
    *rest = span_of(rest->data + put, rest->len - (size_t)put);
  }
  if (talk->stop == CO_AT_END || rest->len > 0) close_input(process);
  rest->len = 0;
}

/* Counts the ends of lines, or of empty lines, in the new bytes. */
static void count_stops(const struct co_talk *talk, const struct buf *answers, size_t first,
                        struct progress *progress) {
  for (size_t at = progress->seen; at < answers->len; at++) {
    if (answers->data[at] != '\n') continue;
    size_t before = at;
    while (before > first && answers->data[before - 1] == '\r') before--;
    bool is_empty = before == first || answers->data[before - 1] == '\n';
    progress->stops += talk->stop == CO_AT_LINES || is_empty;
  }
  progress->seen = answers->len;
}

static int read_some(const struct co_process *process, const struct co_talk *talk,
                     struct buf *answers, struct progress *progress) {
  uint8_t *at = buf_reserve(answers, READ_BYTES);
  if (at == NULL) return -ENOMEM;
  ssize_t got = read(process->out, at, READ_BYTES);
  if (got < 0) return errno == EAGAIN || errno == EINTR ? 0 : -errno;
  answers->len += (size_t)got;
  progress->is_ended = got == 0;
  return answers->len > talk->answer_bytes_max ? -EOVERFLOW : 0;
}

/* Returns the maximum wait in ms; 0: the deadline has passed. */
static int patience_of(const struct co_talk *talk) {
  if (talk->deadline_ns == 0) return (int)talk->quiet_ms;
  uint64_t now = clock_monotonic_ns();
  uint64_t left_ms = now < talk->deadline_ns ? (talk->deadline_ns - now) / NS_PER_MS + 1 : 0;
  return left_ms < talk->quiet_ms ? (int)left_ms : (int)talk->quiet_ms;
}

/* Returns 1 if the answer is complete, 0 if not yet, or -EBADMSG. */
static int look_whether_done(const struct co_talk *talk, const struct progress *progress) {
  if (talk->stop == CO_AT_END) return progress->is_ended;
  if (progress->stops > talk->stop_count) return -EBADMSG;
  if (progress->stops == talk->stop_count) return progress->questions.len == 0 ? 1 : -EBADMSG;
  return progress->is_ended ? -EBADMSG : 0;
}

int co_process_talk(struct co_process *process, const struct co_talk *talk, struct buf *answers) {
  struct progress progress = {.questions = talk->questions, .seen = answers->len};
  size_t first = answers->len;
  for (;;) {
    bool writes = process->in >= 0 && (progress.questions.len > 0 || talk->stop == CO_AT_END);
    struct pollfd ready[3] = {{.fd = process->out, .events = POLLIN},
                              {.fd = writes ? process->in : -1, .events = POLLOUT},
                              {.fd = talk->cancel != NULL ? *talk->cancel : -1, .events = POLLIN}};
    int patience = patience_of(talk);
    int count = patience > 0 ? poll(ready, 3, patience) : 0;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -errno;
    if (count == 0) return -ETIMEDOUT;
    if (ready[2].revents != 0) return -ECANCELED;
    if (ready[1].revents != 0) write_some(process, talk, &progress);
    if (ready[0].revents == 0) continue;
    int error = read_some(process, talk, answers, &progress);
    if (error != 0) return error;
    count_stops(talk, answers, first, &progress);
    int done = look_whether_done(talk, &progress);
    if (done != 0) return done > 0 ? 0 : done;
  }
}

bool co_process_is_astray(const struct co_process *process) {
  struct pollfd ready = {.fd = process->out, .events = POLLIN};
  return process->in < 0 || poll(&ready, 1, 0) != 0;
}

/* Waits at most END_MS for the exit of its first process. Not reaped yet, its pid still identifies
   the group. */
static void wait_for_end(const struct co_process *process) {
  const struct timespec nap = {0, NAP_MS * (long)NS_PER_MS};
  for (int i = 0; i < END_MS / NAP_MS; i++) {
    siginfo_t ended = {.si_pid = 0};
    int rc = waitid(P_PID, (id_t)process->pid, &ended, WEXITED | WNOHANG | WNOWAIT);
    if (rc != 0 || ended.si_pid != 0) return;
    nanosleep(&nap, NULL);
  }
}

int co_process_end(struct co_process *process, bool is_done) {
  int status = 0;
  close_input(process);
  if (process->out >= 0) close(process->out);
  if (is_done) wait_for_end(process);
  kill(-process->pid, SIGKILL); /* with its remaining children */
  while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR) continue;
  *process = (struct co_process){.pid = 0, .in = -1, .out = -1};
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
