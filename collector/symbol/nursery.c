/* SPDX-License-Identifier: Apache-2.0 */
/* Forks from a process that is small and has one thread, on behalf of one that is big and has many.

     collector ---- socket: ELF, index, supplements --->  nursery  -- fork -->  worker
               <--- what became of it ----------------           <-- reply pipe --

   The nursery is forked before the collector has threads or secrets, so a worker inherits neither.
   It parses nothing.  It watches one worker, ends it at the deadline or when the collector is gone,
   and always before it answers, so that nobody writes to an index that is about to be trusted.

   Should the nursery die (somebody killed it, or memory ran out), the next job forks another one,
   now from a process with threads.  The child then makes only system calls until it forks workers,
   and both glibc and musl keep malloc usable in such a child; what is lost is the small image.

   The nursery ends when the collector's end of the socket is closed, however the collector ended.
   Signals meant for the collector's process group do not end it before that. */
#include "nursery.h"

#include "common/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  NURSERY_SOCKET = 3,   /* its only descriptor between jobs, apart from three /dev/null */
  WAITERS_MAX = 256,    /* threads that wait for their turn */
  TURN_MS_MAX = 60000,  /* how long each waits */
  ANSWER_MS_MAX = 5000, /* how long the nursery may take beyond the worker's deadline */
  OPEN_FILES_MAX = 65536,
  LOW_PRIORITY = 10, /* a tenth of the CPU time of who is as busy */
};

struct nursery {
  pthread_mutex_t lock;
  pthread_cond_t turn;
  bool is_busy;
  bool is_cancelled;
  bool is_low; /* its workers give way to everybody else */
  unsigned waiters;
  unsigned deadline_ms;
  int socket; /* -1: none runs */
  pid_t pid;
};

struct answer {
  int32_t error;
  struct nursery_result result;
};

enum { DESCRIPTORS_MAX = 2 + WORKER_SUPPLEMENTS_MAX };

/* A job's descriptors come and go as such: the file, its index, the supplements. */
union descriptors {
  char bytes[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
  struct cmsghdr align;
};

/* ---- in the nursery ---- */

static int receive_job(int socket, int fds[DESCRIPTORS_MAX], struct worker_job *ret) {
  uint8_t depth;
  union descriptors control;
  struct iovec part = {&depth, 1};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  ssize_t len;
  do len = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (len < 0 && errno == EINTR);
  if (len != 1) return -EPIPE;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header == NULL || header->cmsg_len < CMSG_LEN(2 * sizeof(int))) return -EPROTO;
  size_t bytes = header->cmsg_len - CMSG_LEN(0);
  if (bytes > DESCRIPTORS_MAX * sizeof(int)) return -EPROTO;
  memcpy(fds, CMSG_DATA(header), bytes);
  *ret = (struct worker_job){.elf = fds[0],
                             .index = fds[1],
                             .depth = depth,
                             .supplements = fds + 2,
                             .supplement_count = (uint32_t)(bytes / sizeof(int)) - 2};
  return 0;
}

_Noreturn static void become_worker(const struct worker_job *job, int reply, pid_t nursery) {
  prctl(PR_SET_NAME, "fleetprof-elf");
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != nursery) _exit(1);
  close(NURSERY_SOCKET);
  worker_run(job, reply);
}

/* Waits for the reply on REPLY_FD.  Returns false when the worker is not to be waited for longer;
   ends with the collector. */
static bool await_reply(int reply_fd, unsigned deadline_ms, pid_t worker,
                        struct nursery_result *ret) {
  uint64_t end_ns = clock_monotonic_ns() + deadline_ms * NS_PER_MS;
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
    if (ready == 0) {
      ret->outcome = NURSERY_TIMED_OUT;
      return false;
    }
    return read(reply_fd, &ret->reply, sizeof ret->reply) == (ssize_t)sizeof ret->reply;
  }
}

static void bury(pid_t worker, bool has_reply, struct nursery_result *result) {
  int status = 0;
  kill(worker, SIGKILL);
  while (waitpid(worker, &status, 0) < 0 && errno == EINTR) continue;
  if (has_reply || result->outcome == NURSERY_TIMED_OUT) return;
  result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  result->outcome = result->signal == SIGKILL ? NURSERY_KILLED : NURSERY_DIED;
}

