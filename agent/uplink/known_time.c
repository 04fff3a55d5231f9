/* SPDX-License-Identifier: Apache-2.0 */
/* A board without a battery starts in 1970, and other clocks jump by years.  But time does not go
   back: it is later than a collector's last report plus the time since by the boot clock.

   A collector could report any time, for example the year 2100; then every certificate would count
   as expired and the board would be lost.  So its time is accepted only up to the end of its own
   certificate: no report of a collector can lock out that collector.

   The file is written at most once a day, because flash wears.  A torn or foreign file counts as
   none, and the next session rewrites it. */
#include "known_time.h"

#include "common/clock.h"
#include "common/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DAY_SECONDS = 24 * 60 * 60, TEXT_BYTES = 32, DIGITS_MAX = 11 /* the year 5138 */ };

static int64_t read_kept(const char *path) {
  char text[TEXT_BYTES] = "";
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return 0;
  ssize_t got = read(fd, text, sizeof text - 1);
  close(fd);
  if (got <= 0) return 0;
  size_t digits = strspn(text, "0123456789");
  bool is_whole = digits > 0 && digits <= DIGITS_MAX && strcmp(text + digits, "\n") == 0;
  return is_whole ? (int64_t)strtoll(text, NULL, 10) : 0;
}

static int write_kept(const char *path, int64_t seconds) {
  char beside[PATH_MAX], text[TEXT_BYTES];
  if ((size_t)snprintf(beside, sizeof beside, "%s.new", path) >= sizeof beside)
    return -ENAMETOOLONG;
  int len = snprintf(text, sizeof text, "%lld\n", (long long)seconds);
  int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return -errno;
  errno = EIO;
  int result = write(fd, text, (size_t)len) == len && fsync(fd) == 0 ? 0 : -errno;
  close(fd);
  if (result == 0 && rename(beside, path) != 0) result = -errno;
  if (result != 0) unlink(beside);
  return result;
}

void known_time_init(struct known_time *time, const char *path) {
  *time = (struct known_time){.learnt_at_ns = clock_boottime_ns()};
  if (path == NULL || (size_t)snprintf(time->path, sizeof time->path, "%s", path) >= PATH_MAX)
    time->path[0] = '\0';
  else
    time->learnt_s = time->kept_s = read_kept(path);
}

int64_t known_time_earliest_s(const struct known_time *time) {
  if (time->learnt_s == 0) return 0;
  return time->learnt_s + (int64_t)((clock_boottime_ns() - time->learnt_at_ns) / NS_PER_SECOND);
}

void known_time_learn(struct known_time *time, uint64_t now_ns, int64_t until_s) {
  int64_t now_s = (int64_t)(now_ns / NS_PER_SECOND);
  if (now_s > until_s || now_s <= known_time_earliest_s(time)) return;
  time->learnt_s = now_s;
  time->learnt_at_ns = clock_boottime_ns();
  if (time->path[0] == '\0' || now_s < time->kept_s + DAY_SECONDS) return;
  time->kept_s = now_s; /* set even if the write fails: a full disk is not retried all the time */
  int result = write_kept(time->path, now_s);
  if (result != 0) log_warn("uplink-time %s: not kept: %s", time->path, strerror(-result));
}
