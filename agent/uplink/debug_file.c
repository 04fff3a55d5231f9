/* SPDX-License-Identifier: Apache-2.0 */
/* The possible paths of a debug file come from a target or the collector.  Any of them may lead to
   a network or FUSE file system that does not answer, where even close() can block for ever.  So a
   child searches the file.  If the file is on a local file system, the child passes its descriptor.
   From any other file system the child reads it, piece by piece on request.

      worker                    child
       | -- fork ------------->  debug_find
       | <-- found, near, fd --  (ends)
       | <-- found, far -------
       | -- offset, length --->  unchanged?  pread
       | <-- bytes ------------

   The worker never blocks on a child: it polls for the answer and drains its rings meanwhile.  A
   list of a kernel's symbols, which the child creates, takes seconds on a slow board.  A late child
   is killed, which takes effect when the kernel permits, and its place is not tried again for a
   while.  The file system of "/" counts as near whatever its type: if it hangs, so does the whole
   board. */
#include "debug_file.h"

#include "common/clock.h"
#include "common/table.h"
#include "elf/other_roots.h"
#include "proc/mount_info.h"
#include "proto/limits.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  OLD_KERNEL_FDS = 4096, /* closed one by one on kernels without close_range */
  READ_WAIT_MS = 1,      /* a near server answers within it */
};

struct found {
  int32_t error;
  bool is_id_content;
  uint64_t size_bytes;
  struct timespec modified;
  char why[128];
};

struct request {
  uint64_t offset;
  uint32_t len;
};

union control {
  struct cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int))];
};

static uint64_t now_ms(void) {
  return clock_monotonic_ns() / NS_PER_MS;
}

static const char no_answer[] = "its file does not answer: a network or FUSE file system hangs";

/* --- The child --- */

static void close_all_but(int kept) {
  unsigned from = (unsigned)kept + 1;
  if (syscall(SYS_close_range, from, ~0U, 0) < 0)
    for (unsigned fd = from; fd < OLD_KERNEL_FDS; fd++) close((int)fd);
  for (int fd = 0; fd < kept; fd++) close(fd);
}

/* The process of the root in OPEN_PATH; 0: none. */
static pid_t pid_of(const char *open_path) {
  static const char proc[] = "/proc/";
  if (strncmp(open_path, proc, sizeof proc - 1) != 0) return 0;
  return (pid_t)strtol(open_path + sizeof proc - 1, NULL, 10);
}

static bool is_far(const struct debug_module *module, const struct stat *status) {
  struct stat root;
  if (stat("/", &root) == 0 && root.st_dev == status->st_dev) return false;
  uint64_t device = mount_info_device(major(status->st_dev), minor(status->st_dev));
  pid_t pid = pid_of(module->open_path);
  return mount_info_is_far(0, device) || (pid > 0 && mount_info_is_far(pid, device));
}

static void send_found(int socket, const struct found *found, int fd) {
  union control control = {.bytes = {0}};
  struct iovec piece = {(void *)(uintptr_t)found, sizeof *found};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
  if (fd >= 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    *head = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
  }
  sendmsg(socket, &message, MSG_NOSIGNAL);
}

static bool is_same(int fd, uint64_t size_bytes, const struct timespec *modified) {
  struct stat status;
  return fstat(fd, &status) == 0 && (uint64_t)status.st_size == size_bytes &&
         status.st_mtim.tv_sec == modified->tv_sec && status.st_mtim.tv_nsec == modified->tv_nsec;
}

/* Serves read requests until the other end is closed. */
static void serve(int socket, int fd, const struct found *found) {
  static uint8_t bytes[sizeof(int32_t) + DEBUG_FILE_READ_BYTES];
  struct request request;
  while (recv(socket, &request, sizeof request, 0) == (ssize_t)sizeof request) {
    int32_t error = is_same(fd, found->size_bytes, &found->modified) ? 0 : -ESTALE;
    size_t len = request.len < DEBUG_FILE_READ_BYTES ? request.len : DEBUG_FILE_READ_BYTES;
    ssize_t got = error ? 0 : pread(fd, bytes + sizeof error, len, (off_t)request.offset);
    if (got < 0) error = -errno;
    memcpy(bytes, &error, sizeof error);
    send(socket, bytes, sizeof error + (got > 0 ? (size_t)got : 0), MSG_NOSIGNAL);
  }
}