static int run_job(const struct worker_job *job, unsigned deadline_ms, struct nursery_result *ret) {
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
  if (error == 0) bury(worker, await_reply(reply[0], deadline_ms, worker, ret), ret);
  close(reply[0]);
  return error;
}

_Noreturn static void serve(unsigned deadline_ms) {
  struct worker_job job;
  int fds[DESCRIPTORS_MAX];
  while (receive_job(NURSERY_SOCKET, fds, &job) == 0) {
    struct answer answer;
    memset(&answer, 0, sizeof answer);
    answer.error = run_job(&job, deadline_ms, &answer.result);
    for (uint32_t i = 0; i < 2 + job.supplement_count; i++) close(fds[i]);
    if (send(NURSERY_SOCKET, &answer, sizeof answer, MSG_NOSIGNAL) != sizeof answer) break;
  }
  _exit(0);
}

static void close_from(unsigned first) {
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  long end = sysconf(_SC_OPEN_MAX);
  if (end < 0 || end > OPEN_FILES_MAX) end = OPEN_FILES_MAX;
  for (int fd = (int)first; fd < end; fd++) close(fd);
}

/* Leaves behind what came with the fork: signals, descriptors. */
static void detach(int socket) {
  sigset_t none;
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
  for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++) signal(ignored[i], SIG_IGN);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  int socket_copy = fcntl(socket, F_DUPFD, NURSERY_SOCKET + 1); /* out of the way of 0 to 3 */
  if (socket_copy < 0 || dup2(socket_copy, NURSERY_SOCKET) < 0) _exit(1);
  int nothing = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < NURSERY_SOCKET; fd++)
    if (nothing >= 0) dup2(nothing, fd);
  close_from(NURSERY_SOCKET + 1);
}

/* ---- in the collector ---- */

static int start(struct nursery *nursery) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -errno;
  pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_NAME, "fleetprof-fork");
    if (nursery->is_low) setpriority(PRIO_PROCESS, 0, LOW_PRIORITY);
    detach(ends[1]);
    serve(nursery->deadline_ms);
  }
  int error = pid < 0 ? -errno : 0;
  close(ends[1]);
  pthread_mutex_lock(&nursery->lock);
  if (error == 0 && nursery->is_cancelled) error = -ECANCELED;
  if (error == 0) nursery->socket = ends[0];
  pthread_mutex_unlock(&nursery->lock);
  if (error != 0) {
    close(ends[0]); /* which ends it */
    if (pid > 0)
      while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
    return error;
  }
  nursery->pid = pid;
  return 0;
}

static void stop(struct nursery *nursery) {
  if (nursery->socket < 0) return;
  pthread_mutex_lock(&nursery->lock);
  close(nursery->socket);
  nursery->socket = -1;
  pthread_mutex_unlock(&nursery->lock);
  kill(nursery->pid, SIGKILL);
  while (waitpid(nursery->pid, NULL, 0) < 0 && errno == EINTR) continue;
}

static int open_nursery(unsigned deadline_ms, bool is_low, struct nursery **ret) {
  struct nursery *nursery = calloc(1, sizeof *nursery);
  if (nursery == NULL) return -ENOMEM;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&nursery->turn, &monotonic);
  pthread_condattr_destroy(&monotonic);
  pthread_mutex_init(&nursery->lock, NULL);
  nursery->deadline_ms = deadline_ms;
  nursery->is_low = is_low;
  nursery->socket = -1;
  int error = start(nursery);
  if (error != 0) {
    nursery_close(nursery);
    return error;
  }
  *ret = nursery;
  return 0;
}

int nursery_open(unsigned deadline_ms, struct nursery **ret) {
  return open_nursery(deadline_ms, false, ret);
}

int nursery_open_low(unsigned deadline_ms, struct nursery **ret) {
  return open_nursery(deadline_ms, true, ret);
}

void nursery_cancel(struct nursery *nursery) {
  pthread_mutex_lock(&nursery->lock);
  nursery->is_cancelled = true;
  if (nursery->socket >= 0) shutdown(nursery->socket, SHUT_RDWR);
  pthread_mutex_unlock(&nursery->lock);
}

void nursery_close(struct nursery *nursery) {
  if (nursery == NULL) return;
  stop(nursery);
  pthread_cond_destroy(&nursery->turn);
  pthread_mutex_destroy(&nursery->lock);
  free(nursery);
}

