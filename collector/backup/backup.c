/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a backup:

     BACKUP        format version, time of the moment, and files left out
     landing.db    each database as it was at that moment (moment.h), copied through a temporary
     day-*.db ...  file, because a tar header needs the size first
     ca/, node.key, debug/, sources/, audit.log ...
     SHA256SUMS    (archive.h)

   Other files never change under their names, since they are written under temporary names and
   renamed. The log is the exception: it grows. The authority's files are copied while its lock is
   held, so that key and certificate match. A debug file that arrives after the moment is not in the
   catalogue and is deleted after a restore. One that was evicted since is requested again.

   Disk space: as much as the folder takes, plus the largest database once more while it is
   copied. */
#include "backup.h"

#include "archive.h"
#include "common/buf.h"
#include "common/clock.h"
#include "folder_walk.h"
#include "identity/ca_files.h"
#include "moment.h"
#include "store/db_snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct making {
  const struct backup_wish *wish;
  struct archive *archive;
  struct backup_report report;
  uint64_t done, total;
  struct buf left_out; /* lines for BACKUP */
  bool is_ca;          /* walking the authority's folder; else all others */
  char *error;
  size_t error_len;
};

static int complain(struct making *making, const char *what, int error) {
  snprintf(making->error, making->error_len, "%s: %s", what,
           error == -EINTR ? "stopped" : strerror(-error));
  return error;
}

static void leave_out(struct making *making, const char *name, const char *why) {
  making->report.left_out++;
  buf_printf(&making->left_out, "left out: %s: %s\n", name, why);
  making->wish->on_left_out(making->wish->context, name, why);
}

static void on_damaged(void *context, const char *name) {
  leave_out(context, name, "it is damaged");
}

static int on_bytes(void *context, uint64_t bytes) {
  struct making *making = context;
  making->done += bytes;
  return making->wish->on_progress(making->wish->context, making->done, making->total);
}

static int on_step(void *context) {
  return on_bytes(context, 0);
}

/* Adds the open file FD as NAME. */
static int add_open(struct making *making, const char *name, int fd) {
  struct tar_member member;
  struct stat status;
  if (fstat(fd, &status) != 0) return complain(making, name, -errno);
  member = (struct tar_member){.size = (uint64_t)status.st_size,
                               .mtime_s = (uint64_t)status.st_mtime,
                               .mode = status.st_mode & 0777};
  if ((size_t)snprintf(member.name, sizeof member.name, "%s", name) >= sizeof member.name)
    return complain(making, name, -ENAMETOOLONG);
  int error = archive_add(making->archive, &member, fd);
  if (error != 0) return complain(making, name, error);
  making->report.files++;
  making->report.bytes += member.size;
  return 0;
}

static int add_file(struct making *making, const char *name, const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return errno == ENOENT ? 0 : complain(making, path, -errno);
  int error = add_open(making, name, fd);
  close(fd);
  return error;
}

static int add_database(struct making *making, const struct moment_database *database) {
  const char *path = archive_scratch_path(making->archive);
  int error = db_snapshot_copy(database->snapshot, path, on_step, making);
  if (error != 0) return complain(making, database->name, error);
  error = add_file(making, database->name, path);
  unlink(path);
  return error;
}

static int on_entry(void *context, const struct folder_entry *entry) {
  struct making *making = context;
  bool is_ca = making->is_ca || strncmp(entry->name, "ca/", 3) == 0;
  if (is_ca != making->is_ca) return 0;
  char name[TAR_NAME_BYTES];
  int len = snprintf(name, sizeof name, "%s%s", making->is_ca ? "ca/" : "", entry->name);
  if (len < 0 || (size_t)len >= sizeof name) return complain(making, entry->path, -ENAMETOOLONG);
  if (entry->kind == FOLDER_FILE) return add_file(making, name, entry->path);
  if (entry->kind == FOLDER_STRANGE) leave_out(making, name, "it is no file");
  return 0;
}

static int walk(struct making *making, const char *dir) {
  int error = folder_walk(dir, on_entry, making);
  if (error != 0 && making->error[0] == '\0') complain(making, dir, error);
  return error;
}

