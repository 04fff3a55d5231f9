/* SPDX-License-Identifier: Apache-2.0 */
/* A program that opens files of a newer version fails later at best, and at worst misreads them. So
   all files are checked before the first is opened: SQLite's file header holds the version, which
   can be read without SQLite. An upgrade that a crash left in the WAL is not seen here; each file's
   version is checked again when it is opened. */
#include "file_version.h"

#include "day_file.h"
#include "day_folder.h"
#include "landing.h"
#include "tier_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Offset of PRAGMA user_version in SQLite's file format, big-endian. */
enum { VERSION_OFFSET = 60, VERSION_BYTES = 4 };

uint32_t file_version_peek(const char *path) {
  uint8_t bytes[VERSION_BYTES] = {0};
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return 0;
  ssize_t len = pread(fd, bytes, sizeof bytes, VERSION_OFFSET);
  uint8_t magic[6] = {0};
  bool is_ours = pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
                 memcmp(magic, "SQLite", sizeof magic) == 0;
  close(fd);
  if (len != VERSION_BYTES || !is_ours) return 0;
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static int look_at(const char *path, uint32_t known, char *error, size_t error_len) {
  uint32_t version = file_version_peek(path);
  if (version <= known) return 0;
  snprintf(
      error, error_len,
      "%s: written by a newer fleetprof: format %u, this one knows %u; use that one or another "
      "--data",
      path, version, known);
  return -EPROTO;
}

int file_version_check(const char *dir, const char *name, uint32_t known, char *error,
                       size_t error_len) {
  char path[DAY_PATH_BYTES];
  int len = snprintf(path, sizeof path, "%s/%s", dir, name);
  if (len < 0 || len >= (int)sizeof path) return 0; /* opening it reports the error */
  return look_at(path, known, error, error_len);
}

static int look_at_days(const char *dir, enum day_kind kind, char *error, size_t error_len) {
  const uint32_t known = kind == DAY_WINDOWS ? DAY_VERSION : TIER_FILE_VERSION;
  char path[DAY_PATH_BYTES];
  uint32_t *days = NULL;
  size_t count = 0;
  int result = day_folder_list(dir, kind, &days, &count);
  if (result != 0) snprintf(error, error_len, "%s: cannot be read: %s", dir, strerror(-result));
  for (size_t i = 0; i < count && result == 0; i++)
    if (day_folder_path(dir, kind, days[i], path) == 0)
      result = look_at(path, known, error, error_len);
  free(days);
  return result;
}

int file_version_look(const char *dir, char *error, size_t error_len) {
  int result = file_version_check(dir, "landing.db", LANDING_VERSION, error, error_len);
  for (unsigned kind = 0; kind < DAY_KINDS && result == 0; kind++)
    result = look_at_days(dir, kind, error, error_len);
  return result;
}
