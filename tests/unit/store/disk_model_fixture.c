/* SPDX-License-Identifier: Apache-2.0 */
/* A disk's minimum guarantees:

   - A write may arrive or not until the file was flushed, one sector without the others, before or
     after any other write.  So may a change of the file's length.
   - A file that was made or deleted has changed its folder; that may arrive or not, too, in order,
     until the folder was flushed.  SQLite flushes it with the first flush of a WAL or a journal,
   and when it deletes one and requests a sync.

   Files are numbered like inodes: a WAL that is deleted and made again is another file. The index
   of a WAL (-shm) is memory and does not survive the cut. */
#include "disk_model_fixture.h"

#include "scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { FILES_MAX = 4096, SECTOR = 512, PATH_BYTES = 512 };

enum deed { WRITE, TRUNCATE, FLUSH, FLUSH_FOLDER, MAKE, DELETE, PROMISE };

struct event {
  enum deed deed;
  unsigned file;
  uint64_t at, len; /* AT: also a length, or the promise */
  uint8_t *bytes;
};

struct image {
  uint8_t *bytes;
  size_t len, room;
};

static struct {
  pthread_mutex_t lock;
  char dir[PATH_BYTES];
  bool is_recording;
  struct event *events;
  size_t count, room;
  char names[FILES_MAX][64];
  struct image before[FILES_MAX]; /* of the initial files */
  bool was_there[FILES_MAX], is_there[FILES_MAX];
  unsigned file_count;
  unsigned until_failure, failures, failed;
  int code, failing_code, cause;
  const char *failing_prefix, *held_prefix;
  unsigned held; /* that wait now */
  pthread_cond_t released, holds;
} disk = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .released = PTHREAD_COND_INITIALIZER,
          .holds = PTHREAD_COND_INITIALIZER};

struct shim {
  sqlite3_file base;
  unsigned file;
  char name[64];       /* its last part */
  bool is_known;       /* in the recorded folder */
  bool flushes_folder; /* with its first flush */
  sqlite3_file *real;  /* behind this struct */
};

/* ---- remembering ---- */

static void note(struct event event, const void *bytes) {
  if (disk.count == disk.room) {
    disk.room = disk.room > 0 ? disk.room * 2 : 1024;
    disk.events = reallocarray(disk.events, disk.room, sizeof *disk.events);
    assert_non_null(disk.events);
  }
  if (bytes != NULL) {
    event.bytes = malloc(event.len > 0 ? event.len : 1);
    memcpy(event.bytes, bytes, event.len);
  }
  disk.events[disk.count++] = event;
}

static const char *name_in_folder(const char *path) {
  size_t len = strlen(disk.dir);
  if (!disk.is_recording || path == NULL || strncmp(path, disk.dir, len) != 0 || path[len] != '/')
    return NULL;
  return path + len + 1;
}

/* The file that has NAME now; creates a new one if none has. */
static unsigned file_called(const char *name) {
  for (unsigned i = 0; i < disk.file_count; i++)
    if (disk.is_there[i] && strcmp(disk.names[i], name) == 0) return i;
  unsigned file = disk.file_count++;
  assert_true(file < FILES_MAX);
  snprintf(disk.names[file], sizeof disk.names[file], "%s", name);
  disk.is_there[file] = true;
  disk.was_there[file] = false;
  disk.before[file] = (struct image){NULL, 0, 0};
  note((struct event){.deed = MAKE, .file = file}, NULL);
  return file;
}