static int add_authority(struct making *making) {
  char dir[PATH_MAX];
  snprintf(dir, sizeof dir, "%s/ca", making->wish->dir);
  int lock = ca_files_lock(dir);
  if (lock < 0) return complain(making, dir, lock);
  making->is_ca = true;
  int error = walk(making, dir);
  making->is_ca = false;
  close(lock);
  return error;
}

static int add_title(struct making *making, uint64_t moment_ms) {
  struct buf title = {0};
  char time[32];
  clock_print_time(moment_ms * NS_PER_MS, time);
  buf_printf(&title, "fleetprof backup %d\nmoment: %s %llu\n", BACKUP_VERSION, time,
             (unsigned long long)moment_ms);
  if (making->left_out.len > 0) buf_append(&title, making->left_out.data, making->left_out.len);
  int error = title.failed || making->left_out.failed
                  ? -ENOMEM
                  : archive_add_text(making->archive, "BACKUP", buf_span(&title));
  buf_fini(&title);
  return error == 0 ? 0 : complain(making, making->wish->file, error);
}

static int count_bytes(void *context, const struct folder_entry *entry) {
  struct making *making = context;
  if (entry->kind == FOLDER_FILE || entry->kind == FOLDER_DATABASE) making->total += entry->bytes;
  return 0;
}

static int add_all(struct making *making) {
  struct moment moment;
  int error =
      moment_take(making->wish->dir, &moment, on_damaged, making, making->error, making->error_len);
  if (error != 0) return error;
  making->error[0] = '\0';
  making->report.moment_ms = moment.at_ms;
  making->report.held_us = moment.held_us;
  error = add_title(making, moment.at_ms);
  if (error == 0) error = add_authority(making);
  for (size_t i = 0; i < moment.count && error == 0; i++) {
    error = add_database(making, &moment.rows[i]);
    moment_release(&moment, i);
  }
  moment_fini(&moment);
  return error != 0 ? error : walk(making, making->wish->dir);
}

/* Whether FILE may be replaced: it is absent, or a backup by this program. */
static int check_target(const struct making *making) {
  const struct backup_wish *wish = making->wish;
  char line[sizeof "fleetprof backup"] = "";
  struct stat status, folder, data;
  char around[PATH_MAX];
  const char *slash = strrchr(wish->file, '/');
  snprintf(around, sizeof around, "%.*s/.", slash ? (int)(slash - wish->file) : 1,
           slash ? wish->file : ".");
  if (stat(wish->dir, &data) == 0 && stat(around, &folder) == 0 && data.st_ino == folder.st_ino &&
      data.st_dev == folder.st_dev) {
    snprintf(making->error, making->error_len, "%s: is in --data itself; give another place",
             wish->file);
    return -EINVAL;
  }
  int fd = open(wish->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return 0; /* absent; if not, creating it reports the error */
  bool is_backup = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                   (status.st_size == 0 ||
                    pread(fd, line, sizeof line - 1, TAR_BLOCK_BYTES) == sizeof line - 1) &&
                   (status.st_size == 0 || strcmp(line, "fleetprof backup") == 0);
  close(fd);
  if (is_backup) return 0;
  snprintf(making->error, making->error_len,
           "%s: is there already and no backup of a collector; give another name", wish->file);
  return -EEXIST;
}

int backup_make(const struct backup_wish *wish, struct backup_report *ret, char *error,
                size_t error_len) {
  struct making making = {.wish = wish, .error = error, .error_len = error_len};
  int result = check_target(&making);
  if (result == 0) result = archive_create(wish->file, &making.archive, error, error_len);
  if (result != 0) return result;
  archive_on_progress(making.archive, on_bytes, &making);
  folder_walk(wish->dir, count_bytes, &making); /* for progress only */
  result = add_all(&making);
  if (result == 0) {
    result = archive_finish(making.archive);
    if (result != 0) complain(&making, wish->file, result);
  }
  archive_close(making.archive);
  buf_fini(&making.left_out);
  if (result == 0) *ret = making.report;
  return result;
}
