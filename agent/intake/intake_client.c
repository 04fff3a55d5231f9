/* SPDX-License-Identifier: Apache-2.0 */
/* A packet is sent and received as a whole, so the client is two system calls with a deadline.  The
   deadline is the socket's own send and receive timeout, shortened after each interruption by a
   signal; there is no poll and no non-blocking mode.

   A unix socket's address has 108 bytes, and a state directory's path may be longer: then the
   directory is opened and the socket is reached through /proc/self/fd/N/NAME.

   A connection that is rejected unread (keeper/porter.c) first gets a reset, on send or receive,
   and the answer after it.

   Answers are read into the caller's struct and are untrusted beyond their size, magic and version;
   strings are cut at the end of their fields.  At most one descriptor is taken from an answer, or
   three with takes_more; further descriptors are closed at once.  This also runs in target
   processes (the preload's constructor): libc only, no allocation. */
#include "intake_client.h"

#include "passed_fds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
  ANSWER_FDS_MAX = 4, /* more than are taken, so that extra ones are seen and closed */
  DIRECTORY_BYTES_MAX = 4096,
};

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Makes the next wait on SOCKET end at DEADLINE_MS.  Returns -ETIMEDOUT if that has passed. */
static int set_timeout(int socket, int option, uint64_t deadline_ms) {
  uint64_t now = now_ms();
  if (now >= deadline_ms) return -ETIMEDOUT;
  uint64_t left = deadline_ms - now;
  struct timeval timeout = {.tv_sec = (time_t)(left / 1000),
                            .tv_usec = (suseconds_t)(left % 1000 * 1000)};
  return setsockopt(socket, SOL_SOCKET, option, &timeout, sizeof timeout) == 0 ? 0 : -errno;
}

/* Maps the error of a failed wait: 0 to try again. */
static int wait_error(int error) {
  if (error == EINTR) return 0;
  return error == EAGAIN || error == EWOULDBLOCK ? -ETIMEDOUT : -error;
}

/* Writes PATH to ADDRESS; a long path goes through its directory, which is then open in
   RET_DIRECTORY (else -1). */
static int fill_address(const char *path, struct sockaddr_un *address, int *ret_directory) {
  *address = (struct sockaddr_un){.sun_family = AF_UNIX};
  *ret_directory = -1;
  size_t len = strlen(path);
  if (len < sizeof address->sun_path) {
    memcpy(address->sun_path, path, len + 1);
    return 0;
  }
  const char *name = strrchr(path, '/');
  if (name == NULL || (size_t)(name - path) >= DIRECTORY_BYTES_MAX) return -ENAMETOOLONG;
  char directory[DIRECTORY_BYTES_MAX];
  memcpy(directory, path, (size_t)(name - path));
  directory[name - path] = '\0';
  int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return -errno;
  int written =
      snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d%s", fd, name);
  if (written < 0 || (size_t)written >= sizeof address->sun_path) {
    close(fd);
    return -ENAMETOOLONG;
  }
  *ret_directory = fd;
  return 0;
}

static int connect_before(int socket, const struct sockaddr_un *address, uint64_t deadline_ms) {
  for (;;) {
    int error = set_timeout(socket, SO_SNDTIMEO, deadline_ms);
    if (error != 0) return error;
    if (connect(socket, (const struct sockaddr *)address, sizeof *address) == 0) return 0;
    error = wait_error(errno);
    if (error != 0) return error;
  }
}

int intake_client_connect(const char *path, uint32_t timeout_ms, int *ret_fd) {
  uint64_t deadline_ms = now_ms() + timeout_ms;
  struct sockaddr_un address;
  int directory;
  int error = fill_address(path, &address, &directory);
  if (error != 0) return error;
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  error = fd < 0 ? -errno : connect_before(fd, &address, deadline_ms);
  if (directory >= 0) close(directory);
  if (error != 0) {
    if (fd >= 0) close(fd);
    return error;
  }
  *ret_fd = fd;
  return 0;
}

void intake_client_request(struct intake_request *request, enum intake_kind kind) {
  memset(request, 0, sizeof *request);
  request->magic = INTAKE_MAGIC;
  request->version = INTAKE_VERSION;
  request->kind = (uint16_t)kind;
}