static void take_in(const char *name) {
  char path[PATH_BYTES + 80];
  struct stat status;
  size_t len = strlen(name);
  if (name[0] == '.' || strcmp(name, "node.key") == 0 ||
      (len > 4 && strcmp(name + len - 4, "-shm") == 0))
    return;
  snprintf(path, sizeof path, "%s/%s", disk.dir, name);
  int fd = open(path, O_RDONLY);
  assert_true(fd >= 0 && fstat(fd, &status) == 0);
  unsigned file = disk.file_count++;
  assert_true(file < FILES_MAX);
  snprintf(disk.names[file], sizeof disk.names[file], "%s", name);
  size_t size = (size_t)status.st_size;
  struct image image = {malloc(size + 1), size, size + 1};
  assert_int_equal(read(fd, image.bytes, size), (ssize_t)size);
  close(fd);
  disk.before[file] = image;
  disk.was_there[file] = disk.is_there[file] = true;
}

void disk_record(const char *dir) {
  for (size_t i = 0; i < disk.count; i++) free(disk.events[i].bytes);
  for (unsigned i = 0; i < disk.file_count; i++) free(disk.before[i].bytes);
  disk.count = 0;
  disk.file_count = 0;
  snprintf(disk.dir, sizeof disk.dir, "%s", dir);
  DIR *listing = opendir(dir);
  assert_non_null(listing);
  for (struct dirent *entry; (entry = readdir(listing)) != NULL;) take_in(entry->d_name);
  closedir(listing);
  disk.is_recording = true;
}

size_t disk_stop(void) {
  disk.is_recording = false;
  return disk.count;
}

/* With the lock held. */
static void note_deleted(const char *name) {
  for (unsigned i = 0; i < disk.file_count; i++) {
    if (!disk.is_there[i] || strcmp(disk.names[i], name) != 0) continue;
    disk.is_there[i] = false;
    note((struct event){.deed = DELETE, .file = i}, NULL);
  }
}

void disk_unlinked(const char *path) {
  pthread_mutex_lock(&disk.lock);
  const char *name = name_in_folder(path);
  if (name != NULL) note_deleted(name);
  pthread_mutex_unlock(&disk.lock);
}

void disk_promise(uint64_t value) {
  pthread_mutex_lock(&disk.lock);
  note((struct event){.deed = PROMISE, .at = value}, NULL);
  pthread_mutex_unlock(&disk.lock);
}

/* ---- failing ---- */

void disk_fail(unsigned n, unsigned count, int code) {
  pthread_mutex_lock(&disk.lock);
  disk.until_failure = n;
  disk.failures = count;
  disk.failed = 0;
  disk.code = code;
  pthread_mutex_unlock(&disk.lock);
}

void disk_fail_in(const char *prefix, int code) {
  pthread_mutex_lock(&disk.lock);
  disk.failing_prefix = prefix;
  disk.failing_code = code;
  pthread_mutex_unlock(&disk.lock);
}

void disk_fail_by(int cause) {
  pthread_mutex_lock(&disk.lock);
  disk.cause = cause;
  pthread_mutex_unlock(&disk.lock);
}

void disk_hold_in(const char *prefix) {
  pthread_mutex_lock(&disk.lock);
  disk.held_prefix = prefix;
  pthread_cond_broadcast(&disk.released);
  pthread_mutex_unlock(&disk.lock);
}

void disk_await_held(void) {
  pthread_mutex_lock(&disk.lock);
  while (disk.held == 0) pthread_cond_wait(&disk.holds, &disk.lock);
  pthread_mutex_unlock(&disk.lock);
}

int disk_has_failed(void) {
  pthread_mutex_lock(&disk.lock);
  bool has = disk.failed > 0 && disk.failed >= disk.failures;
  pthread_mutex_unlock(&disk.lock);
  return has;
}

static bool has_prefix(const struct shim *shim, const char *prefix) {
  return prefix != NULL && strncmp(shim->name, prefix, strlen(prefix)) == 0;
}

/* With the lock held, which others get meanwhile. */
static void wait_while_held(const struct shim *shim) {
  if (!has_prefix(shim, disk.held_prefix)) return;
  disk.held++;
  pthread_cond_broadcast(&disk.holds);
  while (has_prefix(shim, disk.held_prefix)) pthread_cond_wait(&disk.released, &disk.lock);
  disk.held--;
}

