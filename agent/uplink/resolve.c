/* SPDX-License-Identifier: Apache-2.0 */
/* Resolving a name may take half a minute, and no libc function does it without blocking.  Numeric
   addresses, which most boards use, are parsed at once.  For names a short-lived child process does
   the look-up and writes the answer into a pipe.  A child can be killed at its deadline whatever
   the name service plug-ins do, and needs no thread stack in the daemon's memory.  Bugs of
   plug-ins, which are loaded from the board's libc, affect only the child.

   The child first closes everything except its pipe: a copy of the spool's lock or of a target's
   ring must not outlive the worker.  It shares nothing else and never returns. */
#include "resolve.h"

#include "common/endpoint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  RESOLVE_SECONDS_MAX = 10,
  DESCRIPTORS_MAX = 4096, /* closed one by one on kernels without close_range */
};

struct resolve {
  struct event *readable;
  resolve_on_done *on_done;
  void *context;
  pid_t pid;
  int fd;
};

socklen_t resolve_len(const struct sockaddr_storage *address) {
  return address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

int resolve_numeric(const char *text, struct sockaddr_storage *ret) {
  struct endpoint endpoint;
  int rc = endpoint_parse(text, &endpoint);
  if (rc < 0) return rc;
  in_port_t port = htons((uint16_t)strtol(endpoint.port, NULL, 10));
  struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = port};
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = port};
  struct sockaddr_storage address = {0};
  if (inet_pton(AF_INET, endpoint.host, &v4.sin_addr) == 1)
    memcpy(&address, &v4, sizeof v4);
  else if (inet_pton(AF_INET6, endpoint.host, &v6.sin6_addr) == 1)
    memcpy(&address, &v6, sizeof v6);
  else
    return -ENOENT;
  *ret = address;
  return 0;
}

static int error_of(int code) {
  switch (code) {
  case 0:
    return 0;
  case EAI_AGAIN:
    return -EAGAIN;
  case EAI_MEMORY:
    return -ENOMEM;
  default:
    return -ENOENT;
  }
}

static void look_up(const struct endpoint *endpoint, struct resolve_answer *ret) {
  struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  struct addrinfo *found = NULL;
  hints.ai_flags = AI_NUMERICSERV;
  ret->error = error_of(getaddrinfo(endpoint->host, endpoint->port, &hints, &found));
  for (struct addrinfo *at = found; at != NULL && ret->count < RESOLVE_ADDRESSES_MAX;
       at = at->ai_next)
    if (at->ai_addrlen <= sizeof ret->addresses[0])
      memcpy(&ret->addresses[ret->count++], at->ai_addr, at->ai_addrlen);
  if (ret->error == 0 && ret->count == 0) ret->error = -ENOENT;
}

/* The child's whole life. */
static _Noreturn void run_child(const struct endpoint *endpoint, int fd) {
  if (dup2(fd, STDIN_FILENO) < 0) _exit(1);
  if (close_range(STDIN_FILENO + 1, ~0U, 0) < 0)
    for (int i = STDIN_FILENO + 1; i < DESCRIPTORS_MAX; i++) close(i);
  signal(SIGTERM, SIG_DFL);
  alarm(2 * RESOLVE_SECONDS_MAX); /* in case the worker is gone by then */
  struct resolve_answer answer = {0};
  look_up(endpoint, &answer);
  ssize_t put = write(STDIN_FILENO, &answer, sizeof answer);
  _exit(put == (ssize_t)sizeof answer ? 0 : 1);
}

static void end_child(struct resolve *resolve) {
  if (resolve->pid <= 0) return;
  kill(resolve->pid, SIGKILL);
  while (waitpid(resolve->pid, NULL, 0) < 0 && errno == EINTR) {
  }
  resolve->pid = 0;
}

static void on_readable(evutil_socket_t fd, short what, void *context) {
  struct resolve *resolve = context;
  struct resolve_answer answer;
  ssize_t got = (what & EV_READ) != 0 ? read(fd, &answer, sizeof answer) : -1;
  if (got != (ssize_t)sizeof answer || answer.count > RESOLVE_ADDRESSES_MAX)
    answer = (struct resolve_answer){.error = (what & EV_READ) != 0 ? -ENOENT : -ETIMEDOUT};
  end_child(resolve);
  resolve->on_done(resolve->context, &answer); /* may free RESOLVE */
}

static int start_child(struct resolve *resolve, const struct endpoint *endpoint) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) return -errno;
  resolve->fd = ends[0];
  resolve->pid = fork();
  if (resolve->pid == 0) run_child(endpoint, ends[1]);
  int rc = resolve->pid < 0 ? -errno : 0;
  close(ends[1]);
  return rc;
}

int resolve_start(struct event_base *loop, const char *text, resolve_on_done *on_done,
                  void *context, struct resolve **ret) {
  struct endpoint endpoint;
  int rc = endpoint_parse(text, &endpoint);
  if (rc < 0) return rc;
  struct resolve *resolve = calloc(1, sizeof *resolve);
  if (resolve == NULL) return -ENOMEM;
  *resolve = (struct resolve){.fd = -1, .on_done = on_done, .context = context};
  rc = start_child(resolve, &endpoint);
  if (rc == 0) {
    const struct timeval deadline = {.tv_sec = RESOLVE_SECONDS_MAX};
    resolve->readable = event_new(loop, resolve->fd, EV_READ, on_readable, resolve);
    if (resolve->readable == NULL || event_add(resolve->readable, &deadline) < 0) rc = -ENOMEM;
  }
  if (rc < 0) {
    resolve_stop(resolve);
    return rc;
  }
  *ret = resolve;
  return 0;
}

void resolve_stop(struct resolve *resolve) {
  if (resolve == NULL) return;
  if (resolve->readable != NULL) event_free(resolve->readable);
  end_child(resolve);
  if (resolve->fd >= 0) close(resolve->fd);
  free(resolve);
}
