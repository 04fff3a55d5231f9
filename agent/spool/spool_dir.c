/* SPDX-License-Identifier: Apache-2.0 */
/* All operations on names: DIR/%016x.seg, DIR/%016x.corrupt, DIR/quarantine/%016x.batch.  Numbers
   only grow, so the order of names is the order of age, without a clock (boards start in 1970).
   Files for diagnosis are bounded by count and bytes, oldest first: a board that is damaged every
   day must not fill its flash with them.

   The folder itself is locked (flock), so that two daemons cannot use one spool.  The lock is not
   on the disk: it ends with the process, however that ended, so it is never stale. */
#include "spool_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NAME_BYTES = 40, ID_DIGITS = 16, REASON_BYTES_MAX = 1024, IDS_FIRST = 16 };

static const char segment_suffix[] = ".seg";
static const char corrupt_suffix[] = ".corrupt";
static const char batch_suffix[] = ".batch";
static const char quarantine_name[] = "quarantine";

struct ids {
  uint64_t *items;
  size_t count, cap;
};

static void print_name(uint64_t id, const char *suffix, char name[NAME_BYTES]) {
  snprintf(name, NAME_BYTES, "%016llx%s", (unsigned long long)id, suffix);
}

static bool parse_name(const char *name, const char *suffix, uint64_t *ret_id) {
  uint64_t id = 0;
  for (int i = 0; i < ID_DIGITS; i++) {
    char c = name[i];
    if (c >= '0' && c <= '9')
      id = id << 4 | (uint64_t)(c - '0');
    else if (c >= 'a' && c <= 'f')
      id = id << 4 | (uint64_t)(c - 'a' + 10);
    else
      return false;
  }
  if (strcmp(name + ID_DIGITS, suffix) != 0) return false;
  *ret_id = id;
  return true;
}

static int add_id(struct ids *ids, uint64_t id) {
  if (ids->count == ids->cap) {
    size_t cap = ids->cap ? ids->cap * 2 : IDS_FIRST;
    uint64_t *items = reallocarray(ids->items, cap, sizeof *items);
    if (items == NULL) return -ENOMEM;
    ids->items = items;
    ids->cap = cap;
  }
  ids->items[ids->count++] = id;
  return 0;
}

static int compare_ids(const void *a, const void *b) {
  const uint64_t *left = a, *right = b;
  return *left < *right ? -1 : *left > *right;
}

/* Collects the numbers of the files with SUFFIX, sorted; the caller frees RET->items. */
static int list_ids(int dir, const char *suffix, struct ids *ret) {
  int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return -errno;
  DIR *stream = fdopendir(fd);
  if (stream == NULL) {
    int rc = -errno;
    close(fd);
    return rc;
  }
  struct ids ids = {0};
  int rc = 0;
  for (struct dirent *entry; rc == 0 && (entry = readdir(stream)) != NULL;) {
    uint64_t id;
    if (parse_name(entry->d_name, suffix, &id)) rc = add_id(&ids, id);
  }
  closedir(stream);
  if (rc < 0) {
    free(ids.items);
    return rc;
  }
  if (ids.count > 1) qsort(ids.items, ids.count, sizeof *ids.items, compare_ids);
  *ret = ids;
  return 0;
}

int spool_dir_open(const char *path, int *ret_dir) {
  if (mkdir(path, 0700) < 0 && errno != EEXIST) return -errno;
  int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir < 0) return -errno;
  if (flock(dir, LOCK_EX | LOCK_NB) < 0) {
    int rc = errno == EWOULDBLOCK ? -EBUSY : -errno;
    close(dir);
    return rc;
  }
  *ret_dir = dir;
  return 0;
}

