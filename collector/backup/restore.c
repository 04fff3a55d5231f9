/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a folder from a backup.

   The folder may be a mount point, so it cannot be made under another name and renamed: it is
   filled in place. A mark stays in it until everything is verified and durable; a collector does
   not start while the mark exists. On any failure the unpacked files are deleted, so that the
   folder is as it was. After a kill or a power cut the mark remains, and its message has the
   remedy.

   The folder's lock is held, as a running collector does. If root restores for the collector's
   user, the files are given to the folder's owner. */
#include "backup.h"

#include "archive.h"
#include "common/buf.h"
#include "folder_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  TITLE_BYTES_MAX = 1 << 20,
  FOLDER_MODE = 0700,
  FILE_MODE = 0600,
};

struct restoring {
  const struct backup_wish *wish;
  struct archive *archive;
  struct backup_report report;
  uint64_t done, total;
  int folder, lock;
  bool is_made; /* this process created the folder */
  bool is_ours; /* it was empty: all its contents were unpacked here */
  struct stat owner;
  char *error;
  size_t error_len;
};

__attribute__((format(printf, 3, 4))) static int complain(struct restoring *restoring, int error,
                                                          const char *format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(restoring->error, restoring->error_len, format, values);
  va_end(values);
  return error;
}

static int complain_of(struct restoring *restoring, const char *what, int error) {
  return complain(restoring, error, "%s: %s", what,
                  error == -EBADMSG ? "is damaged or cut: nothing of it was kept"
                  : error == -EINTR ? "stopped"
                                    : strerror(-error));
}

static int on_bytes(void *context, uint64_t bytes) {
  struct restoring *restoring = context;
  restoring->done += bytes;
  return restoring->wish->on_progress(restoring->wish->context, restoring->done, restoring->total);
}

/* ---- the folder ---- */

/* Returns 0 if the folder has no files of a collector. */
static int check_empty(struct restoring *restoring) {
  const char *dir = restoring->wish->dir;
  int result = 0;
  DIR *listing = opendir(dir);
  if (listing == NULL) return complain_of(restoring, dir, -errno);
  for (struct dirent *entry; result == 0 && (entry = readdir(listing)) != NULL;) {
    const char *name = entry->d_name;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, "lock") == 0 ||
        strcmp(name, "lost+found") == 0)
      continue;
    result =
        complain(restoring, -ENOTEMPTY, "--data %s: %s; give an empty folder or a new name", dir,
                 strcmp(name, FOLDER_RESTORING) == 0
                     ? "an earlier restore into it did not end: empty it first"
                     : "holds something already");
  }
  closedir(listing);
  return result;
}