static int send_request(int socket, const struct intake_call *call, uint64_t deadline_ms) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(INTAKE_FDS_MAX * sizeof(int))];
  } control;
  struct iovec body = {.iov_base = (void *)(uintptr_t)call->request,
                       .iov_len = sizeof *call->request};
  struct msghdr message = {.msg_iov = &body, .msg_iovlen = 1};
  if (call->fd_count > INTAKE_FDS_MAX) return -EOVERFLOW;
  if (call->fd_count > 0) {
    size_t len = call->fd_count * sizeof(int);
    memset(&control, 0, sizeof control);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = (socklen_t)CMSG_LEN(len); /* in musl these two are a socklen_t */
    memcpy(CMSG_DATA(&control.header), call->fds, len);
    message.msg_control = &control;
    message.msg_controllen = (socklen_t)CMSG_SPACE(len);
  }
  for (;;) {
    int error = set_timeout(socket, SO_SNDTIMEO, deadline_ms);
    if (error != 0) return error;
    if (sendmsg(socket, &message, MSG_NOSIGNAL) >= 0) return 0;
    error = wait_error(errno);
    if (error != 0) return error == -EPIPE ? -ECONNRESET : error;
  }
}

/* Takes the descriptors of MESSAGE that CALL accepts. */
static void take_answer_fds(const struct intake_call *call, struct msghdr *message,
                            struct intake_answer *answer) {
  int fds[1 + INTAKE_ANSWER_MORE] = {-1, -1, -1};
  passed_fds_take(message, fds, call->takes_more ? 1 + INTAKE_ANSWER_MORE : 1);
  answer->fd = fds[0];
  memcpy(answer->more, fds + 1, sizeof answer->more);
}

static void close_all(const struct intake_answer *answer) {
  if (answer->fd >= 0) close(answer->fd);
  for (unsigned i = 0; i < INTAKE_ANSWER_MORE; i++)
    if (answer->more[i] >= 0) close(answer->more[i]);
}

static int check_answer(const struct intake_reply *reply, size_t len, int flags) {
  if (len == 0) return -ECONNRESET;
  if (len != sizeof *reply || (flags & MSG_TRUNC) != 0 || reply->magic != INTAKE_MAGIC)
    return -EBADMSG;
  return reply->version == INTAKE_VERSION ? 0 : -EPROTO;
}

static int receive_answer(int socket, const struct intake_call *call, uint64_t deadline_ms,
                          struct intake_answer *answer) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(ANSWER_FDS_MAX * sizeof(int))];
  } control;
  struct iovec body = {.iov_base = &answer->reply, .iov_len = sizeof answer->reply};
  struct msghdr message;
  bool was_reset = false;
  for (;;) {
    message = (struct msghdr){.msg_iov = &body,
                              .msg_iovlen = 1,
                              .msg_control = &control,
                              .msg_controllen = sizeof control};
    int error = set_timeout(socket, SO_RCVTIMEO, deadline_ms);
    if (error != 0) return error;
    ssize_t len = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (len >= 0) {
      take_answer_fds(call, &message, answer);
      return check_answer(&answer->reply, (size_t)len, message.msg_flags);
    }
    if (errno == ECONNRESET && !was_reset) {
      was_reset = true;
      continue;
    }
    error = wait_error(errno);
    if (error != 0) return error;
  }
}

int intake_client_call(int socket, const struct intake_call *call, struct intake_answer *ret) {
  uint64_t deadline_ms = now_ms() + call->timeout_ms;
  struct intake_answer answer = {.fd = -1, .more = {-1, -1}};
  int error = send_request(socket, call, deadline_ms);
  if (error == 0 || error == -ECONNRESET)
    error = receive_answer(socket, call, deadline_ms, &answer);
  if (error != 0) {
    close_all(&answer);
    return error;
  }
  answer.reply.why[sizeof answer.reply.why - 1] = '\0';
  answer.reply.samplers[sizeof answer.reply.samplers - 1] = '\0';
  answer.reply.page_url[sizeof answer.reply.page_url - 1] = '\0';
  *ret = answer;
  return 0;
}
