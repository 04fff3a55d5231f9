/* SPDX-License-Identifier: Apache-2.0 */
/* Each request uses a new connection, so a daemon that restarts between two requests causes no
   error.  The status is passed as a memory file: a packet has a fixed size, and a status has
   not. */
#include "daemon_call.h"
#include "common/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  CONNECT_MS = 1000,
  BUSY_PAUSE_MS = 20,          /* between retries */
  STATUS_BYTES_MAX = 16 << 20, /* 1024 targets need 1/50 of it */
};

/* The pid of the listener: the supervisor, whichever worker answers. */
static int32_t find_peer(int fd) {
  struct ucred peer = {0};
  socklen_t len = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 ? peer.pid : 0;
}

static int call_once(const char *socket, const struct intake_call *call,
                     struct intake_answer *ret) {
  int fd;
  uint64_t begin_ns = clock_monotonic_ns();
  uint32_t patience_ms = call->timeout_ms < CONNECT_MS ? call->timeout_ms : CONNECT_MS;
  int error = intake_client_connect(socket, patience_ms, &fd);
  if (error != 0) return error;
  uint64_t spent_ms = (clock_monotonic_ns() - begin_ns) / NS_PER_MS;
  struct intake_call rest = *call;
  rest.timeout_ms -= spent_ms < rest.timeout_ms ? (uint32_t)spent_ms : rest.timeout_ms;
  error = intake_client_call(fd, &rest, ret);
  if (error == 0) ret->daemon = find_peer(fd);
  close(fd);
  return error;
}

/* While the worker hangs, the daemon answers INTAKE_BUSY so that starting programs do not wait.
   Interactive requests retry until their timeout. */
int daemon_call(const char *socket, const struct intake_call *call, struct intake_answer *ret) {
  static const struct timespec pause = {.tv_nsec = BUSY_PAUSE_MS * NS_PER_MS};
  uint64_t end_ns = clock_monotonic_ns() + call->timeout_ms * NS_PER_MS;
  struct intake_call rest = *call;
  for (;;) {
    uint64_t now_ns = clock_monotonic_ns();
    if (now_ns >= end_ns) return -ETIMEDOUT;
    rest.timeout_ms = (uint32_t)((end_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS);
    int error = call_once(socket, &rest, ret);
    if (error != 0 || ret->reply.kind != INTAKE_BUSY) return error;
    if (ret->fd >= 0) close(ret->fd);
    nanosleep(&pause, NULL);
  }
}

static int read_text(int fd, char **ret_text) {
  struct stat found;
  if (fstat(fd, &found) != 0) return -errno;
  if (found.st_size < 0 || found.st_size > STATUS_BYTES_MAX) return -EOVERFLOW;
  size_t size = (size_t)found.st_size, len = 0;
  char *text = malloc(size + 1);
  if (text == NULL) return -ENOMEM;
  while (len < size) {
    ssize_t got = pread(fd, text + len, size - len, (off_t)len);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    len += (size_t)got;
  }
  text[len] = '\0';
  *ret_text = text;
  return 0;
}

int daemon_call_status(const char *socket, uint32_t timeout_ms, char **ret_json) {
  struct intake_request request;
  struct intake_answer answer;
  intake_client_request(&request, INTAKE_STATUS);
  struct intake_call call = {.request = &request, .timeout_ms = timeout_ms};
  int error = daemon_call(socket, &call, &answer);
  if (error != 0) return error;
  if (answer.reply.kind == INTAKE_TEXT && answer.fd >= 0)
    error = read_text(answer.fd, ret_json);
  else
    error = answer.reply.kind == INTAKE_REFUSED ? -EACCES : -EBADMSG;
  if (answer.fd >= 0) close(answer.fd);
  return error;
}
