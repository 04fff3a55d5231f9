/* SPDX-License-Identifier: Apache-2.0 */
/* A user with write access to a directory may put a link under a name that another user is about to
   write. So the former chooses the file that is overwritten. The kernel's fs.protected_symlinks and
   fs.protected_regular prevent that, if enabled; this code always does.

   The path is walked one component at a time, from descriptor to descriptor. Each link is checked
   through its own descriptor, so the checked link is the one followed. The links below /proc are
   the kernel's: /proc/self/fd/2 names no path and can only be opened. */
#include "owned_path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { LINKS_MAX = 40 /* as in the kernel */ };

struct walk {
  int folder; /* the current directory */
  char left[PATH_MAX];
  unsigned links;
};

static int move_to(struct walk *walk, int folder) {
  if (folder < 0) return -errno;
  if (walk->folder >= 0) close(walk->folder);
  walk->folder = folder;
  return 0;
}

static int begin(struct walk *walk, const char *path) {
  *walk = (struct walk){.folder = -1};
  if (*path == '\0') return -ENOENT;
  if (strlen(path) >= sizeof walk->left) return -ENAMETOOLONG;
  memcpy(walk->left, path, strlen(path) + 1);
  return move_to(walk, open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* Takes the next component into NAME. Returns 1 if it is the last, 0 if not, or -errno. */
static int take_name(struct walk *walk, char name[NAME_MAX + 1]) {
  const char *at = walk->left + strspn(walk->left, "/");
  size_t len = strcspn(at, "/");
  if (len == 0) return -EISDIR;
  if (len > NAME_MAX) return -ENAMETOOLONG;
  memcpy(name, at, len);
  name[len] = '\0';
  memmove(walk->left, at + len, strlen(at + len) + 1);
  return walk->left[0] == '\0';
}

static bool is_of_proc(int fd) {
  struct statfs found;
  return fstatfs(fd, &found) == 0 && found.f_type == PROC_SUPER_MAGIC;
}

/* Prepends the target of LINK to the rest of the path. Returns 0 or -errno. */
static int follow_link(struct walk *walk, int link) {
  char text[PATH_MAX];
  ssize_t len = readlinkat(link, "", text, sizeof text);
  if (len < 0) return -errno;
  if ((size_t)len + strlen(walk->left) >= sizeof walk->left) return -ENAMETOOLONG;
  memmove(walk->left + len, walk->left, strlen(walk->left) + 1);
  memcpy(walk->left, text, (size_t)len);
  if (len == 0) return -ENOENT;
  return text[0] != '/' ? 0 : move_to(walk, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* Checks whether LINK, with STATUS, may be followed. Returns 0 or -ELOOP. */
static int judge_link(struct walk *walk, const struct stat *status) {
  bool is_trusted = status->st_uid == geteuid() || status->st_uid == 0;
  return is_trusted && ++walk->links <= LINKS_MAX ? 0 : -ELOOP;
}

/* Enters NAME, which is not the last component: a directory or a link. */
static int pass(struct walk *walk, const char *name) {
  struct stat status;
  int next = openat(walk->folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (next < 0 || fstat(next, &status) != 0) {
    int failed = -errno;
    if (next >= 0) close(next);
    return failed;
  }
  if (S_ISDIR(status.st_mode)) return move_to(walk, next);
  int result = S_ISLNK(status.st_mode) ? judge_link(walk, &status) : -ENOTDIR;
  if (result == 0 && is_of_proc(next))
    result = move_to(walk, openat(walk->folder, name, O_PATH | O_DIRECTORY | O_CLOEXEC));
  else if (result == 0)
    result = follow_link(walk, next);
  close(next);
  return result;
}

/* Enters the directory of the last component; stores that component in NAME. */
static int go(struct walk *walk, char name[NAME_MAX + 1]) {
  for (;;) {
    int is_last = take_name(walk, name);
    if (is_last != 0) return is_last < 0 ? is_last : 0;
    int failed = pass(walk, name);
    if (failed) return failed;
  }
}

/* In a sticky directory only its owner controls a file or FIFO, and the owner can read the
   output. */
static bool is_foreign(const struct walk *walk, int fd) {
  struct stat folder, file;
  if (fstat(fd, &file) != 0 || file.st_uid == geteuid()) return false;
  if (!S_ISREG(file.st_mode) && !S_ISFIFO(file.st_mode)) return false;
  return fstat(walk->folder, &folder) == 0 && (folder.st_mode & S_ISVTX) != 0 &&
         (folder.st_mode & (S_IWOTH | S_IWGRP)) != 0;
}

/* The reason why opening NAME FAILED. -EAGAIN if the walk continues, because NAME is a link that
   may be followed. For another user's file in a sticky directory the kernel may return EACCES. */
static int look_again(struct walk *walk, const char *name, int failed, bool *ret_proc) {
  struct stat status;
  int found = openat(walk->folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (found < 0) return failed;
  bool is_link = fstat(found, &status) == 0 && S_ISLNK(status.st_mode);
  if (!is_link && is_foreign(walk, found)) failed = -EXDEV;
  if (is_link) failed = judge_link(walk, &status);
  *ret_proc = is_link && failed == 0 && is_of_proc(found);
  if (is_link && failed == 0) failed = *ret_proc ? -EAGAIN : follow_link(walk, found);
  close(found);
  return failed == 0 ? -EAGAIN : failed;
}

/* Applies the differences: FD was opened with O_NONBLOCK and without O_TRUNC instead of with
   FLAGS. */
static int apply_flags(int fd, int flags) {
  struct stat file;
  int status = fcntl(fd, F_GETFL);
  if (status < 0) return -errno;
  if (!(flags & O_NONBLOCK) && fcntl(fd, F_SETFL, status & ~O_NONBLOCK) != 0) return -errno;
  if (!(flags & O_TRUNC)) return 0;
  if (fstat(fd, &file) != 0) return -errno;
  return !S_ISREG(file.st_mode) || ftruncate(fd, 0) == 0 ? 0 : -errno;
}

/* Opens NAME, which is no link. Checks its owner before changing it and before waiting for the
   reader of a FIFO. */
static int open_checked(struct walk *walk, const char *name, int flags, mode_t mode) {
  bool may_block = (flags & O_ACCMODE) == O_WRONLY && !(flags & O_NONBLOCK);
  int safe = (flags & ~O_TRUNC) | O_NOFOLLOW | O_CLOEXEC;
  int fd = openat(walk->folder, name, may_block ? safe | O_NONBLOCK : safe, mode);
  if (fd < 0 && errno == ENXIO && may_block) { /* a FIFO without a reader */
    int found = openat(walk->folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    bool is_foreign_fifo = found >= 0 && is_foreign(walk, found);
    if (found >= 0) close(found);
    if (is_foreign_fifo) return -EXDEV;
    fd = openat(walk->folder, name, safe, mode); /* in a sticky directory it cannot be replaced */
  }
  if (fd < 0) return -errno;
  int failed = is_foreign(walk, fd) ? -EXDEV : apply_flags(fd, flags);
  if (failed == 0) return fd;
  close(fd);
  return failed;
}

/* Opens NAME, or follows it if it is a link: then -EAGAIN. */
static int open_last(struct walk *walk, const char *name, int flags, mode_t mode) {
  bool is_of_kernel = false;
  int fd = open_checked(walk, name, flags, mode), failed = fd;
  if (fd >= 0 || (failed != -ELOOP && failed != -EACCES)) return fd;
  failed = look_again(walk, name, failed, &is_of_kernel);
  if (!is_of_kernel) return failed;
  fd = openat(walk->folder, name, flags | O_CLOEXEC, mode);
  return fd >= 0 ? fd : -errno;
}

int owned_path_open(const char *path, int flags, mode_t mode) {
  struct walk walk;
  char name[NAME_MAX + 1];
  int result = begin(&walk, path);
  if (result == 0) do {
      result = go(&walk, name);
      if (result == 0) result = open_last(&walk, name, flags, mode);
    } while (result == -EAGAIN);
  if (walk.folder >= 0) close(walk.folder);
  return result;
}

int owned_path_folder(const char *path, char name[NAME_MAX + 1]) {
  struct walk walk;
  int result = begin(&walk, path);
  if (result == 0) result = go(&walk, name);
  if (result == 0) return walk.folder;
  if (walk.folder >= 0) close(walk.folder);
  return result;
}

const char *owned_path_why(int error) {
  switch (error) {
  case -ELOOP:
    return "a link on the way to it is another user's";
  case -EXDEV:
    return "is another user's file, in a directory that everybody may write";
  default:
    return strerror(-error);
  }
}