/* With the lock held. Returns the error of this write or flush, or SQLITE_OK. */
static int failure(const struct shim *shim) {
  errno = disk.cause; /* errno may be set after a success */
  if (has_prefix(shim, disk.failing_prefix)) return disk.failing_code;
  if (disk.until_failure == 0) return SQLITE_OK;
  if (disk.until_failure > 1) {
    disk.until_failure--;
    return SQLITE_OK;
  }
  if (disk.failed == disk.failures) return SQLITE_OK;
  disk.failed++;
  return disk.code;
}

/* ---- called by SQLite ---- */

static sqlite3_vfs *real_vfs(void) {
  return sqlite3_vfs_find("unix");
}

static struct shim *shim_of(sqlite3_file *file) {
  return (struct shim *)file;
}

#define REAL(file) (shim_of(file)->real)

static int on_close(sqlite3_file *file) {
  return REAL(file)->pMethods != NULL ? REAL(file)->pMethods->xClose(REAL(file)) : SQLITE_OK;
}

static int on_read(sqlite3_file *file, void *bytes, int len, sqlite3_int64 at) {
  return REAL(file)->pMethods->xRead(REAL(file), bytes, len, at);
}

static int on_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at) {
  struct shim *shim = shim_of(file);
  pthread_mutex_lock(&disk.lock);
  wait_while_held(shim);
  int code = failure(shim);
  if (code == SQLITE_OK && shim->is_known && disk.is_recording)
    note((struct event){WRITE, shim->file, (uint64_t)at, (uint64_t)len, NULL}, bytes);
  if (code == SQLITE_OK) code = REAL(file)->pMethods->xWrite(REAL(file), bytes, len, at);
  pthread_mutex_unlock(&disk.lock);
  return code;
}

static int on_truncate(sqlite3_file *file, sqlite3_int64 size) {
  struct shim *shim = shim_of(file);
  pthread_mutex_lock(&disk.lock);
  if (shim->is_known && disk.is_recording)
    note((struct event){TRUNCATE, shim->file, (uint64_t)size, 0, NULL}, NULL);
  int code = REAL(file)->pMethods->xTruncate(REAL(file), size);
  pthread_mutex_unlock(&disk.lock);
  return code;
}

static int on_flush(sqlite3_file *file, int flags) {
  struct shim *shim = shim_of(file);
  (void)flags;
  pthread_mutex_lock(&disk.lock);
  wait_while_held(shim);
  int code = failure(shim);
  if (code == SQLITE_OK && shim->is_known && disk.is_recording) {
    note((struct event){.deed = FLUSH, .file = shim->file}, NULL);
    if (shim->flushes_folder) note((struct event){.deed = FLUSH_FOLDER}, NULL);
    shim->flushes_folder = false;
  }
  pthread_mutex_unlock(&disk.lock);
  return code;
}

static int on_size(sqlite3_file *file, sqlite3_int64 *ret) {
  return REAL(file)->pMethods->xFileSize(REAL(file), ret);
}

static int on_lock(sqlite3_file *file, int level) {
  return REAL(file)->pMethods->xLock(REAL(file), level);
}

static int on_unlock(sqlite3_file *file, int level) {
  return REAL(file)->pMethods->xUnlock(REAL(file), level);
}

static int on_is_reserved(sqlite3_file *file, int *ret) {
  return REAL(file)->pMethods->xCheckReservedLock(REAL(file), ret);
}

static int on_control(sqlite3_file *file, int op, void *argument) {
  /* A size hint would change the length without a record of it. */
  if (op == SQLITE_FCNTL_SIZE_HINT || op == SQLITE_FCNTL_CHUNK_SIZE) return SQLITE_OK;
  return REAL(file)->pMethods->xFileControl(REAL(file), op, argument);
}