/* Searches in the mount namespaces of other processes: the process of MODULE, or its daemon, may
   have ended. */
static int find_elsewhere(const struct debug_module *module, struct debug_found *ret) {
  char path[LIMIT_PATH_BYTES + 32], why[sizeof((struct found *)0)->why];
  struct debug_module there = {.id = module->id, .path = module->path, .open_path = path};
  struct other_roots roots = {.count = 0};
  int error = -ENOENT;
  if (module->path[0] == '/') other_roots_find(&roots);
  for (unsigned i = 0; i < roots.count && error != 0; i++) {
    snprintf(path, sizeof path, "/proc/%d/root%s", (int)roots.pids[i], module->path);
    if (access(path, R_OK) == 0) error = debug_find(&there, ret, why, sizeof why);
  }
  return error;
}

_Noreturn static void be_child(int socket, const struct debug_module *module) {
  struct found found = {.error = 0};
  struct debug_found file = {.fd = -1};
  struct stat status;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  close_all_but(socket);
  found.error = debug_find(module, &file, found.why, sizeof found.why);
  if (found.error == -ENOENT && find_elsewhere(module, &file) == 0) found.error = 0;
  if (found.error == 0 && fstat(file.fd, &status) < 0) found.error = -errno;
  if (found.error != 0) {
    send_found(socket, &found, -1);
    _exit(0);
  }
  found.is_id_content = file.is_id_content;
  found.size_bytes = file.size_bytes;
  found.modified = status.st_mtim;
  bool must_read = is_far(module, &status);
  send_found(socket, &found, must_read ? -1 : file.fd);
  if (must_read) serve(socket, file.fd, &found);
  _exit(0);
}

/* --- The worker --- */

void debug_children_reap(struct debug_children *children) {
  for (unsigned i = 0; i < DEBUG_FILE_CHILDREN_MAX; i++) {
    struct debug_child *child = &children->rows[i];
    if (child->pid != 0 && waitpid(child->pid, NULL, WNOHANG) != 0) child->pid = 0;
  }
}

/* A free row; NULL if PLACE, or too many places, have not answered. */
static struct debug_child *find_row(struct debug_children *children, uint64_t place) {
  struct debug_child *row = NULL;
  debug_children_reap(children);
  for (unsigned i = 0; i < DEBUG_FILE_CHILDREN_MAX; i++) {
    struct debug_child *child = &children->rows[i];
    if (child->place == place && now_ms() < child->until_ms) return NULL;
    bool is_free = child->pid == 0 && !child->is_awaited;
    if (is_free && (row == NULL || child->until_ms < row->until_ms)) row = child;
  }
  return row;
}

static int start_child(const struct debug_module *module, struct debug_child *row, int *ret) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) return -errno;
  pid_t pid = fork();
  if (pid == 0) be_child(pair[1], module);
  int error = pid < 0 ? -errno : 0;
  close(pair[1]);
  if (error)
    close(pair[0]);
  else
    *ret = pair[0];
  row->pid = pid > 0 ? pid : 0;
  return error;
}

int debug_file_find(struct debug_children *children, const struct debug_module *module,
                    struct debug_file *ret, char *why, size_t why_len) {
  struct debug_file file = {.fd = -1, .socket = -1};
  uint64_t place = table_hash(module->path, strlen(module->path), 0);
  file.row = find_row(children, place);
  if (file.row == NULL) {
    snprintf(why, why_len, "%s", no_answer);
    return -EBUSY;
  }
  int error = start_child(module, file.row, &file.socket);
  if (error) {
    snprintf(why, why_len, "its file does not read: %s", strerror(-error));
    return error;
  }
  file.row->place = place;
  file.row->until_ms = 0;
  file.row->is_awaited = true;
  file.until_ms = now_ms() + DEBUG_FILE_PATIENCE_MS;
  *ret = file;
  return 0;
}

