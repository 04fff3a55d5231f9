/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel reports a process's files as paths among its mounts. If it has its own mounts (a
   container, a service with a private /tmp), they lead the daemon to another file, or to none.
   /proc/PID/root leads through its mounts. Two processes see the same files if mount namespace and
   root directory are the same.

   The owner of a path is not determined: a search tries all roots and accepts the file with the
   right build-id. The number of processes examined is limited, because a board may have any
   number. */
#include "other_roots.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { PROCESSES_MAX = 32768, PATH_BYTES = 64 };

struct root {
  ino_t mounts; /* the namespace */
  dev_t device;
  ino_t inode;
};

static bool look(const char *pid, const char *name, struct stat *ret) {
  char path[PATH_BYTES];
  snprintf(path, sizeof path, "/proc/%.16s/%s", pid, name);
  return stat(path, ret) == 0;
}

static bool find_root(const char *pid, struct root *ret) {
  struct stat mounts, root;
  if (!look(pid, "ns/mnt", &mounts) || !look(pid, "root", &root)) return false;
  *ret = (struct root){mounts.st_ino, root.st_dev, root.st_ino};
  return true;
}

static bool is_same(const struct root *a, const struct root *b) {
  return a->mounts == b->mounts && a->device == b->device && a->inode == b->inode;
}

/* True if ROOT is none of the COUNT in KNOWN. */
static bool is_new(const struct root *known, unsigned count, const struct root *root) {
  for (unsigned i = 0; i < count; i++)
    if (is_same(&known[i], root)) return false;
  return true;
}

void other_roots_find(struct other_roots *ret) {
  struct root known[OTHER_ROOTS_MAX + 1], root; /* the first is the daemon's own */
  ret->count = 0;
  DIR *proc = find_root("self", &known[0]) ? opendir("/proc") : NULL;
  if (proc == NULL) return;
  for (unsigned i = 0; i < PROCESSES_MAX && ret->count < OTHER_ROOTS_MAX; i++) {
    const struct dirent *entry = readdir(proc);
    if (entry == NULL) break;
    if (!isdigit((unsigned char)entry->d_name[0]) || !find_root(entry->d_name, &root)) continue;
    if (!is_new(known, ret->count + 1, &root)) continue;
    known[ret->count + 1] = root;
    ret->pids[ret->count++] = (pid_t)strtol(entry->d_name, NULL, 10);
  }
  closedir(proc);
}
