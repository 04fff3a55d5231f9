/* SPDX-License-Identifier: Apache-2.0 */
/* STATE/boots has a line per boot, the newest last:

      3b1f…e0 1764000000123456789 86400000000000
      boot id, wall time minus time since boot (0: not known), time since boot when last seen

   The wall time of a boot comes from the first trusted source: a collector, or the board's own wall
   clock once it is synchronized (NTP).  An unsynchronized clock is not used: it may show 1970 or be
   an hour back, and its time is in each batch anyway.  A collector's time is always accepted.

   Flash wears, so the file is written only for changes: a new boot, its offset, another offset (at
   most once an hour), the end of a daemon.  While the time is unknown, the length of the boot is
   the only information, and is written every ten minutes.  If the file cannot be written, only this
   information is lost. */
#include "boot_times.h"

#include "common/buf.h"
#include "common/clock.h"
#include "common/hex_text.h"
#include "common/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 2024-01-01: this program did not exist before. */
#define PLAUSIBLE_FROM_NS (1704067200 * NS_PER_SECOND)
#define NEWS_NS NS_PER_SECOND /* a smaller change of the offset is ignored */
#define ALIVE_NS (600 * NS_PER_SECOND)
#define AGAIN_NS (3600 * NS_PER_SECOND)

enum {
  ID_CHARS = 2 * BATCH_BOOT_ID_BYTES,
  LINE_BYTES = ID_CHARS + 2 * 21 + 2, /* two numbers of 20 digits */
  FILE_BYTES = LINE_BYTES * (LIMIT_BOOTS + 1),
};

static struct boot_time *present(struct boot_times *times) {
  return &times->rows[times->count - 1];
}

static bool parse_id(const char *text, uint8_t id[BATCH_BOOT_ID_BYTES]) {
  if (strspn(text, "0123456789abcdef") != ID_CHARS || text[ID_CHARS] != ' ') return false;
  for (int i = 0; i < BATCH_BOOT_ID_BYTES; i++) {
    const char digits[3] = {text[2 * i], text[2 * i + 1], '\0'};
    id[i] = (uint8_t)strtoul(digits, NULL, 16);
  }
  return true;
}

/* Parses one line.  Returns whether it is valid. */
static bool parse_line(const char *line, struct boot_time *ret) {
  struct boot_time row = {0};
  char *end;
  if (!parse_id(line, row.boot_id) || line[ID_CHARS + 1] < '0' || line[ID_CHARS + 1] > '9')
    return false;
  errno = 0;
  row.offset_ns = strtoull(line + ID_CHARS + 1, &end, 10);
  if (*end != ' ' || end[1] < '0' || end[1] > '9') return false;
  row.alive_ns = strtoull(end + 1, &end, 10);
  if (*end != '\n' || errno != 0 || row.offset_ns > INT64_MAX || row.alive_ns > INT64_MAX)
    return false;
  *ret = row;
  return true;
}

static void add(struct boot_times *times, const struct boot_time *row) {
  if (times->count == LIMIT_BOOTS + 1) {
    times->count--;
    memmove(times->rows, times->rows + 1, times->count * sizeof *times->rows);
  }
  times->rows[times->count++] = *row;
}

static void read_rows(struct boot_times *times) {
  char text[FILE_BYTES + 1];
  int fd = open(times->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  ssize_t got = fd >= 0 ? read(fd, text, FILE_BYTES) : 0;
  if (fd >= 0) close(fd);
  text[got > 0 ? got : 0] = '\0';
  const char *line = text, *end;
  while ((end = strchr(line, '\n')) != NULL) { /* a last line without a line end was cut short */
    struct boot_time row;
    if (parse_line(line, &row)) add(times, &row);
    line = end + 1;
  }
}

static void print_rows(const struct boot_times *times, struct buf *ret) {
  for (uint32_t i = 0; i < times->count; i++) {
    const struct boot_time *row = &times->rows[i];
    hex_text_append(span_of(row->boot_id, sizeof row->boot_id), ret);
    buf_printf(ret, " %" PRIu64 " %" PRIu64 "\n", row->offset_ns, row->alive_ns);
  }
}

static int write_file(const char *path, const struct buf *text) {
  char beside[PATH_MAX];
  if ((size_t)snprintf(beside, sizeof beside, "%s.new", path) >= sizeof beside)
    return -ENAMETOOLONG;
  int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return -errno;
  errno = EIO;
  bool is_written = write(fd, text->data, text->len) == (ssize_t)text->len && fsync(fd) == 0;
  int result = is_written ? 0 : -errno;
  close(fd);
  if (result == 0 && rename(beside, path) != 0) result = -errno;
  if (result != 0) unlink(beside);
  return result;
}

static void keep(struct boot_times *times) {
  struct buf text = {0};
  present(times)->alive_ns = times->written_ns = clock_boottime_ns();
  print_rows(times, &text);
  int result = text.failed ? -ENOMEM : write_file(times->path, &text);
  if (result != 0) log_debug("uplink-boots %s: not kept: %s", times->path, strerror(-result));
  buf_fini(&text);
}

void boot_times_init(struct boot_times *times, const char *path) {
  struct boot_time row = {0};
  *times = (struct boot_times){0};
  snprintf(times->path, sizeof times->path, "%s", path);
  read_rows(times);
  clock_boot_id(row.boot_id);
  if (times->count > 0 && memcmp(present(times)->boot_id, row.boot_id, sizeof row.boot_id) == 0) {
    times->written_ns = present(times)->alive_ns;
    return;
  }
  add(times, &row);
  keep(times);
}

void boot_times_learn(struct boot_times *times, uint64_t walltime_ns) {
  uint64_t boottime_ns = clock_boottime_ns();
  uint64_t old_ns = present(times)->offset_ns;
  if (walltime_ns < PLAUSIBLE_FROM_NS || walltime_ns <= boottime_ns) return;
  uint64_t offset_ns = walltime_ns - boottime_ns;
  uint64_t apart_ns = offset_ns > old_ns ? offset_ns - old_ns : old_ns - offset_ns;
  if (apart_ns <= NEWS_NS) return;
  present(times)->offset_ns = offset_ns;
  if (old_ns == 0 || boottime_ns >= times->written_ns + AGAIN_NS) keep(times);
}

void boot_times_look(struct boot_times *times) {
  if (present(times)->offset_ns != 0) return;
  if (clock_is_kept()) boot_times_learn(times, clock_walltime_ns());
  if (clock_boottime_ns() >= times->written_ns + ALIVE_NS) keep(times);
}

void boot_times_close(struct boot_times *times) {
  if (times->count > 0) keep(times);
}

uint64_t boot_times_now_ns(const struct boot_times *times) {
  uint64_t offset_ns = times->count > 0 ? times->rows[times->count - 1].offset_ns : 0;
  return offset_ns != 0 ? offset_ns + clock_boottime_ns() : 0;
}

const struct boot_time *boot_times_earlier(const struct boot_times *times, uint32_t *ret_count) {
  *ret_count = times->count - 1;
  return times->rows;
}
