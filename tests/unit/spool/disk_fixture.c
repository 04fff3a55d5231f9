/* SPDX-License-Identifier: Apache-2.0 */
/* The model of a disk: a file has its synced content and any part of the later changes, and so does
   a folder. Names and contents are independent: a file may exist without content, and a deleted
   file may exist again. */
#include "disk_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

enum { FILES_MAX = 512, NAME_BYTES = 64, SECTOR_BYTES = 512 };

enum step_kind { STEP_WRITE, STEP_CUT, STEP_SYNC, STEP_NAME, STEP_UNLINK, STEP_SYNC_NAMES };

struct step {
  enum step_kind kind;
  unsigned file;
  size_t offset, len;
  uint8_t *bytes;
  char name[NAME_BYTES];
};

struct file {
  ino_t inode;
  bool is_gone; /* its inode's number may be another's soon */
  uint8_t *bytes;
  size_t len;
  char name[NAME_BYTES];
};

static struct {
  dev_t device;
  unsigned nth, calls;
  int error;
  bool is_lasting;
  const char *full_dir; /* or NULL */
  uint64_t full_bytes;
} fault;

static struct {
  bool is_on;
  ino_t folder;
  struct file files[FILES_MAX]; /* as they were when it began */
  unsigned file_count, base_count, step_count, step_cap;
  struct step *steps;
} record;

static atomic_uint calls;

/* --- Failing --- */

static bool is_on_disk(int fd) {
  struct stat status;
  if (fault.device == 0 || fd == AT_FDCWD) return fault.device != 0;
  return syscall(SYS_fstat, fd, &status) == 0 && status.st_dev == fault.device;
}

/* Counts one more call on FD's file system. Returns true if it must fail; errno is set. */
static bool is_failing(int fd) {
  if (!is_on_disk(fd)) return false;
  unsigned call = atomic_fetch_add(&calls, 1) + 1;
  if (fault.nth == 0 || call < fault.nth || (call > fault.nth && !fault.is_lasting)) return false;
  errno = fault.error;
  return true;
}

