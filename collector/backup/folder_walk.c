/* SPDX-License-Identifier: Apache-2.0 */
/* A backup lists the folder itself, not names in a program, so files of a later version are
   included from the start. This file lists the names that are not kept:

     lock                        of a running collector, or of making certificates
     *-wal, *-shm, *-journal     SQLite's, part of the database beside them
     *.new, *.part, partial/     incomplete; made again, or an upload that will be resumed
     node.key.<pid>              a key under construction
     *.corrupt, *.corrupt-N      set aside for inspection; not needed by queries
     restoring                   the mark of a restore in progress
     reserve                     room on a full disk
     BACKUP, SHA256SUMS          left by unpacking a backup by hand

   Names in these folders are short; deeper nesting than DEPTH_MAX is an error. */
#include "folder_walk.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { DEPTH_MAX = 8, PRIVATE_MODE = 0600 };

struct walk {
  size_t root_len; /* length of the folder's path with its slash */
  int (*on_entry)(void *context, const struct folder_entry *entry);
  void *context;
};

static bool ends_with(const char *text, const char *suffix) {
  size_t len = strlen(text), suffix_len = strlen(suffix);
  return len > suffix_len && strcmp(text + len - suffix_len, suffix) == 0;
}

enum folder_kind folder_kind_of(const char *name) {
  static const char *const passing_suffixes[] = {"-wal", "-shm", "-journal", ".new", ".part"};
  static const char *const passing_names[] = {"lock",           "partial", "lost+found", "reserve",
                                              FOLDER_RESTORING, "BACKUP",  "SHA256SUMS"};
  const char *slash = strrchr(name, '/');
  const char *last = slash != NULL ? slash + 1 : name;
  for (size_t i = 0; i < sizeof passing_names / sizeof *passing_names; i++)
    if (strcmp(last, passing_names[i]) == 0) return FOLDER_PASSING;
  for (size_t i = 0; i < sizeof passing_suffixes / sizeof *passing_suffixes; i++)
    if (ends_with(last, passing_suffixes[i])) return FOLDER_PASSING;
  if (strstr(last, ".corrupt") != NULL || strncmp(last, "node.key.", 9) == 0) return FOLDER_PASSING;
  return ends_with(last, ".db") ? FOLDER_DATABASE : FOLDER_FILE;
}

static int walk_folder(const struct walk *walk, const char *path, int depth);

static int show(const struct walk *walk, const char *path, int depth) {
  struct folder_entry entry = {.name = path + walk->root_len, .path = path};
  struct stat status;
  if (lstat(path, &status) != 0) return errno == ENOENT ? 0 : -errno; /* deleted since listed */
  entry.kind = folder_kind_of(entry.name);
  entry.bytes = (uint64_t)status.st_size;
  if (S_ISDIR(status.st_mode))
    return entry.kind == FOLDER_PASSING ? 0 : walk_folder(walk, path, depth + 1);
  if (!S_ISREG(status.st_mode)) entry.kind = FOLDER_STRANGE;
  return walk->on_entry(walk->context, &entry);
}

static int walk_folder(const struct walk *walk, const char *path, int depth) {
  char below[PATH_MAX];
  int result = 0;
  if (depth > DEPTH_MAX) return -ELOOP;
  DIR *listing = opendir(path);
  if (listing == NULL) return errno == ENOENT && depth > 0 ? 0 : -errno;
  for (struct dirent *entry; result == 0 && (entry = readdir(listing)) != NULL;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    int len = snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
    result = len < 0 || (size_t)len >= sizeof below ? -ENAMETOOLONG : show(walk, below, depth);
  }
  closedir(listing);
  return result;
}

int folder_walk(const char *dir, int (*on_entry)(void *context, const struct folder_entry *entry),
                void *context) {
  const struct walk walk = {.root_len = strlen(dir) + 1, .on_entry = on_entry, .context = context};
  return walk_folder(&walk, dir, 0);
}

static int make_private(void *context, const struct folder_entry *entry) {
  struct stat status;
  unsigned *changed = context;
  if (entry->kind == FOLDER_STRANGE || lstat(entry->path, &status) != 0) return 0;
  if (!S_ISREG(status.st_mode) || (status.st_mode & 07777) == PRIVATE_MODE) return 0;
  *changed += chmod(entry->path, PRIVATE_MODE) == 0;
  return 0;
}

unsigned folder_make_private(const char *dir) {
  unsigned changed = 0;
  folder_walk(dir, make_private, &changed);
  return changed;
}
