/* SPDX-License-Identifier: Apache-2.0 */
/* Tables outlive the daemon, because a board runs the same programs from one start to the next.

     table | mark

   The mark is at the end, so that the table begins on a page boundary. A file is written under a
   temporary name and renamed, so a file under a module's name is complete. Nothing is synced,
   because everything can be made again. A power cut may therefore leave a name without its data, so
   the mark has the table's checksum, which every opening verifies.

   The modification time records the last use, and an opening sets it: access times are disabled on
   many boards. */
#include "table_file.h"

#include "common/hex_text.h"
#include "common/table.h"
#include "common/write_all.h"
#include "unwind/unwind_arch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 8192 /* of the folder that are examined */ };

static const char suffix[] = ".table";
static const char new_prefix[] = "new-";

void table_file_name(struct span id, char ret[TABLE_FILE_NAME_BYTES]) {
  size_t count = id.len < LIMIT_MODULE_ID_BYTES ? id.len : LIMIT_MODULE_ID_BYTES;
  size_t at = hex_text_print(span_of(id.data, count), ret, TABLE_FILE_NAME_BYTES);
  snprintf(ret + at, TABLE_FILE_NAME_BYTES - at, "%s", suffix);
}

int table_file_write(int fd, struct span table, struct table_mark *mark) {
  mark->magic = TABLE_FILE_MAGIC;
  mark->version = TABLE_FILE_VERSION;
  mark->table_version = UNWIND_TABLE_VERSION;
  mark->table_bytes = table.len;
  mark->checksum = table_hash(table.data, table.len, mark->id_bytes);
  int error = write_all(fd, table);
  return error ? error : write_all(fd, span_of(mark, sizeof *mark));
}

static int read_mark(int fd, uint64_t size, struct table_mark *ret) {
  if (size < sizeof *ret) return -EBADMSG;
  ssize_t got = pread(fd, ret, sizeof *ret, (off_t)(size - sizeof *ret));
  if (got != (ssize_t)sizeof *ret) return got < 0 ? -errno : -EBADMSG;
  ret->why[sizeof ret->why - 1] = '\0';
  return 0;
}

static int check_mark(const struct table_mark *mark, uint64_t size, struct span id) {
  if (mark->magic != TABLE_FILE_MAGIC) return -EBADMSG;
  if (mark->version != TABLE_FILE_VERSION || mark->table_version != UNWIND_TABLE_VERSION)
    return -EPROTO;
  if (mark->id_bytes > sizeof mark->id || !span_is_equal(span_of(mark->id, mark->id_bytes), id))
    return -EPROTO;
  if (mark->table_bytes != size - sizeof *mark) return -EBADMSG;
  if (mark->state < TABLE_READY || mark->state > TABLE_FAILED) return -EBADMSG;
  return (mark->state == TABLE_READY) == (mark->table_bytes > 0) ? 0 : -EBADMSG;
}

static int map_table(int fd, const struct table_mark *mark, const struct unwind_table **ret) {
  size_t bytes = (size_t)mark->table_bytes;
  void *map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0); /* all that seals allow */
  if (map == MAP_FAILED) return -errno;
  int error = table_hash(map, bytes, mark->id_bytes) == mark->checksum ? 0 : -EBADMSG;
  if (!error) error = unwind_table_check(map, bytes, unwind_arch.machine);
  if (!error && ((const struct unwind_table *)map)->total_bytes != bytes) error = -EBADMSG;
  if (error)
    munmap(map, bytes);
  else
    *ret = map;
  return error;
}

int table_file_read(int fd, struct span id, struct table_file *ret) {
  struct table_mark mark;
  struct stat found;
  const struct unwind_table *table = NULL;
  if (fstat(fd, &found) < 0) return -errno;
  uint64_t size = (uint64_t)found.st_size;
  int error = read_mark(fd, size, &mark);
  if (!error) error = check_mark(&mark, size, id);
  if (!error && mark.state == TABLE_READY) error = map_table(fd, &mark, &table);
  if (error) return error;
  ret->state = (enum table_state)mark.state;
  ret->table = table;
  memcpy(ret->why, mark.why, sizeof ret->why);
  return 0;
}

void table_file_unmap(struct table_file *file) {
  if (file->table != NULL) munmap((void *)(uintptr_t)file->table, file->table->total_bytes);
  file->table = NULL;
}

