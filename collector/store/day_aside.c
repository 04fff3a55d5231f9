/* SPDX-License-Identifier: Apache-2.0 */
/* Names: `day-2026-01-31.db.corrupt`, `hours-2026-01-31.db.corrupt-1`... A file's age is the ctime
   of its inode, because the rename was the last change of it. */
#include "day_aside.h"

#include "day_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_BYTES = 64, LISTED_MAX = 4096 };

static const char mark[] = ".corrupt";
static const char *const companions[] = {"-wal", "-shm", ""};
enum { COMPANIONS = 3 };

struct aside {
  char name[NAME_BYTES];
  uint32_t day;
  struct timespec since;
  uint64_t bytes;
};

/* Returns whether NAME is a day file that was set aside, and not a companion (-wal, -shm) of
   one. */
static bool parse(const char *name, struct aside *ret) {
  char of_day[NAME_BYTES];
  const char *at = strstr(name, mark);
  size_t len = at != NULL ? (size_t)(at - name) : 0;
  if (at == NULL || strlen(name) >= NAME_BYTES) return false;
  memcpy(of_day, name, len);
  of_day[len] = '\0';
  at += sizeof mark - 1;
  if (*at == '-') at += 1 + strspn(at + 1, "0123456789");
  if (*at != '\0' || !day_folder_is_day(of_day, &ret->day)) return false;
  snprintf(ret->name, sizeof ret->name, "%s", name);
  return true;
}

/* Sets the disk space of ASIDE with its companions, and the time since when it is set aside. */
static void measure(int dir, struct aside *aside) {
  char name[NAME_BYTES + 8];
  struct stat status;
  aside->bytes = 0;
  for (unsigned i = 0; i < COMPANIONS; i++) {
    snprintf(name, sizeof name, "%s%s", aside->name, companions[i]);
    if (fstatat(dir, name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    aside->bytes += (uint64_t)status.st_blocks * 512;
    aside->since = status.st_ctim;
  }
}

static int newest_first(const void *left, const void *right) {
  const struct aside *a = left, *b = right;
  if (a->since.tv_sec != b->since.tv_sec) return a->since.tv_sec > b->since.tv_sec ? -1 : 1;
  if (a->since.tv_nsec != b->since.tv_nsec) return a->since.tv_nsec > b->since.tv_nsec ? -1 : 1;
  return strcmp(b->name, a->name);
}

/* Lists up to LISTED_MAX files, the last set aside first. The caller frees RET. */
static int list(DIR *folder, struct aside **ret, size_t *ret_count) {
  struct aside *all = NULL, found;
  size_t count = 0, room = 0;
  for (struct dirent *entry; count < LISTED_MAX && (entry = readdir(folder)) != NULL;) {
    if (!parse(entry->d_name, &found)) continue;
    if (count == room) {
      room = room > 0 ? room * 2 : 2 * DAY_ASIDE_FILES;
      struct aside *more = reallocarray(all, room, sizeof *all);
      if (more == NULL) {
        free(all);
        return -ENOMEM;
      }
      all = more;
    }
    measure(dirfd(folder), &found);
    all[count++] = found;
  }
  if (count > 0) qsort(all, count, sizeof *all, newest_first);
  *ret = all;
  *ret_count = count;
  return 0;
}

static int remove_one(int dir, const struct aside *aside) {
  char name[NAME_BYTES + 8];
  int error = 0;
  for (unsigned i = 0; i < COMPANIONS; i++) {
    snprintf(name, sizeof name, "%s%s", aside->name, companions[i]);
    if (unlinkat(dir, name, 0) != 0 && errno != ENOENT) error = -errno;
  }
  return error;
}

int day_aside_figures(const char *dir, struct day_aside_figures *ret) {
  struct aside *all = NULL;
  size_t count = 0;
  DIR *folder = opendir(dir);
  if (folder == NULL) return -errno;
  int error = list(folder, &all, &count);
  closedir(folder);
  if (error != 0) return error;
  *ret = (struct day_aside_figures){.files = count};
  for (size_t i = 0; i < count; i++) ret->bytes += all[i].bytes;
  free(all);
  return 0;
}

int day_aside_thin(const char *dir, const struct day_aside_keep *keep) {
  struct aside *all = NULL;
  size_t count = 0, kept = 0;
  uint64_t bytes = 0;
  DIR *folder = opendir(dir);
  if (folder == NULL) return -errno;
  int error = list(folder, &all, &count);
  for (size_t i = 0; error == 0 && i < count; i++) {
    bool is_wanted = all[i].day >= keep->first_day && kept < DAY_ASIDE_FILES &&
                     all[i].bytes <= keep->bytes_max - bytes;
    if (!is_wanted) {
      error = remove_one(dirfd(folder), &all[i]);
      continue;
    }
    kept++;
    bytes += all[i].bytes;
  }
  closedir(folder);
  free(all);
  return error;
}
