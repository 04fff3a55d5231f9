/* SPDX-License-Identifier: Apache-2.0 */
/* One line of text, replaced as a whole; numbers in hex:

     fleetprof-clock 1 BOOT-ID OFFSET STEADY-SINCE AGREED CONFIRMED LATEST SUM

   SUM covers all before it. A line that differs from the canonical line for its numbers is ignored:
   then the wall clock has to be steady for another day, and nothing is deleted too early. */
#include "trusted_file.h"

#include "common/write_all.h"
#include "store/siphash.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 256, NUMBERS = 7 };

static int path_of(const char *dir, const char *suffix, char path[PATH_MAX]) {
  int len = snprintf(path, PATH_MAX, "%s/clock%s", dir, suffix);
  return len < 0 || len >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* Returns the length of the line. */
static size_t print_line(const struct trusted_kept *kept, char line[LINE_BYTES]) {
  static const uint8_t key[SIPHASH_KEY_BYTES] = "fleetprof-clock"; /* detects damage only */
  unsigned long long boot[2];
  memcpy(boot, kept->boot_id, sizeof boot);
  int len = snprintf(line, LINE_BYTES, "fleetprof-clock 1 %llx %llx %llx %llx %llx %llx %llx",
                     boot[0], boot[1], (unsigned long long)kept->offset_ns,
                     (unsigned long long)kept->steady_since_ns, (unsigned long long)kept->agreed_ns,
                     (unsigned long long)kept->confirmed_ns, (unsigned long long)kept->latest_ns);
  unsigned long long sum = siphash(key, span_of(line, (size_t)len));
  len += snprintf(line + len, LINE_BYTES - (size_t)len, " %llx\n", sum);
  return (size_t)len;
}

static int parse_line(const char *line, struct trusted_kept *ret) {
  unsigned long long number[NUMBERS];
  char again[LINE_BYTES];
  int count = sscanf(line, "fleetprof-clock 1 %llx %llx %llx %llx %llx %llx %llx", &number[0],
                     &number[1], &number[2], &number[3], &number[4], &number[5], &number[6]);
  if (count != NUMBERS) return -EBADMSG;
  struct trusted_kept kept = {.offset_ns = number[2],
                              .steady_since_ns = number[3],
                              .agreed_ns = number[4],
                              .confirmed_ns = number[5],
                              .latest_ns = number[6]};
  memcpy(kept.boot_id, number, sizeof kept.boot_id);
  print_line(&kept, again);
  if (strcmp(line, again) != 0) return -EBADMSG;
  *ret = kept;
  return 0;
}

int trusted_file_read(const char *dir, struct trusted_kept *ret) {
  char path[PATH_MAX], line[LINE_BYTES + 1] = "";
  *ret = (struct trusted_kept){.offset_ns = 0};
  int error = path_of(dir, "", path);
  if (error != 0) return error;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return errno == ELOOP ? -EBADMSG : -errno;
  ssize_t got = read(fd, line, LINE_BYTES);
  error = got < 0 ? -errno : 0;
  close(fd);
  return error != 0 ? error : parse_line(line, ret);
}

int trusted_file_write(const char *dir, const struct trusted_kept *kept) {
  char path[PATH_MAX], beside[PATH_MAX], line[LINE_BYTES];
  int error = path_of(dir, "", path);
  if (error == 0) error = path_of(dir, ".new", beside);
  if (error != 0) return error;
  int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return -errno;
  error = write_all(fd, span_of(line, print_line(kept, line)));
  if (error == 0 && fsync(fd) != 0) error = -errno;
  close(fd);
  if (error == 0 && rename(beside, path) != 0) error = -errno;
  if (error != 0) unlink(beside);
  return error;
}