static uint64_t bytes_in(const char *path) {
  DIR *dir = opendir(path);
  struct stat status;
  uint64_t bytes = 0;
  assert_non_null(dir);
  for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
    if (fstatat(dirfd(dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(status.st_mode))
      bytes += (uint64_t)status.st_size;
  closedir(dir);
  return bytes;
}

/* LEN more bytes for FD. Returns true if the disk is full; errno is set. */
static bool is_full(int fd, size_t len) {
  if (fault.full_dir == NULL || !is_on_disk(fd)) return false;
  if (bytes_in(fault.full_dir) + len <= fault.full_bytes) return false;
  errno = ENOSPC;
  return true;
}

void disk_fill(const char *dir, uint64_t bytes) {
  disk_fail(dir, 0, 0, false);
  fault.full_dir = dir;
  fault.full_bytes = bytes;
}

void disk_fail(const char *dir, unsigned nth, int error, bool is_lasting) {
  struct stat status;
  assert_int_equal(stat(dir, &status), 0);
  fault.device = status.st_dev;
  fault.nth = nth;
  fault.error = error;
  fault.is_lasting = is_lasting;
  atomic_store(&calls, 0);
}

void disk_heal(void) {
  fault.nth = 0;
  fault.full_dir = NULL;
}

unsigned disk_calls(void) {
  return atomic_load(&calls);
}

/* --- Writing down --- */

static struct step *add_step(enum step_kind kind, unsigned file) {
  if (record.step_count == record.step_cap) {
    record.step_cap = record.step_cap ? 2 * record.step_cap : 64;
    record.steps = realloc(record.steps, record.step_cap * sizeof *record.steps);
    assert_non_null(record.steps);
  }
  struct step *step = &record.steps[record.step_count++];
  *step = (struct step){.kind = kind, .file = file};
  return step;
}

/* The number of FD's file, or FILES_MAX if it is not recorded. */
static unsigned file_of(int fd) {
  struct stat status;
  if (!record.is_on || syscall(SYS_fstat, fd, &status) != 0) return FILES_MAX;
  for (unsigned i = 0; i < record.file_count; i++)
    if (record.files[i].inode == status.st_ino && !record.files[i].is_gone) return i;
  return FILES_MAX;
}

static unsigned file_named(const char *name) {
  for (unsigned i = record.file_count; i-- > 0;)
    if (!record.files[i].is_gone && strcmp(record.files[i].name, name) == 0) return i;
  return FILES_MAX;
}

static bool is_folder(int dir) {
  struct stat status;
  return record.is_on && syscall(SYS_fstat, dir, &status) == 0 && status.st_ino == record.folder;
}

static void note_name(int fd, const char *name) {
  struct stat status;
  assert_int_equal(syscall(SYS_fstat, fd, &status), 0);
  assert_true(record.file_count < FILES_MAX);
  struct file *file = &record.files[record.file_count];
  *file = (struct file){.inode = status.st_ino};
  snprintf(file->name, sizeof file->name, "%s", name);
  struct step *step = add_step(STEP_NAME, record.file_count++);
  snprintf(step->name, sizeof step->name, "%s", name);
}

static void note_write(int fd, const struct iovec *parts, int count, size_t offset, size_t len) {
  unsigned file = file_of(fd);
  if (file == FILES_MAX || len == 0) return;
  struct step *step = add_step(STEP_WRITE, file);
  step->offset = offset;
  step->bytes = malloc(len);
  assert_non_null(step->bytes);
  for (int i = 0; i < count && step->len < len; i++) {
    size_t part = parts[i].iov_len < len - step->len ? parts[i].iov_len : len - step->len;
    memcpy(step->bytes + step->len, parts[i].iov_base, part);
    step->len += part;
  }
}

int openat(int dir, const char *name, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (is_failing(dir)) return -1;
  int fd = (int)syscall(SYS_openat, dir, name, flags, mode);
  if (fd >= 0 && (flags & O_CREAT) != 0 && is_folder(dir)) note_name(fd, name);
  return fd;
}

int mkdir(const char *path, mode_t mode) {
  bool is_there = access(path, F_OK) == 0; /* then the disk is not involved */
  if (!is_there && is_failing(AT_FDCWD)) return -1;
  return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int mkdirat(int dir, const char *name, mode_t mode) {
  return is_failing(dir) ? -1 : (int)syscall(SYS_mkdirat, dir, name, mode);
}

int unlinkat(int dir, const char *name, int flags) {
  if (is_failing(dir)) return -1;
  int result = (int)syscall(SYS_unlinkat, dir, name, flags);
  if (result == 0 && is_folder(dir) && file_named(name) != FILES_MAX) {
    struct step *step = add_step(STEP_UNLINK, file_named(name));
    snprintf(step->name, sizeof step->name, "%s", name);
    record.files[step->file].is_gone = true;
  }
  return result;
}

int renameat(int from_dir, const char *from, int to_dir, const char *to) {
  if (is_failing(from_dir)) return -1;
  int result = (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, 0);
  unsigned file = result == 0 && is_folder(from_dir) ? file_named(from) : FILES_MAX;
  if (file == FILES_MAX) return result;
  struct step *step = add_step(STEP_UNLINK, file);
  snprintf(step->name, sizeof step->name, "%s", from);
  step = add_step(STEP_NAME, file);
  snprintf(step->name, sizeof step->name, "%s", to);
  snprintf(record.files[file].name, NAME_BYTES, "%s", to);
  return result;
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  size_t len = 0;
  for (int i = 0; i < count; i++) len += parts[i].iov_len;
  if (is_failing(fd) || is_full(fd, len)) return -1;
  ssize_t put = syscall(SYS_pwritev, fd, parts, count, (long)offset, 0L);
  if (put > 0) note_write(fd, parts, count, (size_t)offset, (size_t)put);
  return put;
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t offset) {
  const struct iovec part = {(void *)(uintptr_t)bytes, len};
  return pwritev(fd, &part, 1, offset);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  return is_failing(fd) ? -1 : syscall(SYS_writev, fd, parts, count);
}

ssize_t sendfile(int to, int from, off_t *offset, size_t count) {
  bool is_refused = is_failing(to) || is_full(to, count);
  return is_refused ? -1 : syscall(SYS_sendfile, to, from, offset, count);
}

ssize_t pread(int fd, void *bytes, size_t len, off_t offset) {
  return is_failing(fd) ? -1 : syscall(SYS_pread64, fd, bytes, len, offset);
}

int ftruncate(int fd, off_t len) {
  if (is_failing(fd)) return -1;
  int result = (int)syscall(SYS_ftruncate, fd, len);
  unsigned file = result == 0 ? file_of(fd) : FILES_MAX;
  if (file != FILES_MAX) add_step(STEP_CUT, file)->len = (size_t)len;
  return result;
}

int fsync(int fd) {
  if (is_failing(fd)) return -1;
  if (!record.is_on) return 0; /* no power cut is simulated, and a real sync takes its time */
  unsigned file = file_of(fd);
  if (is_folder(fd)) add_step(STEP_SYNC_NAMES, FILES_MAX);
  if (file != FILES_MAX) add_step(STEP_SYNC, file);
  return 0;
}

static void copy_name(char to[NAME_BYTES], const char *name) {
  assert_true(strlen(name) < NAME_BYTES);
  memcpy(to, name, strlen(name) + 1);
}

static void load_file(const char *dir, const char *name) {
  char path[512];
  struct stat status;
  snprintf(path, sizeof path, "%s/%s", dir, name);
  assert_int_equal(stat(path, &status), 0);
  if (!S_ISREG(status.st_mode)) return;
  assert_true(record.file_count < FILES_MAX);
  struct file *file = &record.files[record.file_count++];
  *file = (struct file){.inode = status.st_ino, .len = (size_t)status.st_size};
  file->bytes = malloc(file->len + 1);
  copy_name(file->name, name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  assert_int_equal(syscall(SYS_pread64, fd, file->bytes, file->len, 0L), status.st_size);
  close(fd);
}

void disk_record(const char *dir) {
  struct stat status;
  disk_stop();
  assert_int_equal(stat(dir, &status), 0);
  DIR *stream = opendir(dir);
  for (struct dirent *entry; (entry = readdir(stream)) != NULL;) load_file(dir, entry->d_name);
  closedir(stream);
  record.base_count = record.file_count;
  record.folder = status.st_ino;
  record.is_on = true;
}

void disk_stop(void) {
  for (unsigned i = 0; i < record.step_count; i++) free(record.steps[i].bytes);
  for (unsigned i = 0; i < record.file_count; i++) free(record.files[i].bytes);
  free(record.steps);
  memset(&record, 0, sizeof record);
}

unsigned disk_steps(void) {
  return record.step_count;
}

/* --- The power cut --- */

static unsigned random_state;

static unsigned random_below(unsigned limit) {
  random_state = random_state * 1103515245U + 12345U;
  return (random_state >> 16) % limit;
}

/* Whether an unsynced step is kept. */
static bool is_kept(unsigned cut) {
  return cut == CUT_KEEPS_ALL || (cut != CUT_KEEPS_NOTHING && random_below(2) == 0);
}

static unsigned last_sync(enum step_kind kind, unsigned file, unsigned steps) {
  for (unsigned i = steps; i-- > 0;)
    if (record.steps[i].kind == kind && (kind == STEP_SYNC_NAMES || record.steps[i].file == file))
      return i;
  return 0;
}

static void apply_write(struct file *file, const struct step *step, bool may_tear) {
  size_t end = step->offset + step->len, done = step->len;
  bool is_longer = end > file->len;
  if (is_longer) {
    file->bytes = realloc(file->bytes, end);
    assert_non_null(file->bytes);
    memset(file->bytes + file->len, 0, end - file->len);
    file->len = end;
  }
  if (may_tear && random_below(3) == 0) { /* up to a sector's end: the rest is zeros, or cut */
    size_t sectors = (step->offset + random_below((unsigned)step->len)) / SECTOR_BYTES;
    size_t until = sectors * SECTOR_BYTES;
    done = until > step->offset ? until - step->offset : 0;
    if (is_longer && random_below(2) == 0) file->len = step->offset + done;
  }
  memcpy(file->bytes + step->offset, step->bytes, done);
}

static void make_file(const char *dir, const char *name, unsigned index, unsigned steps,
                      unsigned cut) {
  const struct file *base = &record.files[index];
  struct file file = {.len = base->len, .bytes = malloc(base->len + 1)};
  if (base->len > 0) memcpy(file.bytes, base->bytes, base->len);
  unsigned synced = last_sync(STEP_SYNC, index, steps);
  for (unsigned i = 0; i < steps; i++) {
    const struct step *step = &record.steps[i];
    if (step->file != index || (step->kind != STEP_WRITE && step->kind != STEP_CUT)) continue;
    bool is_safe = i < synced;
    if (!is_safe && !is_kept(cut)) continue;
    if (step->kind == STEP_WRITE) apply_write(&file, step, !is_safe && cut >= CUT_IS_RANDOM);
    if (step->kind == STEP_CUT && step->len < file.len) file.len = step->len;
  }
  char path[512];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  assert_true(fd >= 0);
  if (file.len > 0) assert_int_equal(write(fd, file.bytes, file.len), (ssize_t)file.len);
  close(fd);
  free(file.bytes);
}

void disk_cut(const char *dir, unsigned steps, unsigned cut) {
  bool is_there[FILES_MAX] = {false};
  const char *names[FILES_MAX] = {NULL};
  random_state = cut * 7919 + steps;
  for (unsigned i = 0; i < record.base_count; i++) is_there[i] = true;
  for (unsigned i = 0; i < record.base_count; i++) names[i] = record.files[i].name;
  unsigned synced = last_sync(STEP_SYNC_NAMES, FILES_MAX, steps);
  for (unsigned i = 0; i < steps; i++) {
    const struct step *step = &record.steps[i];
    if (step->kind != STEP_NAME && step->kind != STEP_UNLINK) continue;
    if (i >= synced && !is_kept(cut)) continue;
    is_there[step->file] = step->kind == STEP_NAME;
    if (step->kind == STEP_NAME) names[step->file] = step->name;
  }
  for (unsigned i = 0; i < record.file_count; i++)
    if (is_there[i]) make_file(dir, names[i], i, steps, cut);
}
