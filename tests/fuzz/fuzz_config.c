/* SPDX-License-Identifier: Apache-2.0 */
/* A config file, read through a table with a row of every kind. A rejection must give a reason, in
   one line that names the file. */
#include "common/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct settings {
  bool flag;
  const char *string, *path;
  struct option_list list;
  uint64_t count, bytes, bytes_day, duration_ns;
  double percent;
};

#define AT(field) offsetof(struct settings, field)
static const struct option rows[] = {
    {"flag", 'f', NULL, NULL, "Kinds", "", OPTION_FLAG, AT(flag)},
    {"string", 's', "TEXT", NULL, "Kinds", "", OPTION_STRING, AT(string)},
    {"path", 0, "FILE", NULL, "Kinds", "", OPTION_PATH, AT(path)},
    {"list", 'l', "K=V", NULL, "Kinds", "", OPTION_LIST, AT(list)},
    {"count", 'c', "N", "99", "Kinds", "", OPTION_COUNT, AT(count)},
    {"bytes", 'b', "SIZE", "64M", "Kinds", "", OPTION_BYTES, AT(bytes)},
    {"bytes-day", 0, "SIZE", "5M/day", "Kinds", "", OPTION_BYTES_DAY, AT(bytes_day)},
    {"duration", 'd', "TIME", "10s", "Kinds", "", OPTION_DURATION, AT(duration_ns)},
    {"percent", 'p', "SHARE", "0.5%", "Kinds", "", OPTION_PERCENT, AT(percent)},
};
static const struct option_table table = {
    .usage = "fuzz", .rows = rows, .row_count = sizeof rows / sizeof *rows};

static void check_refusal(const char *error, const char *path) {
  size_t len = strlen(error);
  if (len == 0 || strncmp(error, path, strlen(path)) != 0) abort();
  for (size_t i = 0; i < len; i++)
    if ((unsigned char)error[i] < 0x20) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  char path[64], error[256] = "";
  struct settings settings = {0};
  struct options_result result;
  int fd = memfd_create("config", MFD_CLOEXEC);
  if (fd < 0) abort();
  if (len > 0 && write(fd, data, len) != (ssize_t)len) abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  char *const argv[] = {"fuzz", "--config", path, NULL};
  int got = options_parse(&table, 3, argv, &settings, &result, error, sizeof error);
  if (got != 0 && got != -EINVAL) abort();
  if (got != 0) check_refusal(error, path);
  if (got == 0 && settings.string != NULL && strlen(settings.string) > len) abort();
  if (got == 0 && settings.path != NULL && *settings.path == '\0') abort();
  close(fd);
  return 0;
}
