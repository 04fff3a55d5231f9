/* SPDX-License-Identifier: Apache-2.0 */
/* Forks from a process that is small and has one thread, on behalf of one that is big and has many.

     collector ---- socket: ELF, index, supplements --->  nursery  -- fork -->  worker
               <--- what became of it ----------------           <-- reply pipe --

   The nursery is forked before the collector has threads or secrets, so a worker inherits neither.
   Its workers have a low priority, since answers and boards' batches go before strangers' files.

   Should the nursery die (somebody killed it, or memory ran out), the next job forks another one,
   now from a process with threads.  The child then makes only system calls until it forks workers,
   and both glibc and musl keep malloc usable in such a child; what is lost is the small image.

   The nursery ends when the collector's end of the socket is closed, however the collector ended.
   Signals meant for the collector's process group do not end it before that. */
#include "nursery.h"

#include "common/clock.h"
#include "nursery_server.h"
#include "nursery_wire.h"
#include "stall_list.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  WAITERS_MAX = 256,    /* threads that wait for their turn */
  TURN_MS_MAX = 60000,  /* how long each waits */
  ANSWER_MS_MAX = 5000, /* how long the nursery may take beyond the worker's deadlines */
  NICENESS = 10,        /* workers have a tenth of the CPU time of who is as busy */
  LOW_NICENESS = 15,    /* a thirtieth */
};

struct nursery {
  pthread_mutex_t lock;
  pthread_cond_t turn;
  bool is_busy;
  bool is_cancelled;
  int niceness; /* of its workers, beyond our own */
  unsigned waiters;
  unsigned deadline_ms;
  int socket; /* -1: none runs */
  pid_t pid;
  struct stall_list stalls; /* of who has the turn */
};

static int start(struct nursery *nursery) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -errno;
  pid_t pid = fork();
  if (pid == 0) {
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + nursery->niceness);
    nursery_serve(ends[1], nursery->deadline_ms);
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

static int open_nursery(unsigned deadline_ms, int niceness, struct nursery **ret) {
  struct nursery *nursery = calloc(1, sizeof *nursery);
  if (nursery == NULL) return -ENOMEM;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&nursery->turn, &monotonic);
  pthread_condattr_destroy(&monotonic);
  pthread_mutex_init(&nursery->lock, NULL);
  nursery->deadline_ms = deadline_ms;
  nursery->niceness = niceness;
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
  return open_nursery(deadline_ms, NICENESS, ret);
}

int nursery_open_low(unsigned deadline_ms, struct nursery **ret) {
  return open_nursery(deadline_ms, LOW_NICENESS, ret);
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
  union nursery_descriptors control;
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

static int receive_answer(int socket, unsigned deadline_ms, struct nursery_answer *ret) {
  uint64_t patience_ms = (uint64_t)deadline_ms * NURSERY_DEADLINES_MAX + ANSWER_MS_MAX;
  uint64_t end_ns = clock_monotonic_ns() + patience_ms * NS_PER_MS;
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
                       struct nursery_answer *answer) {
  int error = 0;
  if (stall_list_is_hopeless(&nursery->stalls, job->key)) {
    answer->result.outcome = NURSERY_GIVEN_UP;
    return 0;
  }
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
  if (error == 0 && answer->error == 0 && answer->result.outcome == NURSERY_TIMED_OUT)
    stall_list_add(&nursery->stalls, job->key);
  return error;
}

int nursery_run(struct nursery *nursery, const struct worker_job *job, struct nursery_result *ret) {
  struct nursery_answer answer;
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
