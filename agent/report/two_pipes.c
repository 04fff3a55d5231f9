/* SPDX-License-Identifier: Apache-2.0 */
/* In `report -F counts x.fp | addr2line -e x | paste counts -` three programs share two pipes.
   paste reads a line of counts, then waits for addr2line, which may buffer its output until it has
   all input: this program's other pipe.  Filling one pipe before the other would deadlock.  So both
   are written as they have room, and each is closed when done: the end of its input makes a
   translator flush its output. */
#include "two_pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

static void finish(struct pipe_end *end) {
  close(end->fd);
  end->fd = -1;
}

/* Writes as much as fits.  Returns 0 or -errno. */
static int write_some(struct pipe_end *end) {
  while (end->bytes.len > 0) {
    ssize_t put = write(end->fd, end->bytes.data, end->bytes.len);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return 0;
    if (put < 0 && errno != EPIPE) return -errno;
    if (put < 0) break;
    end->bytes = span_of(end->bytes.data + put, end->bytes.len - (size_t)put);
  }
  finish(end);
  return 0;
}

/* Sets O_NONBLOCK only on pipes: a terminal's mode is shared with the shell. */
static void make_patient(const struct pipe_end *end) {
  struct stat status;
  if (end->fd >= 0 && fstat(end->fd, &status) == 0 && S_ISFIFO(status.st_mode))
    fcntl(end->fd, F_SETFL, fcntl(end->fd, F_GETFL) | O_NONBLOCK);
}

int two_pipes_write(struct pipe_end ends[2]) {
  int error = 0;
  for (int i = 0; i < 2; i++) make_patient(&ends[i]);
  while (error == 0 && (ends[0].fd >= 0 || ends[1].fd >= 0)) {
    struct pollfd room[2] = {{.fd = ends[0].fd, .events = POLLOUT},
                             {.fd = ends[1].fd, .events = POLLOUT}};
    if (poll(room, 2, -1) < 0) {
      if (errno != EINTR) error = -errno;
      continue;
    }
    for (int i = 0; i < 2 && error == 0; i++)
      if (room[i].revents != 0) error = write_some(&ends[i]);
  }
  for (int i = 0; i < 2; i++)
    if (ends[i].fd >= 0) finish(&ends[i]);
  return error;
}
