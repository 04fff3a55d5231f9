/* SPDX-License-Identifier: Apache-2.0 */
/* Names and files only; the content of day files belongs to day_file and day_reader. There is
   one file a day, because then a day is deleted by unlinking, whatever its size. A DELETE of as
   many rows would hold the write lock for seconds.

   SQLite keeps two files beside each database, `-wal` and `-shm`. They are deleted first: a WAL
   without its database is useless, but a database without its WAL is an older version. */
#include "day_folder.h"

#include "common/clock.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS_PER_DAY = 24 * 3600, CORRUPT_NAMES_MAX = 1000 };

static const char *const prefixes[DAY_KINDS] = {
    [DAY_WINDOWS] = "day", [DAY_MINUTES] = "minutes", [DAY_HOURS] = "hours"};

static const char *const companions[] = {"-wal", "-shm", ""};
enum { COMPANIONS = 3 };

uint64_t day_midpoint(uint64_t start_ms, uint64_t end_ms) {
  return end_ms > start_ms ? start_ms + (end_ms - start_ms) / 2 : start_ms;
}

uint32_t day_of(uint64_t ms) {
  uint64_t day = ms / DAY_MS;
  return day > DAY_LAST ? DAY_LAST : (uint32_t)day;
}

bool day_is_misdated(uint32_t day, uint64_t now_ms) {
  const uint64_t plausible_ms = CLOCK_PLAUSIBLE_NS / NS_PER_MS;
  if (now_ms < plausible_ms) return false;
  return day < day_of(plausible_ms) || day > day_of(now_ms) + 1;
}

int day_folder_path(const char *dir, enum day_kind kind, uint32_t day, char path[DAY_PATH_BYTES]) {
  time_t seconds = (time_t)day * SECONDS_PER_DAY;
  struct tm date = {0};
  gmtime_r(&seconds, &date);
  int len = snprintf(path, DAY_PATH_BYTES, "%s/%s-%04d-%02d-%02d.db", dir, prefixes[kind],
                     date.tm_year + 1900, date.tm_mon + 1, date.tm_mday);
  return len < 0 || len >= DAY_PATH_BYTES ? -ENAMETOOLONG : 0;
}

/* Parses a file's name; only names that day_folder_path would write are accepted. */
static int parse_name(const char *name, enum day_kind kind, uint32_t *ret_day) {
  char again[DAY_PATH_BYTES];
  struct tm date = {0};
  size_t skip = strlen(prefixes[kind]);
  if (strncmp(name, prefixes[kind], skip) != 0 ||
      sscanf(name + skip, "-%4d-%2d-%2d.db", &date.tm_year, &date.tm_mon, &date.tm_mday) != 3)
    return -EINVAL;
  date.tm_year -= 1900;
  date.tm_mon -= 1;
  time_t seconds = timegm(&date);
  if (seconds < 0 || seconds / SECONDS_PER_DAY > DAY_LAST) return -EINVAL;
  uint32_t day = (uint32_t)(seconds / SECONDS_PER_DAY);
  if (day_folder_path(".", kind, day, again) != 0 || strcmp(again + 2, name) != 0) return -EINVAL;
  *ret_day = day;
  return 0;
}

static bool is_wanted(const char *name, enum day_kind wanted, uint32_t *ret_day) {
  for (unsigned kind = 0; kind < DAY_KINDS; kind++)
    if ((wanted == DAY_KINDS || wanted == kind) && parse_name(name, kind, ret_day) == 0)
      return true;
  return false;
}

bool day_folder_is_day(const char *name, uint32_t *ret_day) {
  return is_wanted(name, DAY_KINDS, ret_day);
}

static int by_day(const void *left, const void *right) {
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return a < b ? -1 : a > b;
}

/* Sorts DAYS and removes duplicates. Returns how many are left. */
static size_t sort_days(uint32_t *days, size_t count) {
  size_t kept = 0;
  if (count > 0) qsort(days, count, sizeof *days, by_day);
  for (size_t i = 0; i < count; i++)
    if (kept == 0 || days[kept - 1] != days[i]) days[kept++] = days[i];
  return kept;
}

int day_folder_list(const char *dir, enum day_kind kind, uint32_t **ret, size_t *ret_count) {
  uint32_t *days = NULL, day = 0;
  size_t count = 0, room = 0;
  int error = 0;
  DIR *folder = opendir(dir);
  if (folder == NULL) return -errno;
  for (struct dirent *entry; error == 0 && (entry = readdir(folder)) != NULL;) {
    if (!is_wanted(entry->d_name, kind, &day)) continue;
    if (count == room) {
      room = room > 0 ? room * 2 : 64;
      uint32_t *more = reallocarray(days, room, sizeof *days);
      if (more == NULL) error = -ENOMEM;
      if (more != NULL) days = more;
    }
    if (error == 0) days[count++] = day;
  }
  closedir(folder);
  if (error != 0) {
    free(days);
    return error;
  }
  *ret_count = sort_days(days, count);
  *ret = days;
  return 0;
}

uint64_t day_folder_bytes(const char *dir, enum day_kind kind, uint32_t day) {
  char path[DAY_PATH_BYTES], part[DAY_PATH_BYTES + 8];
  uint64_t bytes = 0;
  if (day_folder_path(dir, kind, day, path) != 0) return 0;
  for (unsigned i = 0; i < COMPANIONS; i++) {
    struct stat status;
    snprintf(part, sizeof part, "%s%s", path, companions[i]);
    if (stat(part, &status) == 0) bytes += (uint64_t)status.st_blocks * 512;
  }
  return bytes;
}

int day_folder_remove(const char *dir, enum day_kind kind, uint32_t day) {
  char path[DAY_PATH_BYTES], part[DAY_PATH_BYTES + 8];
  int error = day_folder_path(dir, kind, day, path);
  for (unsigned i = 0; error == 0 && i < COMPANIONS; i++) {
    snprintf(part, sizeof part, "%s%s", path, companions[i]);
    if (unlink(part) != 0 && errno != ENOENT) error = -errno;
  }
  return error;
}

/* Finds an unused name for the damaged file. */
static int free_name(const char *path, char *name, size_t name_len) {
  for (unsigned i = 0; i < CORRUPT_NAMES_MAX; i++) {
    if (i == 0)
      snprintf(name, name_len, "%s.corrupt", path);
    else
      snprintf(name, name_len, "%s.corrupt-%u", path, i);
    if (access(name, F_OK) != 0) return 0;
  }
  return -EEXIST;
}

int day_folder_set_aside(const char *dir, enum day_kind kind, uint32_t day) {
  char path[DAY_PATH_BYTES], name[DAY_PATH_BYTES + 32];
  char from[DAY_PATH_BYTES + 8], to[DAY_PATH_BYTES + 48];
  int error = day_folder_path(dir, kind, day, path);
  if (error == 0) error = free_name(path, name, sizeof name);
  for (unsigned i = 0; error == 0 && i < COMPANIONS; i++) {
    snprintf(from, sizeof from, "%s%s", path, companions[i]);
    snprintf(to, sizeof to, "%s%s", name, companions[i]);
    if (rename(from, to) != 0 && errno != ENOENT) error = -errno;
  }
  return error;
}