static int take_lock(struct restoring *restoring) {
  const char *dir = restoring->wish->dir;
  restoring->lock =
      openat(restoring->folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
  if (restoring->lock < 0) return complain_of(restoring, dir, -errno);
  if (flock(restoring->lock, LOCK_EX | LOCK_NB) == 0) return 0;
  return errno == EWOULDBLOCK
             ? complain(restoring, -EBUSY, "--data %s: a collector runs on this folder", dir)
             : complain_of(restoring, dir, -errno);
}

/* Gives the file FD to the folder's owner. */
static int give(const struct restoring *restoring, int fd) {
  if (geteuid() != 0 || restoring->owner.st_uid == 0) return 0;
  return fchown(fd, restoring->owner.st_uid, restoring->owner.st_gid) == 0 ? 0 : -errno;
}

/* Opens the folder, checks that it is empty, and creates the mark. */
static int prepare(struct restoring *restoring) {
  const char *dir = restoring->wish->dir;
  restoring->is_made = mkdir(dir, FOLDER_MODE) == 0;
  if (!restoring->is_made && errno != EEXIST) return complain_of(restoring, dir, -errno);
  restoring->folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (restoring->folder < 0 || fstat(restoring->folder, &restoring->owner) != 0)
    return complain_of(restoring, dir, -errno);
  int error = take_lock(restoring);
  if (error == 0) error = check_empty(restoring);
  if (error != 0) return error;
  restoring->is_ours = true;
  int mark = openat(restoring->folder, FOLDER_RESTORING, O_WRONLY | O_CREAT | O_CLOEXEC, FILE_MODE);
  if (mark < 0) return complain_of(restoring, dir, -errno);
  error = give(restoring, mark);
  if (error == 0 && give(restoring, restoring->lock) != 0) error = -errno;
  if (error == 0 && (fsync(mark) != 0 || fsync(restoring->folder) != 0)) error = -errno;
  close(mark);
  return error == 0 ? 0 : complain_of(restoring, dir, error);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *at) {
  (void)status, (void)type;
  const char *name = path + at->base;
  if (at->level == 0 ||
      (at->level == 1 && (strcmp(name, "lock") == 0 || strcmp(name, "lost+found") == 0 ||
                          strcmp(name, FOLDER_RESTORING) == 0)))
    return 0;
  remove(path);
  return 0;
}

/* Restores the original state of the folder. The mark is deleted last. */
static void undo(struct restoring *restoring) {
  const char *dir = restoring->wish->dir;
  if (restoring->is_ours) {
    nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    unlinkat(restoring->folder, FOLDER_RESTORING, 0);
  }
  if (!restoring->is_made) return;
  if (restoring->folder >= 0) unlinkat(restoring->folder, "lock", 0);
  rmdir(dir);
}

/* ---- its files ---- */

/* Makes the parent folders of NAME. */
static int make_folders(struct restoring *restoring, const char *name) {
  char path[TAR_NAME_BYTES];
  for (const char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    snprintf(path, sizeof path, "%.*s", (int)(slash - name), name);
    if (mkdirat(restoring->folder, path, FOLDER_MODE) != 0) {
      if (errno != EEXIST) return -errno;
      continue;
    }
    int fd = openat(restoring->folder, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return -errno;
    int error = give(restoring, fd);
    close(fd);
    if (error != 0) return error;
  }
  return 0;
}

static int unpack(struct restoring *restoring, const struct tar_member *member) {
  enum folder_kind kind = folder_kind_of(member->name);
  if (kind != FOLDER_FILE && kind != FOLDER_DATABASE)
    return complain(restoring, -EBADMSG, "%s: holds %s, which no backup does",
                    restoring->wish->file, member->name);
  int error = make_folders(restoring, member->name);
  if (error != 0) return complain_of(restoring, member->name, error);
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
  int fd = openat(restoring->folder, member->name, flags, FILE_MODE);
  if (fd < 0) return complain_of(restoring, member->name, -errno);
  error = archive_extract(restoring->archive, fd);
  if (error == 0 && fchmod(fd, FILE_MODE) != 0) error = -errno;
  if (error == 0) error = give(restoring, fd);
  if (close(fd) != 0 && error == 0) error = -errno;
  restoring->report.files++;
  restoring->report.bytes += member->size;
  return error == 0 ? 0
                    : complain_of(restoring,
                                  error == -EBADMSG ? restoring->wish->file : member->name, error);
}

/* Reads the first member, BACKUP. */
static int read_title(struct restoring *restoring) {
  const char *file = restoring->wish->file;
  struct tar_member member;
  int version = 0;
  int row = archive_next(restoring->archive, &member);
  if (row < 0 && row != -EBADMSG) return complain_of(restoring, file, row);
  if (row != 1 || strcmp(member.name, "BACKUP") != 0 || member.size > TITLE_BYTES_MAX)
    return complain(restoring, -EBADMSG, "%s: is no backup of a collector", file);
  char *title = calloc(1, (size_t)member.size + 1);
  if (title == NULL) return complain_of(restoring, file, -ENOMEM);
  int error = archive_extract_text(restoring->archive, title);
  int read = error != 0 ? 0
                        : sscanf(title, "fleetprof backup %d\nmoment: %*s %" SCNu64, &version,
                                 &restoring->report.moment_ms);
  for (const char *line = title; (line = strstr(line, "\nleft out: ")) != NULL; line++) {
    restoring->report.left_out++;
    const char *name = line + sizeof "\nleft out: " - 1;
    char text[TAR_NAME_BYTES];
    snprintf(text, sizeof text, "%.*s", (int)strcspn(name, ":\n"), name);
    restoring->wish->on_left_out(restoring->wish->context, text, "the backup was made without it");
  }
  free(title);
  if (read >= 1 && version > BACKUP_VERSION)
    return complain(restoring, -EPROTO,
                    "%s: written by a newer fleetprof: backup format %d, this one knows %d", file,
                    version, BACKUP_VERSION);
  if (read == 2 && version == BACKUP_VERSION) return 0;
  return error < 0 ? complain_of(restoring, file, error)
                   : complain(restoring, -EBADMSG, "%s: is no backup of a collector", file);
}

static int unpack_all(struct restoring *restoring) {
  struct tar_member member;
  int row;
  while ((row = archive_next(restoring->archive, &member)) == 1) {
    int error = unpack(restoring, &member);
    if (error != 0) return error;
  }
  return row == 0 ? 0 : complain_of(restoring, restoring->wish->file, row);
}

/* Makes everything durable, then deletes the mark. */
static int settle(struct restoring *restoring) {
  int error = syncfs(restoring->folder) == 0 ? 0 : -errno;
  if (error == 0 && unlinkat(restoring->folder, FOLDER_RESTORING, 0) != 0) error = -errno;
  if (error == 0 && fsync(restoring->folder) != 0) error = -errno;
  return error == 0 ? 0 : complain_of(restoring, restoring->wish->dir, error);
}

int backup_restore(const struct backup_wish *wish, struct backup_report *ret, char *error,
                   size_t error_len) {
  struct restoring restoring = {
      .wish = wish, .folder = -1, .lock = -1, .error = error, .error_len = error_len};
  struct stat status;
  int result = archive_open(wish->file, &restoring.archive);
  if (result != 0) return complain_of(&restoring, wish->file, result);
  archive_on_progress(restoring.archive, on_bytes, &restoring);
  if (stat(wish->file, &status) == 0) restoring.total = (uint64_t)status.st_size;
  result = read_title(&restoring);
  if (result == 0) {
    result = prepare(&restoring);
    if (result == 0) result = unpack_all(&restoring);
    if (result == 0) result = settle(&restoring);
    if (result != 0) undo(&restoring);
  }
  archive_close(restoring.archive);
  if (restoring.lock >= 0) close(restoring.lock);
  if (restoring.folder >= 0) close(restoring.folder);
  if (result == 0) *ret = restoring.report;
  return result;
}

int backup_look(const char *dir, char *error, size_t error_len) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", dir, FOLDER_RESTORING);
  if (access(path, F_OK) != 0) return 0;
  snprintf(error, error_len, "--data %s: a restore into it did not end: empty it, restore again",
           dir);
  return -EBUSY;
}