/* Returns -EINPROGRESS if there is no answer yet. */
static int receive_found(struct debug_file *file, struct found *ret) {
  union control control;
  struct iovec piece = {ret, sizeof *ret};
  struct msghdr message = {.msg_iov = &piece,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  ssize_t got = recvmsg(file->socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return -EINPROGRESS;
  if (got != (ssize_t)sizeof *ret) return -EIO;
  const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  if (head != NULL && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof file->fd))
    memcpy(&file->fd, CMSG_DATA(head), sizeof file->fd);
  return 0;
}

static void take_found(struct debug_file *file, const struct found *found) {
  file->row->is_awaited = false;
  file->row = NULL;
  file->until_ms = 0;
  file->size_bytes = found->size_bytes;
  file->modified = found->modified;
  file->is_id_content = found->is_id_content;
  if (file->fd < 0) return;
  close(file->socket); /* not used for reading */
  file->socket = -1;
}

int debug_file_look(struct debug_file *file, char *why, size_t why_len) {
  struct found found;
  if (file->row == NULL) return 0;
  int error = receive_found(file, &found);
  if (error == 0 && found.error == 0) {
    take_found(file, &found);
    return 0;
  }
  if (error == -EINPROGRESS && now_ms() < file->until_ms) return error;
  if (error == 0) {
    error = found.error;
    snprintf(why, why_len, "%.*s", (int)sizeof found.why, found.why);
  } else if (error == -EINPROGRESS) {
    error = -ETIMEDOUT;
    file->row->until_ms = now_ms() + DEBUG_FILE_SILENCE_MS;
    snprintf(why, why_len, "%s", no_answer);
  } else {
    snprintf(why, why_len, "its file does not read: %s", strerror(-error));
  }
  debug_file_close(file);
  return error;
}

void debug_file_close(struct debug_file *file) {
  if (file->row != NULL) {
    if (file->row->pid != 0) kill(file->row->pid, SIGKILL);
    file->row->is_awaited = false;
    file->row = NULL;
  }
  if (file->fd >= 0) close(file->fd);
  if (file->socket >= 0) close(file->socket); /* the reader then exits */
  file->fd = file->socket = -1;
}

int debug_file_check(const struct debug_file *file) {
  if (file->fd < 0) return 0; /* checked with each piece that is read */
  return is_same(file->fd, file->size_bytes, &file->modified) ? 0 : -ESTALE;
}

/* Sends the request once, then only waits for its answer. */
static int ask(struct debug_file *file, uint64_t offset, uint32_t len) {
  struct request request = {offset, len};
  struct pollfd ready = {.fd = file->socket, .events = POLLIN};
  if (file->until_ms == 0) {
    if (send(file->socket, &request, sizeof request, MSG_NOSIGNAL) != (ssize_t)sizeof request)
      return -EIO;
    file->until_ms = now_ms() + DEBUG_FILE_PATIENCE_MS;
  }
  if (poll(&ready, 1, READ_WAIT_MS) > 0) return 0;
  return now_ms() < file->until_ms ? -EINPROGRESS : -ETIMEDOUT;
}

static ssize_t read_far(struct debug_file *file, uint64_t offset, void *bytes, size_t len) {
  uint32_t most = len < DEBUG_FILE_READ_BYTES ? (uint32_t)len : DEBUG_FILE_READ_BYTES;
  int32_t error = ask(file, offset, most);
  if (error) return error;
  struct iovec pieces[2] = {{&error, sizeof error}, {bytes, most}};
  struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
  file->until_ms = 0;
  ssize_t got = recvmsg(file->socket, &message, 0);
  if (got < (ssize_t)sizeof error) return -EIO;
  return error != 0 ? error : got - (ssize_t)sizeof error;
}

ssize_t debug_file_read(struct debug_file *file, uint64_t offset, void *bytes, size_t len) {
  if (file->fd < 0) return read_far(file, offset, bytes, len);
  ssize_t got = pread(file->fd, bytes, len, (off_t)offset);
  return got < 0 ? -errno : got;
}
