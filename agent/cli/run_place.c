/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of one service with the same labels at the same time would be one sum that nobody can take
   apart again.  A number of each run's own would tell them apart, and make new series for ever; the
   lowest number that is free tells them apart at any moment, and there are no more of them than
   there were runs at once.

   A place is held by a socket's name in the kernel's own table: nothing is written, whatever ends
   the process gives it back, and an exec of the program closes it.  Who has another network
   namespace has another table: his runs and ours may be of one place.  A stranger who takes all the
   names makes runs that cannot be told apart, as they were before. */
#include "run_place.h"

#include "common/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The length of an abstract name is its own: there is no NUL behind it. */
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
