/* SPDX-License-Identifier: Apache-2.0 */
/* Key and certificate must never come from two enrolments, even after a power cut at any moment:

      STATE/identity.Ab3xYz/   board.key board.pem ca.pem collector   (one generation)
      STATE/identity           -> identity.Ab3xYz                     (the current one)
      STATE/board.key          -> identity/board.key                  (and so on: the fixed names)

   A generation is fully written and synced before one rename of `identity` makes it current.  The
   fixed names are created once, the certificate's last, because its presence means "enrolled".  A
   daemon that opens files during the rename may get a key and a certificate that do not match, for
   one attempt: it reads them again for each connection.

   Other generations (the old one, and those that a power cut interrupted) are deleted afterwards.
   A lock keeps concurrent enrolments from deleting each other's. */
#include "credential_files.h"

#include "common/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

enum { NAME_BYTES = 64, FILE_COUNT = 4 };

static const char current_name[] = "identity";
static const char generation_prefix[] = "identity.";
static const char lock_name[] = ".enroll.lock";

struct entry {
  const char *name;
  struct span bytes;
};

int credential_files_prepare(const char *state) {
  int error = path_make_dirs(state, 0700);
  if (error) return error;
  return access(state, W_OK | X_OK) < 0 ? -errno : 0;
}

static int write_file(int dir, const struct entry *entry) {
  int fd = openat(dir, entry->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return -errno;
  int rc = 0;
  for (size_t done = 0; rc == 0 && done < entry->bytes.len;) {
    ssize_t put = write(fd, entry->bytes.data + done, entry->bytes.len - done);
    if (put < 0 && errno != EINTR) rc = -errno;
    if (put > 0) done += (size_t)put;
  }
  if (rc == 0 && fsync(fd) < 0) rc = -errno;
  close(fd);
  return rc;
}

/* Makes NAME in DIR a link to TARGET, atomically, whatever NAME was before. */
static int set_link(int dir, const char *name, const char *target) {
  char temporary[NAME_BYTES], now[NAME_BYTES];
  ssize_t len = readlinkat(dir, name, now, sizeof now);
  if (len == (ssize_t)strlen(target) && memcmp(now, target, (size_t)len) == 0) return 0;
  snprintf(temporary, sizeof temporary, ".%s.new", name);
  unlinkat(dir, temporary, 0);
  if (symlinkat(target, dir, temporary) < 0) return -errno;
  if (renameat(dir, temporary, dir, name) == 0) return 0;
  int rc = -errno;
  unlinkat(dir, temporary, 0);
  return rc;
}

static void remove_generation(int state, const char *name, const struct entry *entries) {
  int dir = openat(state, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (dir < 0) return;
  for (int i = 0; i < FILE_COUNT; i++) unlinkat(dir, entries[i].name, 0);
  close(dir);
  unlinkat(state, name, AT_REMOVEDIR);
}

static void sweep(int state, const char *kept, const struct entry *entries) {
  int fd = openat(state, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
  if (dir == NULL) {
    if (fd >= 0) close(fd);
    return;
  }
  for (struct dirent *found; (found = readdir(dir)) != NULL;) {
    bool is_generation =
        strncmp(found->d_name, generation_prefix, sizeof generation_prefix - 1) == 0;
    if (is_generation && strcmp(found->d_name, kept) != 0)
      remove_generation(state, found->d_name, entries);
  }
  closedir(dir);
}

static int write_generation(int state, const char *name, const struct entry *entries) {
  int dir = openat(state, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (dir < 0) return -errno;
  int rc = 0;
  for (int i = 0; rc == 0 && i < FILE_COUNT; i++) rc = write_file(dir, &entries[i]);
  if (rc == 0 && fsync(dir) < 0) rc = -errno;
  close(dir);
  return rc;
}

static int switch_to(int state, const char *generation, const struct entry *entries) {
  int rc = fsync(state) < 0 ? -errno : set_link(state, current_name, generation);
  for (int i = 0; rc == 0 && i < FILE_COUNT; i++) {
    char target[NAME_BYTES];
    snprintf(target, sizeof target, "%s/%s", current_name, entries[i].name);
    rc = set_link(state, entries[i].name, target);
  }
  if (rc == 0 && fsync(state) < 0) rc = -errno;
  return rc;
}

static int install(int state, const char *path, const struct entry *entries) {
  char template[PATH_MAX];
  if ((size_t)snprintf(template, sizeof template, "%s/%sXXXXXX", path, generation_prefix) >=
      sizeof template)
    return -ENAMETOOLONG;
  if (mkdtemp(template) == NULL) return -errno;
  const char *name = strrchr(template, '/') + 1;
  int rc = write_generation(state, name, entries);
  if (rc < 0) {
    remove_generation(state, name, entries);
    return rc;
  }
  rc = switch_to(state, name, entries);
  if (rc == 0) sweep(state, name, entries);
  return rc;
}

int credential_files_install(const char *path, const struct credential_files *files) {
  const struct entry entries[FILE_COUNT] = {
      {"board.key", files->key},
      {"ca.pem", files->ca},
      {"collector", files->collector},
      {"board.pem", files->certificate}, /* last: its presence means "enrolled" */
  };
  int state = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (state < 0) return -errno;
  int rc = 0;
  int lock = openat(state, lock_name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock < 0)
    rc = -errno;
  else if (flock(lock, LOCK_EX | LOCK_NB) < 0)
    rc = errno == EWOULDBLOCK ? -EBUSY : -errno;
  if (rc == 0) rc = install(state, path, entries);
  if (lock >= 0) close(lock);
  close(state);
  return rc;
}