static int take_turn(struct nursery *nursery) {
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += TURN_MS_MAX / 1000;
  int error = 0;
  pthread_mutex_lock(&nursery->lock);
  if (nursery->waiters >= WAITERS_MAX) {
    error = -EBUSY;
  } else {
    nursery->waiters++;
    while (nursery->is_busy && error == 0)
      error = -pthread_cond_timedwait(&nursery->turn, &nursery->lock, &end);
    nursery->waiters--;
    if (!nursery->is_busy) error = 0;
    if (error == 0) nursery->is_busy = true;
  }
  pthread_mutex_unlock(&nursery->lock);
  return error;
}

/* Returns 0, or -ECANCELED. */
static int give_turn(struct nursery *nursery) {
  pthread_mutex_lock(&nursery->lock);
  int error = nursery->is_cancelled ? -ECANCELED : 0;
  nursery->is_busy = false;
  pthread_cond_signal(&nursery->turn);
  pthread_mutex_unlock(&nursery->lock);
  return error;
}

static int send_job(int socket, const struct worker_job *job) {
  uint8_t depth = (uint8_t)job->depth;
  size_t more = job->supplement_count * sizeof(int);
  union descriptors control;
  memset(&control, 0, sizeof control);
  struct iovec part = {&depth, 1};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = CMSG_SPACE(2 * sizeof(int) + more)};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(2 * sizeof(int) + more);
  memcpy(CMSG_DATA(header), (int[]){job->elf, job->index}, 2 * sizeof(int));
  if (more > 0) memcpy(CMSG_DATA(header) + 2 * sizeof(int), job->supplements, more);
  return sendmsg(socket, &message, MSG_NOSIGNAL) == 1 ? 0 : -EPIPE;
}

static int receive_answer(int socket, unsigned deadline_ms, struct answer *ret) {
  uint64_t end_ns = clock_monotonic_ns() + (deadline_ms + ANSWER_MS_MAX) * NS_PER_MS;
  struct pollfd source = {.fd = socket, .events = POLLIN};
  for (;;) {
    uint64_t now_ns = clock_monotonic_ns();
    int left_ms = now_ns < end_ns ? (int)((end_ns - now_ns) / NS_PER_MS) + 1 : 0;
    int ready = poll(&source, 1, left_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return -ETIMEDOUT;
    return recv(socket, ret, sizeof *ret, 0) == (ssize_t)sizeof *ret ? 0 : -EPIPE;
  }
}

/* A reply from a process that may have been taken over: lengths within bounds, text ended. */
static void check_reply(struct nursery_result *result) {
  struct worker_reply *reply = &result->reply;
  if (result->outcome != NURSERY_REPLIED) return;
  if (reply->magic != WORKER_MAGIC || reply->build_id_len > sizeof reply->build_id ||
      reply->alternate_id_len > sizeof reply->alternate_id)
    result->outcome = NURSERY_DIED;
  reply->reason[sizeof reply->reason - 1] = '\0';
  for (char *at = reply->reason; *at != '\0'; at++)
    if (*at < 0x20 || *at > 0x7e) *at = '?';
}

static int run_in_turn(struct nursery *nursery, const struct worker_job *job,
                       struct answer *answer) {
  int error = 0;
  if (nursery->socket < 0) error = start(nursery);
  if (error == 0 && send_job(nursery->socket, job) != 0) { /* it died in between */
    stop(nursery);
    error = start(nursery);
    if (error == 0) error = send_job(nursery->socket, job);
  }
  if (error == 0 && receive_answer(nursery->socket, nursery->deadline_ms, answer) != 0) {
    stop(nursery);
    memset(answer, 0, sizeof *answer);
    answer->result.outcome = NURSERY_KILLED;
  }
  return error;
}

int nursery_run(struct nursery *nursery, const struct worker_job *job, struct nursery_result *ret) {
  struct answer answer;
  if (job->supplement_count > WORKER_SUPPLEMENTS_MAX) return -EINVAL;
  memset(&answer, 0, sizeof answer);
  int error = take_turn(nursery);
  if (error != 0) return error;
  error = run_in_turn(nursery, job, &answer);
  int cancelled = give_turn(nursery);
  if (cancelled != 0) error = cancelled;
  if (error == 0) error = answer.error;
  if (error != 0) return error;
  check_reply(&answer.result);
  *ret = answer.result;
  return 0;
}
