/* SPDX-License-Identifier: Apache-2.0 */
/* A unix socket's address has 108 bytes and a state directory may be longer.  So the socket is
   always bound through /proc/self/fd/N/fleetprofd.sock, where N is the directory.

   The supervisor listens, the worker accepts: during a worker's restart, connections wait in the
   backlog instead of being refused.  The mode of socket and directory decides which users may
   connect; SO_PEERCRED identifies the peer of each connection (intake.c). */
#include "listener.h"

#include "intake/intake_format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Each connection in a stopped daemon's queue has cost its peer the full timeout. */
enum { BACKLOG = 32 };

static int bind_in(int listener, int directory, mode_t mode) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", directory,
           INTAKE_SOCKET_NAME);
  unlinkat(directory, INTAKE_SOCKET_NAME, 0);
  mode_t before = umask(0777 & ~mode);
  int bound = bind(listener, (const struct sockaddr *)&address, sizeof address);
  int error = errno;
  umask(before);
  if (bound < 0) return -error;
  return listen(listener, BACKLOG) < 0 ? -errno : 0;
}

int listener_open(const char *dir, bool for_all) {
  int directory = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return -errno;
  int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int error = listener < 0 ? -errno : bind_in(listener, directory, for_all ? 0666 : 0600);
  close(directory);
  if (!error) return listener;
  if (listener >= 0) close(listener);
  return error;
}

void listener_close(int listener, const char *dir) {
  int directory = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
  close(listener);
  if (directory < 0) return;
  unlinkat(directory, INTAKE_SOCKET_NAME, 0);
  close(directory);
}
