/* SPDX-License-Identifier: Apache-2.0 */
/* A store into a mapped file needs a block on the disk.  If there is none, the target gets SIGBUS
   at any instruction of the handler.  So blocks are allocated by fallocate(2) itself (the library's
   emulation may leave holes), and only on file systems that then write in place.  A copy-on-write
   file system requests a new block for each write-back.  Elsewhere the ring is a memfd, which is
   lost when daemon and program both end.

   The files must not fill the flash: their number and total size are limited.  Each is unlinked as
   soon as its data is in the spool.  So there are more files than live targets only if the spool
   rejects data. */
#include "kept_files.h"

#include "common/clock.h"
#include "common/hex_text.h"
#include "keeper/settings.h"
#include "targets/timer_ring.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define FOLDER "kept"
#define RECORDER_SUFFIX ".rec"
#define HISTOGRAM_SUFFIX ".hist"
#define XFS_MAGIC 0x58465342 /* missing in linux/magic.h of older kernels */

enum { BOOT_DIGITS = 32 };

static int open_folder(const char *state_dir, bool is_made) {
  char path[SETTINGS_PATH_BYTES];
  if (!settings_path(state_dir, FOLDER, path)) return -ENAMETOOLONG;
  if (is_made && mkdir(path, 0700) < 0 && errno != EEXIST) return -errno;
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

static bool writes_in_place(int fd) {
  struct statfs found;
  if (fstatfs(fd, &found) < 0) return false;
  return found.f_type == EXT4_SUPER_MAGIC || found.f_type == XFS_MAGIC ||
         found.f_type == TMPFS_MAGIC;
}

static void print_boot(char text[BOOT_DIGITS + 1]) {
  uint8_t boot[BOOT_DIGITS / 2];
  clock_boot_id(boot);
  hex_text_print(span_of(boot, sizeof boot), text, BOOT_DIGITS + 1);
}

static void print_name(char name[KEPT_NAME_BYTES], uint64_t run, const struct hold_target *target) {
  char boot[BOOT_DIGITS + 1];
  print_boot(boot);
  snprintf(name, KEPT_NAME_BYTES, "%s-%016" PRIx64 ".%" PRIu32 "%s", boot, run, target->id,
           target->collect == RING_HISTOGRAM ? HISTOGRAM_SUFFIX : RECORDER_SUFFIX);
}

/* Parses a name by print_name; other files in the folder are ignored. */
static bool parse_name(const char *name, struct kept_file *ret) {
  char boot[BOOT_DIGITS + 1];
  char *end;
  if (strlen(name) >= KEPT_NAME_BYTES || strspn(name, "0123456789abcdef") != BOOT_DIGITS ||
      name[BOOT_DIGITS] != '-')
    return false;
  const char *run = name + BOOT_DIGITS + 1;
  if (strspn(run, "0123456789abcdef") != 16 || run[16] != '.') return false;
  memset(ret, 0, sizeof *ret);
  ret->run = strtoull(run, NULL, 16);
  unsigned long id = strtoul(run + 17, &end, 10);
  bool is_histogram = strcmp(end, HISTOGRAM_SUFFIX) == 0;
  if (end == run + 17 || id > UINT32_MAX || (!is_histogram && strcmp(end, RECORDER_SUFFIX) != 0))
    return false;
  ret->collect = is_histogram ? RING_HISTOGRAM : RING_RECORDER;
  ret->id = (uint32_t)id;
  memcpy(ret->name, name, strlen(name) + 1);
  print_boot(boot);
  ret->is_this_boot = memcmp(boot, name, BOOT_DIGITS) == 0;
  return true;
}

static int by_age(const void *left, const void *right) {
  const struct kept_file *a = left, *b = right;
  return a->modified_ns < b->modified_ns ? -1 : a->modified_ns > b->modified_ns;
}

/* Lists into RET; RET_BYTES is their total size. */
static int list(int folder, struct kept_file ret[KEPT_FILES_MAX], uint64_t *ret_bytes) {
  int copy = fcntl(folder, F_DUPFD_CLOEXEC, 0), count = 0;
  DIR *entries = copy >= 0 ? fdopendir(copy) : NULL;
  struct dirent *entry;
  struct stat found;
  *ret_bytes = 0;
  if (entries == NULL) {
    if (copy >= 0) close(copy);
    return -errno;
  }
  rewinddir(entries);
  while (count < KEPT_FILES_MAX && (entry = readdir(entries)) != NULL) {
    if (!parse_name(entry->d_name, &ret[count])) continue;
    if (fstatat(folder, entry->d_name, &found, AT_SYMLINK_NOFOLLOW) < 0) continue;
    if (!S_ISREG(found.st_mode)) continue;
    ret[count].modified_ns = found.st_mtim.tv_sec * (int64_t)NS_PER_SECOND + found.st_mtim.tv_nsec;
    *ret_bytes += (uint64_t)found.st_blocks * 512;
    count++;
  }
  closedir(entries);
  qsort(ret, (size_t)count, sizeof *ret, by_age);
  return count;
}

static bool has_room(int folder, uint64_t bytes) {
  struct kept_file *files = calloc(KEPT_FILES_MAX, sizeof *files);
  uint64_t used = 0;
  int count = files != NULL ? list(folder, files, &used) : -ENOMEM;
  free(files);
  return count >= 0 && count < KEPT_FILES_MAX && used + bytes <= KEPT_FILES_BYTES_MAX;
}

static int make_in(int folder, const char *name, const struct hold_target *target) {
  uint64_t bytes = timer_ring_bytes(target);
  if (!writes_in_place(folder)) return -EOPNOTSUPP;
  if (!has_room(folder, bytes)) return -EDQUOT;
  int fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return -errno;
  int error = fallocate(fd, 0, 0, (off_t)bytes) < 0 ? -errno : timer_ring_fill(target, fd);
  if (!error) return fd;
  unlinkat(folder, name, 0);
  close(fd);
  return error;
}

int kept_files_make(const char *state_dir, uint64_t run, const struct hold_target *target) {
  char name[KEPT_NAME_BYTES];
  if (target->uid != geteuid()) return -EPERM;
  int folder = open_folder(state_dir, true);
  if (folder < 0) return folder;
  print_name(name, run, target);
  int fd = make_in(folder, name, target);
  close(folder);
  return fd;
}

const char *kept_files_explain(int error) {
  switch (error) {
  case -EOPNOTSUPP:
    return "the file system of the state directory does not write in place";
  case -EDQUOT:
    return "64 files or 64 MiB are kept already";
  case -EPERM:
    return "the program is another user's than the daemon";
  default:
    return strerror(-error);
  }
}

int kept_files_rename(const char *state_dir, const struct kept_file *file, uint64_t run,
                      const struct hold_target *target) {
  char name[KEPT_NAME_BYTES];
  int folder = open_folder(state_dir, false);
  if (folder < 0) return folder;
  print_name(name, run, target);
  int error = renameat(folder, file->name, folder, name) < 0 ? -errno : 0;
  close(folder);
  return error;
}

void kept_files_remove(const char *state_dir, uint64_t run, const struct hold_target *target) {
  struct kept_file file;
  print_name(file.name, run, target);
  kept_files_unlink(state_dir, &file);
}

int kept_files_list(const char *state_dir, struct kept_file ret[KEPT_FILES_MAX]) {
  uint64_t bytes;
  int folder = open_folder(state_dir, false);
  if (folder < 0) return folder;
  int count = list(folder, ret, &bytes);
  close(folder);
  return count;
}

int kept_files_open(const char *state_dir, const struct kept_file *file) {
  int folder = open_folder(state_dir, false);
  if (folder < 0) return folder;
  int fd = openat(folder, file->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  int error = fd < 0 ? -errno : fd;
  close(folder);
  return error;
}

int kept_files_is_free(const char *state_dir, const struct kept_file *file) {
  int folder = open_folder(state_dir, false);
  if (folder < 0) return folder;
  int fd = openat(folder, file->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  int error = fd < 0 ? -errno : 0;
  close(folder);
  if (fd < 0) return error;
  /* Our own read-only open does not conflict; a mapping keeps its descriptor's mode. */
  error = fcntl(fd, F_SETLEASE, F_RDLCK) < 0 ? -errno : 1;
  if (error == 1) fcntl(fd, F_SETLEASE, F_UNLCK);
  close(fd);
  return error == -EAGAIN ? 0 : error;
}

void kept_files_unlink(const char *state_dir, const struct kept_file *file) {
  int folder = open_folder(state_dir, false);
  if (folder < 0) return;
  unlinkat(folder, file->name, 0);
  close(folder);
}