static int on_sector_size(sqlite3_file *file) {
  (void)file;
  return SECTOR;
}

static int on_characteristics(sqlite3_file *file) {
  (void)file;
  return 0; /* promises nothing that this disk does not keep */
}

static int on_shm_map(sqlite3_file *file, int page, int len, int extend, void volatile **ret) {
  return REAL(file)->pMethods->xShmMap(REAL(file), page, len, extend, ret);
}

static int on_shm_lock(sqlite3_file *file, int at, int count, int flags) {
  return REAL(file)->pMethods->xShmLock(REAL(file), at, count, flags);
}

static void on_shm_barrier(sqlite3_file *file) {
  REAL(file)->pMethods->xShmBarrier(REAL(file));
}

static int on_shm_unmap(sqlite3_file *file, int remove_it) {
  return REAL(file)->pMethods->xShmUnmap(REAL(file), remove_it);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = on_close,
    .xRead = on_read,
    .xWrite = on_write,
    .xTruncate = on_truncate,
    .xSync = on_flush,
    .xFileSize = on_size,
    .xLock = on_lock,
    .xUnlock = on_unlock,
    .xCheckReservedLock = on_is_reserved,
    .xFileControl = on_control,
    .xSectorSize = on_sector_size,
    .xDeviceCharacteristics = on_characteristics,
    .xShmMap = on_shm_map,
    .xShmLock = on_shm_lock,
    .xShmBarrier = on_shm_barrier,
    .xShmUnmap = on_shm_unmap,
};

static int on_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *ret) {
  struct shim *shim = shim_of(file);
  (void)vfs;
  shim->real = (sqlite3_file *)(shim + 1);
  shim->is_known = false;
  const char *slash = path != NULL ? strrchr(path, '/') : NULL;
  snprintf(shim->name, sizeof shim->name, "%s", slash != NULL ? slash + 1 : "");
  int code = real_vfs()->xOpen(real_vfs(), path, shim->real, flags, ret);
  shim->base.pMethods = shim->real->pMethods != NULL ? &methods : NULL;
  if (code != SQLITE_OK) return code;
  pthread_mutex_lock(&disk.lock);
  const char *name = name_in_folder(path);
  if (name != NULL && (flags & SQLITE_OPEN_DELETEONCLOSE) == 0) {
    shim->file = file_called(name);
    shim->is_known = true;
    shim->flushes_folder = (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0;
  }
  pthread_mutex_unlock(&disk.lock);
  return code;
}

static int on_delete(sqlite3_vfs *vfs, const char *path, int flush_folder) {
  (void)vfs;
  pthread_mutex_lock(&disk.lock);
  int code = real_vfs()->xDelete(real_vfs(), path, 0);
  const char *name = name_in_folder(path);
  if (name != NULL && code == SQLITE_OK) note_deleted(name);
  if (flush_folder && name != NULL) note((struct event){.deed = FLUSH_FOLDER}, NULL);
  pthread_mutex_unlock(&disk.lock);
  return code;
}

void disk_install(void) {
  static sqlite3_vfs vfs;
  vfs = *real_vfs();
  vfs.zName = "disk";
  vfs.szOsFile += (int)sizeof(struct shim);
  vfs.xOpen = on_open;
  vfs.xDelete = on_delete;
  assert_int_equal(sqlite3_vfs_register(&vfs, 1), SQLITE_OK);
}

/* ---- the cut ---- */

static void set_length(struct image *image, size_t len) {
  if (len > image->room) {
    image->room = len * 2;
    image->bytes = realloc(image->bytes, image->room);
    assert_non_null(image->bytes);
  }
  if (len > image->len) memset(image->bytes + image->len, 0, len - image->len);
  image->len = len;
}

static void apply_bytes(struct image *image, uint64_t at, const uint8_t *bytes, size_t len) {
  if (at + len > image->len) set_length(image, at + len);
  memcpy(image->bytes + at, bytes, len);
}

static void apply(struct image *image, const struct event *event) {
  if (event->deed == TRUNCATE) set_length(image, event->at);
  if (event->deed == WRITE) apply_bytes(image, event->at, event->bytes, event->len);
}

/* Lets some sectors of EVENT arrive. */
static void apply_some(struct image *image, const struct event *event, unsigned *seed) {
  if (event->deed == TRUNCATE && rand_r(seed) % 2 == 0) apply(image, event);
  for (uint64_t at = 0; event->deed == WRITE && at < event->len;) {
    uint64_t len = SECTOR - (event->at + at) % SECTOR;
    if (len > event->len - at) len = event->len - at;
    if (rand_r(seed) % 3 != 0) apply_bytes(image, event->at + at, event->bytes + at, len);
    at += len;
  }
}

/* The content of FILE if the power fails before step AT. */
static struct image image_at(unsigned file, size_t at, enum disk_cut cut, unsigned *seed) {
  struct image image = {.len = 0};
  size_t flushed = 0;
  if (disk.before[file].len > 0)
    apply_bytes(&image, 0, disk.before[file].bytes, disk.before[file].len);
  for (size_t i = 0; i < at; i++)
    if (disk.events[i].file == file && disk.events[i].deed == FLUSH) flushed = i;
  for (size_t i = 0; i < at; i++) {
    const struct event *event = &disk.events[i];
    if (event->deed > TRUNCATE || event->file != file) continue;
    if (i < flushed || cut == DISK_KEEPS_ALL)
      apply(&image, event);
    else if (cut == DISK_KEEPS_SOME)
      apply_some(&image, event, seed);
  }
  return image;
}

static void write_file(const char *dir, const char *name, const struct image *image) {
  char path[PATH_BYTES + 80];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, image->bytes, image->len), (ssize_t)image->len);
  close(fd);
}

