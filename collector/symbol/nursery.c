/* SPDX-License-Identifier: Apache-2.0 */
/* Runs fleetprof-symbols, the fork server for workers that parse untrusted files. It forks from a
   small process with one thread and no secrets. The collector is large, has many threads and holds
   keys.

     collector ---- socket: ELF, index, supplements --->  nursery  -- fork -->  worker
               <--- result ----------------------------           <-- reply pipe --

   It is a separate program (symbol/main.c): a compromised worker finds neither the collector's
   memory nor a descriptor beyond those of its job. Its workers have a low priority, since queries
   and boards' batches take precedence over untrusted files.

   If the nursery dies (killed, or out of memory), the next job starts another. It exits when the
   collector's end of the socket is closed, however the collector ended. Signals to the collector's
   process group do not end it earlier. */
#include "nursery.h"

#include "common/clock.h"
#include "common/monotonic_cond.h"
#include "nursery_wire.h"
#include "reader_path.h"
#include "stall_list.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  WAITERS_MAX = 256,    /* threads that wait for their turn */
  TURN_MS_MAX = 60000,  /* how long each thread waits */
  ANSWER_MS_MAX = 5000, /* how long the nursery may take beyond the worker's deadlines */
};

struct nursery {
  pthread_mutex_t lock;
  pthread_cond_t turn;
  bool is_busy;
  bool is_cancelled;
  unsigned waiters;
  struct nursery_options options;
  int program; /* an open descriptor */
  int socket;  /* -1: not running */
  pid_t pid;
  struct stall_list stalls; /* accessed only during a turn */
};

/* Starts the program with SOCKET as NURSERY_SOCKET. All signals are blocked until it has set their
 * dispositions. It inherits only LD_LIBRARY_PATH of the environment. */
static int spawn(const struct nursery *nursery, int socket, pid_t *ret) {
  char path[32], deadline[16], deadlines[16], niceness[16], libraries[PATH_MAX] = "";
  const char *from = getenv("LD_LIBRARY_PATH");
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t all;
  snprintf(path, sizeof path, "/proc/self/fd/%d", nursery->program);
  snprintf(deadline, sizeof deadline, "%u", nursery->options.deadline_ms);
  snprintf(deadlines, sizeof deadlines, "%u", nursery->options.deadlines);
  snprintf(niceness, sizeof niceness, "%d", nursery->options.niceness);
  if (from != NULL) snprintf(libraries, sizeof libraries, "LD_LIBRARY_PATH=%s", from);
  char name[] = "fleetprof-symbols";
  char *const words[] = {name, deadline, deadlines, niceness, NULL};
  char *const environment[] = {from != NULL ? libraries : NULL, NULL};
  sigfillset(&all);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &all);
  posix_spawn_file_actions_init(&actions);
  int error = posix_spawn_file_actions_adddup2(&actions, socket, NURSERY_SOCKET);
  for (int fd = 0; fd < NURSERY_SOCKET && error == 0; fd++)
    error = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  if (error == 0) error = posix_spawn(ret, path, &actions, &attributes, words, environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return -error;
}

static int start(struct nursery *nursery) {
  int ends[2];
  pid_t pid = 0;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -errno;
  int error = spawn(nursery, ends[1], &pid);
  close(ends[1]);
  pthread_mutex_lock(&nursery->lock);
  if (error == 0 && nursery->is_cancelled) error = -ECANCELED;
  if (error == 0) nursery->socket = ends[0];
  pthread_mutex_unlock(&nursery->lock);
  if (error != 0) {
    close(ends[0]); /* ends the program */
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

int nursery_open(const struct nursery_options *options, struct nursery **ret) {
  if (options->deadlines > NURSERY_DEADLINES_MAX || options->niceness < 0) return -EINVAL;
  struct nursery *nursery = calloc(1, sizeof *nursery);
  if (nursery == NULL) return -ENOMEM;
  monotonic_cond_init(&nursery->turn);
  pthread_mutex_init(&nursery->lock, NULL);
  nursery->options = *options;
  nursery->socket = -1;
  nursery->program = reader_path_open();
  int error = nursery->program < 0 ? nursery->program : start(nursery);
  if (error != 0) {
    nursery_close(nursery);
    return error;
  }
  *ret = nursery;
  return 0;
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
  if (nursery->program >= 0) close(nursery->program);
  pthread_cond_destroy(&nursery->turn);
  pthread_mutex_destroy(&nursery->lock);
  free(nursery);
}

static int take_turn(struct nursery *nursery) {
  struct timespec end = monotonic_from_now(TURN_MS_MAX);
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

/* Sends LEN BYTES with COUNT descriptors. */
static int send_packet(int socket, const void *bytes, size_t len, const int *fds, size_t count) {
  union nursery_descriptors control;
  memset(&control, 0, sizeof control);
  struct iovec part = {(void *)(uintptr_t)bytes, len};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = CMSG_SPACE(count * sizeof *fds)};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(count * sizeof *fds);
  memcpy(CMSG_DATA(header), fds, count * sizeof *fds);
  return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)len ? 0 : -EPIPE;
}

static int send_job(int socket, const struct worker_job *job) {
  const struct nursery_head head = {.depth = job->depth,
                                    .supplement_count = job->supplement_count,
                                    .has_missing = job->missing != NULL};
  const int fds[] = {job->elf, job->index, job->missing != NULL ? *job->missing : -1};
  int error = send_packet(socket, &head, sizeof head, fds, job->missing != NULL ? 3 : 2);
  for (uint32_t at = 0; error == 0 && at < job->supplement_count;) {
    uint32_t count = job->supplement_count - at;
    if (count > NURSERY_PACKET_DESCRIPTORS) count = NURSERY_PACKET_DESCRIPTORS;
    error = send_packet(socket, "", 1, job->supplements + at, count);
    at += count;
  }
  return error;
}

static int receive_answer(int socket, const struct nursery_options *options,
                          struct nursery_answer *ret) {
  uint64_t patience_ms = (uint64_t)options->deadline_ms * options->deadlines + ANSWER_MS_MAX;
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

/* Checks a reply from a process that may be compromised: lengths within bounds, text terminated. */
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
  if (error == 0 && send_job(nursery->socket, job) != 0) { /* it died since the last job */
    stop(nursery);
    error = start(nursery);
    if (error == 0) error = send_job(nursery->socket, job);
  }
  if (error == 0 && receive_answer(nursery->socket, &nursery->options, answer) != 0) {
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
