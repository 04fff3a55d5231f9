/* SPDX-License-Identifier: Apache-2.0 */
/* Concurrent runs of one service with the same labels would be an inseparable sum.  A unique number
   per run would separate them, but would create new series without end.  The lowest free number
   separates them at any moment, and the number of series is bounded by the number of concurrent
   runs.

   A place is held by an abstract socket name.  Nothing is written to disk; the kernel releases it
   when the process ends, and exec of the program closes it.  Each network namespace has its own
   names, so runs in two namespaces may share a place.  A process that takes all names makes runs
   inseparable, as they were without places. */
#include "run_place.h"

#include "common/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* An abstract name is as long as its address length: it has no NUL. */
static int hold(int fd, unsigned long long key, unsigned place) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t before = offsetof(struct sockaddr_un, sun_path) + 1;
  int len = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "fleetprof-run-%016llx-%u",
                     key, place);
  if (bind(fd, (struct sockaddr *)&address, (socklen_t)(before + (size_t)len)) == 0) return 0;
  return -errno;
}

unsigned run_place_take(const char *socket_path, const char *service, const char *labels) {
  unsigned long long key = table_hash(socket_path, strlen(socket_path), 0);
  key = table_hash(service, strlen(service), key);
  key = table_hash(labels, strlen(labels), key);
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), error = -EADDRINUSE;
  unsigned place = 0;
  while (fd >= 0 && error == -EADDRINUSE && place < RUN_PLACES) error = hold(fd, key, ++place);
  if (error == 0) return place;
  if (fd >= 0) close(fd);
  return 0;
}

void run_place_label(unsigned place, char *labels, size_t len) {
  size_t used = strlen(labels);
  char label[32];
  int more = snprintf(label, sizeof label, "%srun=%u", used > 0 ? "\n" : "", place);
  if (place > 1 && used + (size_t)more < len) memcpy(labels + used, label, (size_t)more + 1);
}
