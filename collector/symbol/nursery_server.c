/* SPDX-License-Identifier: Apache-2.0 */
/* Watches one worker at a time. It kills the worker when it stalls or the owner has exited. It
   always kills it before it answers, so that no process can write to an index that is about to be
   trusted. It parses nothing.

   The sandbox limits a file's CPU time, which does not depend on load: on a busy machine a worker
   of low priority may wait for minutes. The deadline is for stalled workers. A worker that used a
   little CPU time within one deadline gets another. A worker that used none waits for something
   other than its file, or pretends to; the file is not blamed then. */
#include "nursery_server.h"

#include "common/clock.h"
#include "nursery_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  OPEN_FILES_MAX = 65536,
  CPU_SHARE_MIN = 200, /* stalled: less than this fraction of a deadline in CPU time */
};

/* Receives PART and at most ROOM descriptors. RET_IS_CUT becomes true if this process has too many
   open files for them. Returns their number or -errno. */
static int receive_packet(struct iovec part, int *fds, size_t room, bool *ret_is_cut) {
  union nursery_descriptors control;
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  ssize_t got;
  do got = recvmsg(NURSERY_SOCKET, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got != (ssize_t)part.iov_len) return -EPIPE;
  *ret_is_cut |= (message.msg_flags & MSG_CTRUNC) != 0;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header == NULL && *ret_is_cut) return 0;
  if (header == NULL || header->cmsg_len < CMSG_LEN(sizeof(int))) return -EPROTO;
  size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  if (count > room) return -EPROTO;
  memcpy(fds, CMSG_DATA(header), count * sizeof(int));
  return (int)count;
}

/* Returns the number of FDS of the job, or -errno. -EMFILE: not all descriptors fit, but the whole
   job was read. */
static int receive_job(int fds[NURSERY_DESCRIPTORS_MAX], struct worker_job *ret) {
  struct nursery_head head;
  char byte;
  bool is_cut = false;
  int all = receive_packet((struct iovec){&head, sizeof head}, fds, 3, &is_cut);
  if (all < 0) return all;
  uint32_t first = head.has_missing != 0 ? 3 : 2;
  if (head.supplement_count > WORKER_SUPPLEMENTS_MAX) return -EPROTO;
  for (uint32_t left = head.supplement_count, part; left > 0; left -= part) {
    part = left < NURSERY_PACKET_DESCRIPTORS ? left : NURSERY_PACKET_DESCRIPTORS;
    int count = receive_packet((struct iovec){&byte, 1}, fds + all, part, &is_cut);
    if (count < 0) return count;
    all += count;
  }
  if (is_cut) {
    for (int i = 0; i < all; i++) close(fds[i]);
    return -EMFILE;
  }
  if ((uint32_t)all != first + head.supplement_count) return -EPROTO;
  *ret = (struct worker_job){.elf = fds[0],
                             .index = fds[1],
                             .missing = head.has_missing != 0 ? &fds[2] : NULL,
                             .depth = head.depth,
                             .supplements = fds + first,
                             .supplement_count = head.supplement_count};
  return all;
}

_Noreturn static void become_worker(const struct worker_job *job, int reply, pid_t nursery) {
  prctl(PR_SET_NAME, "fleetprof-elf");
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != nursery) _exit(1);
  close(NURSERY_SOCKET);
  worker_run(job, reply);
}

static uint64_t cpu_ns_of(pid_t worker) {
  clockid_t clock;
  struct timespec time;
  if (clock_getcpuclockid(worker, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
}

/* Waits for the reply on REPLY_FD. Returns 1 if it arrived, 0 if the worker ended or cannot reply,
   and -1 at END_NS. Exits when the owner has exited. */
static int await_reply_until(uint64_t end_ns, int reply_fd, pid_t worker,
                             struct nursery_result *ret) {
  for (;;) {
    uint64_t now_ns = clock_monotonic_ns();
    int left_ms = now_ns < end_ns ? (int)((end_ns - now_ns) / NS_PER_MS) + 1 : 0;
    struct pollfd sources[] = {{.fd = reply_fd, .events = POLLIN},
                               {.fd = NURSERY_SOCKET, .events = POLLIN}};
    int ready = poll(sources, 2, left_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (sources[1].revents != 0 || ready < 0) {
      kill(worker, SIGKILL);
      _exit(0);
    }
    if (ready == 0) return -1;
    return read(reply_fd, &ret->reply, sizeof ret->reply) == (ssize_t)sizeof ret->reply;
  }
}

/* The same, with further deadlines while the worker makes progress. */
static bool await_reply(int reply_fd, const struct nursery_options *options, pid_t worker,
                        struct nursery_result *ret) {
  uint64_t deadline_ns = options->deadline_ms * NS_PER_MS, end_ns = clock_monotonic_ns();
  uint64_t used_ns = 0;
  for (unsigned i = 0; i < options->deadlines; i++) {
    end_ns += deadline_ns;
    int outcome = await_reply_until(end_ns, reply_fd, worker, ret);
    if (outcome >= 0) return outcome == 1;
    uint64_t now_used_ns = cpu_ns_of(worker);
    if (now_used_ns - used_ns < deadline_ns / CPU_SHARE_MIN) break;
    used_ns = now_used_ns;
  }
  ret->outcome = NURSERY_TIMED_OUT;
  return false;
}

static void bury(pid_t worker, bool has_reply, struct nursery_result *result) {
  int status = 0;
  kill(worker, SIGKILL);
  while (waitpid(worker, &status, 0) < 0 && errno == EINTR) continue;
  if (has_reply || result->outcome == NURSERY_TIMED_OUT) return;
  result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  result->outcome = result->signal == SIGKILL ? NURSERY_KILLED : NURSERY_DIED;
}

static int run_job(const struct worker_job *job, const struct nursery_options *options,
                   struct nursery_result *ret) {
  int reply[2];
  pid_t self = getpid();
  if (pipe2(reply, O_CLOEXEC) != 0) return -errno;
  pid_t worker = fork();
  if (worker == 0) {
    close(reply[0]);
    become_worker(job, reply[1], self);
  }
  int error = worker < 0 ? -errno : 0;
  close(reply[1]);
  if (error == 0) bury(worker, await_reply(reply[0], options, worker, ret), ret);
  close(reply[0]);
  return error;
}

static void close_from(unsigned first) {
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  long end = sysconf(_SC_OPEN_MAX);
  if (end < 0 || end > OPEN_FILES_MAX) end = OPEN_FILES_MAX;
  for (int fd = (int)first; fd < end; fd++) close(fd);
}

/* Signals to the owner's process group must not end this process before the owner. */
static void ignore_signals(void) {
  static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
  sigset_t none;
  for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++) signal(ignored[i], SIG_IGN);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL); /* all were blocked until now */
}

void nursery_serve(const struct nursery_options *options) {
  struct worker_job job;
  int fds[NURSERY_DESCRIPTORS_MAX], count;
  prctl(PR_SET_NAME, "fleetprof-symbo");
  ignore_signals();
  close_from(NURSERY_SOCKET + 1);
  while ((count = receive_job(fds, &job)) > 0 || count == -EMFILE) {
    struct nursery_answer answer;
    memset(&answer, 0, sizeof answer);
    answer.error = count > 0 ? run_job(&job, options, &answer.result) : count;
    for (int i = 0; i < count; i++) close(fds[i]);
    if (send(NURSERY_SOCKET, &answer, sizeof answer, MSG_NOSIGNAL) != sizeof answer) break;
  }
  _exit(0);
}
