/* SPDX-License-Identifier: Apache-2.0 */
/* A name in a mapping is a name in the target's mount namespace, so it is opened through
   /proc/PID/root as long as the process lives; afterwards our own view of the name is tried, and
   the inode number tells whether it is still the same file.  Only inode numbers are compared:
   overlay and btrfs file systems show another device in a mapping than stat does.

   Most programs carry a build-id and cost four small reads.  One without is hashed whole, in the
   loop: at most 64 MiB once a file, some 50 ms on a current CPU; kernel rings hold much more than
   that.  Content is the only identity that such a file has on every board of a fleet.

   A build-id is what a file says of itself, and anybody's may say libc's.  So it matters who wrote
   it: its owner, unless its mode lets others write (an access list shows in the group's bits), or
   its file system is mounted nosuid, as sticks and users' own FUSE are: there the kernel does not
   believe the owner either. */
#include "module_file.h"
#include "regular_file.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { HASH_PIECE_BYTES = 32 << 10, OPEN_PATH_BYTES = LIMIT_PATH_BYTES + 32 };

static int open_checked(const char *path, uint64_t inode) {
  struct stat found;
  int fd = regular_file_open(path, &found);
  if (fd < 0 || inode == 0 || found.st_ino == inode) return fd;
  close(fd);
  return -ESTALE;
}

int module_file_open(const char *path, pid_t pid, uint64_t inode, char *ret_open_path) {
  if (path[0] != '/') return -ENOENT;
  if (pid > 0) {
    snprintf(ret_open_path, OPEN_PATH_BYTES, "/proc/%d/root%s", (int)pid, path);
    int fd = open_checked(ret_open_path, inode);
    if (fd >= 0) return fd;
    /* The file was unlinked or replaced; the running program itself can still be reached. */
    snprintf(ret_open_path, OPEN_PATH_BYTES, "/proc/%d/exe", (int)pid);
    fd = inode != 0 ? open_checked(ret_open_path, inode) : -ENOENT;
    if (fd >= 0) return fd;
  }
  snprintf(ret_open_path, OPEN_PATH_BYTES, "%s", path);
  return open_checked(path, inode);
}

static uint32_t owner_of(int fd, const struct stat *found) {
  struct statvfs system;
  if ((found->st_mode & (S_IWGRP | S_IWOTH)) != 0) return MODULE_OWNER_UNSURE;
  if (fstatvfs(fd, &system) < 0 || (system.f_flag & ST_NOSUID) != 0) return MODULE_OWNER_UNSURE;
  return found->st_uid;
}

int module_file_stamp(int fd, struct module_stamp *ret) {
  struct stat found;
  if (fstat(fd, &found) < 0) return -errno;
  if (!S_ISREG(found.st_mode) || found.st_size < 0) return -EINVAL;
  ret->device = found.st_dev;
  ret->inode = found.st_ino;
  ret->size_bytes = (uint64_t)found.st_size;
  ret->modified_ns = (int64_t)found.st_mtim.tv_sec * 1000000000 + found.st_mtim.tv_nsec;
  ret->owner = owner_of(fd, &found);
  ret->is_public = (found.st_mode & S_IROTH) != 0;
  return 0;
}

static int hash_pieces(int fd, EVP_MD_CTX *context) {
  uint8_t piece[HASH_PIECE_BYTES];
  for (off_t at = 0; at < MODULE_HASH_BYTES_MAX;) {
    ssize_t got = pread(fd, piece, sizeof piece, at);
    if (got < 0) return -errno;
    if (got == 0) break;
    if (!EVP_DigestUpdate(context, piece, (size_t)got)) return -EIO;
    at += got;
  }
  return 0;
}

static int hash_content(int fd, uint8_t ret[MODULE_SHA256_BYTES]) {
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  if (context == NULL) return -ENOMEM;
  int error = EVP_DigestInit_ex(context, EVP_sha256(), NULL) ? hash_pieces(fd, context) : -EIO;
  if (!error && !EVP_DigestFinal_ex(context, ret, NULL)) error = -EIO;
  EVP_MD_CTX_free(context);
  return error;
}

int module_file_identify(int fd, const struct module_stamp *stamp, struct module_identity *ret) {
  memset(ret, 0, sizeof *ret);
  int error = elf_notes_read(elf_read_fd, &fd, &ret->notes);
  if (error) return error;
  if (ret->notes.build_id_bytes > 0) {
    memcpy(ret->id, ret->notes.build_id, ret->notes.build_id_bytes);
    ret->id_bytes = ret->notes.build_id_bytes;
    return 0;
  }
  if (stamp->size_bytes > MODULE_HASH_BYTES_MAX) return -EFBIG;
  error = hash_content(fd, ret->id);
  if (!error) ret->id_bytes = MODULE_SHA256_BYTES;
  return error;
}