/* How far changes of the folder have arrived: all that were flushed, and so many more. */
static size_t folder_until(size_t at, enum disk_cut cut, unsigned *seed) {
  size_t flushed = 0;
  for (size_t i = 0; i < at; i++)
    if (disk.events[i].deed == FLUSH_FOLDER) flushed = i;
  if (cut == DISK_LOSES_ALL) return flushed;
  return cut == DISK_KEEPS_ALL ? at : flushed + (size_t)rand_r(seed) % (at - flushed + 1);
}

/* The key of node ids is made by other means than SQLite's, durable before anything else. */
static void copy_key(const char *dir) {
  char path[PATH_BYTES + 80];
  uint8_t key[32];
  snprintf(path, sizeof path, "%s/node.key", disk.dir);
  int fd = open(path, O_RDONLY);
  if (fd < 0) return;
  struct image image = {key, sizeof key, 0};
  assert_int_equal(read(fd, key, sizeof key), (ssize_t)sizeof key);
  close(fd);
  write_file(dir, "node.key", &image);
}

uint64_t disk_cut(size_t at, enum disk_cut cut, unsigned seed, const char *dir) {
  uint64_t promise = 0;
  size_t until = folder_until(at, cut, &seed);
  bool *is_there = calloc(FILES_MAX, sizeof *is_there);
  assert_non_null(is_there);
  memcpy(is_there, disk.was_there, disk.file_count * sizeof *is_there);
  for (size_t i = 0; i < at; i++) {
    const struct event *event = &disk.events[i];
    if (event->deed == PROMISE) promise = event->at;
    if (i < until && event->deed == MAKE) is_there[event->file] = true;
    if (i < until && event->deed == DELETE) is_there[event->file] = false;
  }
  for (unsigned file = 0; file < disk.file_count; file++) {
    if (!is_there[file]) continue;
    struct image image = image_at(file, at, cut, &seed);
    write_file(dir, disk.names[file], &image);
    free(image.bytes);
  }
  free(is_there);
  copy_key(dir);
  return promise;
}