static int open_folder(const char *folder) {
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  return fd >= 0 ? fd : -errno;
}

int table_file_open(const char *folder, struct span id) {
  char name[TABLE_FILE_NAME_BYTES];
  int directory = open_folder(folder);
  if (directory < 0) return directory;
  table_file_name(id, name);
  int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  int error = fd < 0 ? -errno : 0;
  close(directory);
  if (error) return error;
  futimens(fd, NULL);
  return fd;
}

void table_file_remove(const char *folder, struct span id) {
  char name[TABLE_FILE_NAME_BYTES];
  int directory = open_folder(folder);
  if (directory < 0) return;
  table_file_name(id, name);
  unlinkat(directory, name, 0);
  close(directory);
}

struct kept {
  char name[TABLE_FILE_NAME_BYTES];
  uint64_t bytes;
  struct timespec used;
};

static bool is_ours(const char *name) {
  size_t len = strlen(name), tail = sizeof suffix - 1;
  if (strncmp(name, new_prefix, sizeof new_prefix - 1) == 0) return true;
  return len > tail && len < TABLE_FILE_NAME_BYTES && strcmp(name + len - tail, suffix) == 0;
}

/* Lists FOLDER's files into RET, which has room for FILES_MAX, or only sums their sizes (NULL). */
static unsigned list(const char *folder, struct kept *ret, uint64_t *ret_bytes) {
  struct stat found;
  unsigned count = 0;
  *ret_bytes = 0;
  int fd = open_folder(folder);
  DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
  if (entries == NULL && fd >= 0) close(fd);
  for (const struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
    if (count == FILES_MAX || !is_ours(entry->d_name)) continue;
    if (fstatat(fd, entry->d_name, &found, AT_SYMLINK_NOFOLLOW) < 0) continue;
    *ret_bytes += (uint64_t)found.st_size;
    if (ret != NULL) {
      snprintf(ret[count].name, sizeof ret->name, "%s", entry->d_name);
      ret[count].bytes = (uint64_t)found.st_size;
      ret[count].used = found.st_mtim;
    }
    count++;
  }
  if (entries != NULL) closedir(entries);
  return count;
}

uint64_t table_file_sum(const char *folder) {
  uint64_t bytes;
  list(folder, NULL, &bytes);
  return bytes;
}

static int compare_ages(const void *a, const void *b) {
  const struct timespec *left = &((const struct kept *)a)->used;
  const struct timespec *right = &((const struct kept *)b)->used;
  if (left->tv_sec != right->tv_sec) return left->tv_sec < right->tv_sec ? -1 : 1;
  return (left->tv_nsec > right->tv_nsec) - (left->tv_nsec < right->tv_nsec);
}

/* Removes the least recently used files. */
static void trim(int directory, const char *folder, uint64_t bytes_max) {
  uint64_t bytes = table_file_sum(folder);
  if (bytes <= bytes_max) return;
  struct kept *files = calloc(FILES_MAX, sizeof *files);
  if (files == NULL) return;
  unsigned count = list(folder, files, &bytes);
  qsort(files, count, sizeof *files, compare_ages);
  for (unsigned i = 0; i < count && bytes > bytes_max; i++) {
    if (unlinkat(directory, files[i].name, 0) < 0) continue;
    bytes -= files[i].bytes;
  }
  free(files);
}

static int write_new(int directory, const char *temporary, struct span table,
                     struct table_mark *mark) {
  int fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return -errno;
  int error = table_file_write(fd, table, mark);
  return close(fd) < 0 && !error ? -errno : error;
}

int table_file_keep(const char *folder, struct span table, struct table_mark *mark,
                    uint64_t bytes_max) {
  char name[TABLE_FILE_NAME_BYTES], temporary[32];
  if (table.len + sizeof *mark > bytes_max) return -EFBIG;
  int directory = open_folder(folder);
  if (directory < 0) return directory;
  snprintf(temporary, sizeof temporary, "%s%d", new_prefix, (int)getpid());
  table_file_name(span_of(mark->id, mark->id_bytes), name);
  unlinkat(directory, temporary, 0); /* left by a killed process with the same pid */
  int error = write_new(directory, temporary, table, mark);
  if (!error && renameat(directory, temporary, directory, name) < 0) error = -errno;
  if (error)
    unlinkat(directory, temporary, 0);
  else
    trim(directory, folder, bytes_max);
  close(directory);
  return error;
}