int spool_dir_list(int dir, uint64_t **ret_ids, size_t *ret_count, uint64_t *ret_next) {
  struct ids segments, corrupt;
  int rc = list_ids(dir, segment_suffix, &segments);
  if (rc < 0) return rc;
  rc = list_ids(dir, corrupt_suffix, &corrupt);
  if (rc < 0) {
    free(segments.items);
    return rc;
  }
  uint64_t newest = segments.count > 0 ? segments.items[segments.count - 1] : 0;
  if (corrupt.count > 0 && corrupt.items[corrupt.count - 1] > newest)
    newest = corrupt.items[corrupt.count - 1];
  free(corrupt.items);
  *ret_ids = segments.items;
  *ret_count = segments.count;
  *ret_next = newest + 1;
  return 0;
}

int spool_dir_open_segment(int dir, uint64_t id, int flags, int *ret_fd) {
  char name[NAME_BYTES];
  print_name(id, segment_suffix, name);
  int fd = openat(dir, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (fd < 0) return -errno;
  struct stat status;
  int rc = fstat(fd, &status) < 0 ? -errno : S_ISREG(status.st_mode) ? 0 : -EINVAL;
  if (rc < 0) {
    close(fd);
    return rc;
  }
  *ret_fd = fd;
  return 0;
}

void spool_dir_remove(int dir, uint64_t id) {
  char name[NAME_BYTES];
  print_name(id, segment_suffix, name);
  unlinkat(dir, name, 0);
}

/* Unlinks the oldest files with SUFFIX until at most FILES_MAX and BYTES_MAX are left. */
static void thin_out(int dir, const char *suffix, size_t files_max, uint64_t bytes_max) {
  struct ids ids;
  if (list_ids(dir, suffix, &ids) < 0) return;
  uint64_t bytes = 0;
  size_t kept = 0;
  for (size_t i = ids.count; i-- > 0;) { /* newest first: these are kept */
    char name[NAME_BYTES];
    struct stat status;
    print_name(ids.items[i], suffix, name);
    if (fstatat(dir, name, &status, AT_SYMLINK_NOFOLLOW) < 0) continue;
    bytes += (uint64_t)status.st_size;
    if (++kept > files_max || bytes > bytes_max) unlinkat(dir, name, 0);
  }
  free(ids.items);
}

void spool_dir_set_aside(int dir, uint64_t id) {
  char from[NAME_BYTES], to[NAME_BYTES];
  print_name(id, segment_suffix, from);
  print_name(id, corrupt_suffix, to);
  if (renameat(dir, from, dir, to) < 0) unlinkat(dir, from, 0);
  thin_out(dir, corrupt_suffix, SPOOL_CORRUPT_FILES, SPOOL_CORRUPT_BYTES);
}

static int write_batch(int dir, const char *name, const char *reason, struct span payload) {
  int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return -errno;
  const struct iovec parts[3] = {
      {(void *)(uintptr_t)reason, strnlen(reason, REASON_BYTES_MAX)},
      {(void *)(uintptr_t) "\n", 1},
      {(void *)(uintptr_t)payload.data, payload.len},
  };
  ssize_t put = writev(fd, parts, 3);
  int rc = put < 0 ? -errno : 0;
  if (put >= 0 && (size_t)put != parts[0].iov_len + 1 + payload.len) rc = -ENOSPC;
  close(fd);
  if (rc < 0) unlinkat(dir, name, 0);
  return rc;
}

int spool_dir_quarantine(int dir, const char *reason, struct span payload) {
  if (mkdirat(dir, quarantine_name, 0700) < 0 && errno != EEXIST) return -errno;
  int fd = openat(dir, quarantine_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return -errno;
  struct ids ids;
  int rc = list_ids(fd, batch_suffix, &ids);
  if (rc == 0) {
    char name[NAME_BYTES];
    print_name(ids.count > 0 ? ids.items[ids.count - 1] + 1 : 1, batch_suffix, name);
    free(ids.items);
    rc = write_batch(fd, name, reason, payload);
    thin_out(fd, batch_suffix, SPOOL_QUARANTINE_FILES, SPOOL_QUARANTINE_BYTES);
  }
  close(fd);
  return rc;
}
