/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon reads received descriptors on its only loop, so each must be a maps file.  A read of
   /proc/PID/mem, for example, may block for ever, because another process can serve its pages.

   A path proves nothing: in a private mount namespace any user can bind /proc/self/mem over
   /proc/self/maps.  An inode does. procfs keeps it while the file is open.  So the path looked up
   here must lead to the same inode, or the descriptor is another file.

   A program may see another mount of procfs (services with ProtectProc=), with inodes of another
   device.  Then our own file is read instead.  That needs permission to inspect the program, which
   a daemon for all users has. */
#include "maps_file.h"
#include "mappings.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { LINES_MAX = 1 << 18 }; /* four times the kernel's limit of mappings per process */

static bool is_readable_procfs(int fd) {
  struct statfs found;
  int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) != O_RDONLY || (flags & O_PATH)) return false;
  return fstatfs(fd, &found) == 0 && found.f_type == PROC_SUPER_MAGIC;
}

static bool replace(int fd, const char *path) {
  int own = open(path, O_RDONLY | O_CLOEXEC);
  if (own < 0) return false;
  bool is_done = dup3(own, fd, O_CLOEXEC) == fd;
  close(own);
  return is_done;
}

bool maps_file_take(int fd, pid_t pid) {
  char path[32];
  struct stat sent, ours;
  snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
  if (!is_readable_procfs(fd) || fstat(fd, &sent) != 0 || stat(path, &ours) != 0) return false;
  if (sent.st_dev != ours.st_dev) return replace(fd, path);
  return sent.st_ino == ours.st_ino;
}

static bool is_file(const struct mapping *mapping, uint64_t inode, const char *name) {
  size_t len = strlen(name);
  if (mapping->inode != inode || mapping->path.len <= len) return false;
  const uint8_t *end = mapping->path.data + mapping->path.len - len;
  return end[-1] == '/' && memcmp(end, name, len) == 0;
}

/* Reads the next valid line of MAPS into LINE, getline's buffer.  Returns false at the end. */
static bool next_mapping(FILE *maps, char **line, size_t *room, struct mapping *ret) {
  for (ssize_t len; (len = getline(line, room, maps)) > 0;) {
    struct span text = span_of(*line, (size_t)len);
    if (mappings_next(&text, ret) == 0) return true;
  }
  return false;
}

bool maps_file_shows(pid_t pid, uint64_t inode, const char *name) {
  char path[32], *line = NULL;
  struct mapping mapping;
  size_t room = 0;
  bool is_there = false;
  snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
  FILE *maps = fopen(path, "re");
  if (maps == NULL) return false;
  for (unsigned i = 0; i < LINES_MAX && !is_there; i++) {
    if (!next_mapping(maps, &line, &room, &mapping)) break;
    is_there = is_file(&mapping, inode, name);
  }
  free(line);
  fclose(maps);
  return is_there;
}

uint64_t maps_file_own_bytes(uint64_t start) {
  char *line = NULL;
  struct mapping mapping;
  size_t room = 0;
  uint64_t bytes = 0;
  FILE *maps = fopen("/proc/self/maps", "re");
  if (maps == NULL) return 0;
  while (bytes == 0 && next_mapping(maps, &line, &room, &mapping))
    if (mapping.start == start) bytes = mapping.end - mapping.start;
  free(line);
  fclose(maps);
  return bytes;
}
