/* SPDX-License-Identifier: Apache-2.0 */
/* A rollover has two commit points.

   The start: next.pem exists. From then on boards get both roots and renew under the second one.
   Its key is written first, so a crash leaves a key that was never used and is made again.

   The end: root.pem is gone. It is moved to retired.pem in one step. The remaining steps are
   idempotent. First next.key becomes root.key, over the old one: a retired key on a disk is only a
   risk. Then next.pem becomes root.pem, and the server certificate is made again when the authority
   is opened. A crash in between leaves next.pem without root.pem, which never happens otherwise;
   the next process that opens the authority continues. Without next.pem a missing root.pem means a
   new folder. */
#include "rollover.h"

#include "authority.h"
#include "ca_files.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

struct files {
  struct authority_paths first, next;
  char folder[PATH_MAX], retired[PATH_MAX];
};

static int find_files(const char *dir, struct files *ret) {
  if (authority_paths(dir, AUTHORITY_FIRST, &ret->first) != 0 ||
      authority_paths(dir, AUTHORITY_NEXT, &ret->next) != 0 ||
      snprintf(ret->folder, PATH_MAX, "%s/ca", dir) >= PATH_MAX ||
      snprintf(ret->retired, PATH_MAX, "%s/ca/retired.pem", dir) >= PATH_MAX)
    return -ENAMETOOLONG;
  return 0;
}

static bool is_there(const char *path) {
  return access(path, F_OK) == 0;
}

/* A missing FROM was moved already. */
static int move(const char *from, const char *to) {
  if (rename(from, to) == 0) return ca_files_flush_folder(to);
  return errno == ENOENT ? 0 : -errno;
}

static int settle(const struct files *files) {
  if (is_there(files->first.root)) return 0;
  if (!is_there(files->next.root)) return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
  int result = move(files->next.root_key, files->first.root_key);
  if (result == 0) result = move(files->next.root, files->first.root);
  if (result != 0) return result;
  unlink(files->next.server_key);
  unlink(files->next.server);
  return 0;
}

int rollover_settle(const char *dir) {
  struct files files;
  int result = find_files(dir, &files);
  return result == 0 ? settle(&files) : result;
}

static int start(const struct files *files, char *error, size_t error_len) {
  struct authority first = {0}, next = {0};
  int result = settle(files);
  if (result != 0) return authority_complain(error, error_len, result, files->folder);
  result = authority_load(&files->first, &first, error, error_len);
  bool was_there = is_there(files->next.root);
  if (result == 0 && was_there) result = authority_load(&files->next, &next, error, error_len);
  if (result == 0 && was_there && X509_cmp(first.root, next.root) == 0)
    result = authority_complain(error, error_len, -EEXIST, "next.pem is the same root");
  if (result == 0 && !was_there) {
    result = authority_make(&files->next, &next);
    if (result != 0) authority_complain(error, error_len, result, "cannot make the second root");
  }
  authority_fini(&first);
  authority_fini(&next);
  return result == 0 ? was_there : result;
}

static int finish(const struct files *files, char *error, size_t error_len) {
  struct authority next = {0};
  int result = settle(files);
  if (result != 0) return authority_complain(error, error_len, result, files->folder);
  if (!is_there(files->next.root)) {
    snprintf(error, error_len, "no rollover is under way");
    return -ENOENT;
  }
  result = authority_load(&files->next, &next, error, error_len);
  authority_fini(&next);
  if (result != 0) return result;
  result = move(files->first.root, files->retired);
  if (result == 0) result = settle(files);
  return result == 0 ? 0 : authority_complain(error, error_len, result, files->folder);
}

static int with_lock(const char *dir, int (*step)(const struct files *, char *, size_t),
                     char *error, size_t error_len) {
  struct files files;
  int result = find_files(dir, &files);
  int lock = result == 0 ? ca_files_lock(files.folder) : result;
  if (lock < 0) return authority_complain(error, error_len, lock, dir);
  result = step(&files, error, error_len);
  close(lock);
  return result;
}

int rollover_start(const char *dir, char *error, size_t error_len) {
  return with_lock(dir, start, error, error_len);
}

int rollover_finish(const char *dir, char *error, size_t error_len) {
  return with_lock(dir, finish, error, error_len);
}
