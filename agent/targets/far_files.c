/* SPDX-License-Identifier: Apache-2.0 */
/* A process that waits for FUSE or NFS may wait for ever and cannot even be killed. If the worker
   waited, one program's file would stop all sampling. So a child opens, reads and identifies a file
   of that kind. A child that does not answer in time is abandoned; it is killed, which takes effect
   when the wait ends. Its device is not queried again before FAR_SILENCE_MS have passed and the
   child is gone.

   The child first closes all descriptors: it may outlive the daemon, and must then hold neither its
   lock nor its socket. A process for each file is expensive, but only remote files need it. */
#include "far_files.h"

#include "common/clock.h"
#include "proc/mount_info.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OLD_KERNEL_FDS = 4096 /* closed one by one if the kernel has no close_range */ };

static uint64_t now_ms(void) {
  return clock_monotonic_ns() / NS_PER_MS;
}

bool far_files_is_far(struct far_files *files, pid_t pid, uint64_t device) {
  uint64_t now = now_ms();
  for (unsigned i = 0; i < FAR_DEVICES_MAX; i++)
    if (files->devices[i].device == device && now < files->devices[i].until_ms)
      return files->devices[i].is_far;
  bool is_far = mount_info_is_far(pid, device);
  files->devices[files->next] = (struct far_device){device, now + FAR_KNOWN_MS, is_far};
  files->next = (files->next + 1) % FAR_DEVICES_MAX;
  return is_far;
}

static void look_at(const struct far_question *question, struct far_answer *ret) {
  const struct module_wanted wanted = {question->path, question->pid, question->device,
                                       question->inode};
  int fd = module_file_open(&wanted, ret->open_path);
  ret->error = fd < 0 ? fd : module_file_stamp(fd, &ret->stamp);
  if (ret->error == 0) ret->error = module_file_identify(fd, &ret->stamp, &ret->identity);
}

static void close_all_but(int kept) {
  unsigned from = (unsigned)kept + 1;
  if (syscall(SYS_close_range, from, ~0U, 0) < 0)
    for (unsigned fd = from; fd < OLD_KERNEL_FDS; fd++) close((int)fd);
  for (int fd = 0; fd < kept; fd++) close(fd);
}

_Noreturn static void be_child(int socket, const struct far_question *question, far_look *look) {
  struct far_answer answer;
  memset(&answer, 0, sizeof answer);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  close_all_but(socket);
  look(question, &answer);
  send(socket, &answer, sizeof answer, MSG_NOSIGNAL);
  _exit(0);
}

/* Returns a row for a child, or NULL if the device must not be queried. */
static struct far_stall *find_room(struct far_files *files, uint64_t device) {
  struct far_stall *room = NULL;
  for (unsigned i = 0; i < FAR_STALLED_MAX; i++) {
    struct far_stall *stall = &files->stalls[i];
    if (stall->child != 0 && waitpid(stall->child, NULL, WNOHANG) != 0) stall->child = 0;
    bool is_silent = stall->child != 0 || now_ms() < stall->until_ms;
    if (is_silent && stall->device == device) return NULL;
    if (stall->child == 0 && (room == NULL || stall->until_ms < room->until_ms)) room = stall;
  }
  return room;
}

static int wait_answer(int socket, struct far_answer *ret) {
  struct pollfd ready = {.fd = socket, .events = POLLIN};
  uint64_t until = now_ms() + FAR_PATIENCE_MS;
  for (uint64_t now; (now = now_ms()) < until;)
    if (poll(&ready, 1, (int)(until - now)) > 0)
      return recv(socket, ret, sizeof *ret, 0) == (ssize_t)sizeof *ret ? 0 : -EIO;
  return -ETIMEDOUT;
}

int far_files_ask(struct far_files *files, const struct far_question *question, far_look *look,
                  struct far_answer *ret) {
  int pair[2];
  struct far_stall *room = find_room(files, question->device);
  if (room == NULL) return -EBUSY;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) return -errno;
  pid_t child = fork();
  if (child == 0) be_child(pair[1], question, look ? look : look_at);
  int error = child < 0 ? -errno : 0;
  close(pair[1]);
  if (error == 0) error = wait_answer(pair[0], ret);
  close(pair[0]);
  if (child < 0) return error;
  if (error == -ETIMEDOUT) {
    *room = (struct far_stall){child, question->device, now_ms() + FAR_SILENCE_MS};
    kill(child, SIGKILL);
  } else {
    waitpid(child, NULL, 0);
  }
  return error;
}
