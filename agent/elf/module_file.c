/* SPDX-License-Identifier: Apache-2.0 */
/* A mapping's path is in the target's mount namespace, so it is opened through /proc/PID/root while
   the process lives. Afterwards the same path is tried in the daemon's namespace, and the inode
   number shows whether it is still the same file. Only the inode of stat is compared: overlay and
   btrfs file systems have another device in a mapping than in stat.

   A file without a path (a memfd, or a file that was unlinked or replaced) is opened through links
   in /proc. They are tried in this order:

     /proc/PID/map_files/A-B     needs CAP_SYS_ADMIN, or CAP_CHECKPOINT_RESTORE since Linux 5.9
     /proc/PID/exe               needs only the right to inspect the process
     /proc/PID/fd/N              the same, if the process still has the file open

   Another file system may have a file of the same inode number, so a mapping must also match in the
   device or the path. A descriptor is chosen by its link's text, which the kernel provides. stat
   would query each file system, and block if one hangs.

   Most programs have a build-id and cost four small reads. A file without one is hashed completely,
   in the loop: at most 64 MiB once for each file, some 50 ms on a current CPU, for which kernel
   rings have ample room. Its content is the only identity that such a file has on every board of a
   fleet.

   A build-id is untrusted: any user's file may carry libc's. So the file's writer matters. That is
   its owner, with two exceptions: its mode lets others write (an access list shows in the group's
   bits), or its file system is mounted nosuid. Removable media and users' own FUSE mounts are
   nosuid, and the kernel does not trust their owners either. */
#include "module_file.h"
#include "regular_file.h"

#include "proc/mappings.h"
#include "proc/mount_info.h"
#include "ring/unload_format.h"

#include <dirent.h>
#include <errno.h>
#include <linux/magic.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
  HASH_PIECE_BYTES = 32 << 10,
  OPEN_PATH_BYTES = LIMIT_PATH_BYTES + 32,
  MAPS_LINES_MAX = 65536, /* limit for a process: the kernel's default limit of mappings */
  OPEN_FILES_MAX = 1024,  /* limit for a process */
};

/* An overlay of several file systems puts the layer's number into the highest bits of stat's inode;
   older kernels show the layer's own inode in a mapping. */
static bool is_inode(int fd, uint64_t found, uint64_t wanted) {
  static const uint64_t layer = UINT64_C(0xff) << 56;
  struct statfs system;
  if (wanted == 0 || found == wanted) return true;
  return (found & ~layer) == (wanted & ~layer) && fstatfs(fd, &system) == 0 &&
         system.f_type == OVERLAYFS_SUPER_MAGIC;
}

static int open_checked(const char *path, uint64_t inode) {
  struct stat found;
  int fd = regular_file_open(path, &found);
  if (fd < 0 || is_inode(fd, found.st_ino, inode)) return fd;
  close(fd);
  return -ESTALE;
}

bool module_file_is_mapped(const struct module_wanted *wanted, const struct mapping *mapping) {
  if (mapping->inode != wanted->inode || !mapping->is_executable) return false;
  return mount_info_device(mapping->major, mapping->minor) == wanted->device ||
         span_is_equal(mappings_path(mapping->path), span_of_string(wanted->path));
}

/* Finds a mapping of WANTED in its process. */
static bool find_mapping(const struct module_wanted *wanted, struct mapping *ret) {
  char path[32], *line = NULL;
  size_t room = 0;
  bool is_found = false;
  snprintf(path, sizeof path, "/proc/%d/maps", (int)wanted->pid);
  FILE *maps = fopen(path, "re");
  if (maps == NULL) return false;
  for (unsigned i = 0; i < MAPS_LINES_MAX && !is_found; i++) {
    ssize_t len = getline(&line, &room, maps);
    if (len <= 0) break;
    struct span text = span_of(line, (size_t)len);
    is_found = mappings_next(&text, ret) == 0 && module_file_is_mapped(wanted, ret);
  }
  free(line);
  fclose(maps);
  return is_found;
}

/* The kernel provides the file of a mapping, so no inode is compared. */
static int open_mapped(const struct module_wanted *wanted, char *ret_open_path) {
  struct mapping mapping;
  struct stat found;
  if (!find_mapping(wanted, &mapping)) return -ENOENT;
  snprintf(ret_open_path, OPEN_PATH_BYTES, "/proc/%d/map_files/%llx-%llx", (int)wanted->pid,
           (unsigned long long)mapping.start, (unsigned long long)mapping.end);
  return regular_file_open(ret_open_path, &found);
}

/* True if LINK is PATH, with or without the suffix that the kernel adds for an unlinked file. */
static bool is_link_to(const char *link, const char *path) {
  size_t len = strlen(path);
  return strncmp(link, path, len) == 0 &&
         (link[len] == '\0' || strcmp(link + len, " (deleted)") == 0);
}

static int open_descriptor(const struct module_wanted *wanted, char *ret_open_path) {
  char folder[32], link[OPEN_PATH_BYTES];
  int fd = -ENOENT;
  snprintf(folder, sizeof folder, "/proc/%d/fd", (int)wanted->pid);
  DIR *descriptors = opendir(folder);
  if (descriptors == NULL) return -errno;
  for (unsigned i = 0; i < OPEN_FILES_MAX && fd < 0; i++) {
    const struct dirent *entry = readdir(descriptors);
    if (entry == NULL) break;
    ssize_t len = readlinkat(dirfd(descriptors), entry->d_name, link, sizeof link - 1);
    link[len > 0 ? len : 0] = '\0';
    if (!is_link_to(link, wanted->path)) continue;
    snprintf(ret_open_path, OPEN_PATH_BYTES, "%s/%.16s", folder, entry->d_name);
    fd = open_checked(ret_open_path, wanted->inode);
  }
  closedir(descriptors);
  return fd;
}

/* Opens a file that its path no longer leads to. */
static int open_nameless(const struct module_wanted *wanted, char *ret_open_path) {
  int fd = open_mapped(wanted, ret_open_path);
  if (fd >= 0) return fd;
  snprintf(ret_open_path, OPEN_PATH_BYTES, "/proc/%d/exe", (int)wanted->pid);
  fd = open_checked(ret_open_path, wanted->inode);
  return fd >= 0 ? fd : open_descriptor(wanted, ret_open_path);
}

int module_file_open(const struct module_wanted *wanted, char *ret_open_path) {
  const char *path = wanted->path;
  if (path[0] != '/') return -ENOENT;
  if (wanted->pid > 0) {
    snprintf(ret_open_path, OPEN_PATH_BYTES, "/proc/%d/root%s", (int)wanted->pid, path);
    int fd = open_checked(ret_open_path, wanted->inode);
    if (fd < 0 && wanted->inode != 0) fd = open_nameless(wanted, ret_open_path);
    if (fd >= 0) return fd;
  }
  snprintf(ret_open_path, OPEN_PATH_BYTES, "%s", path);
  return open_checked(path, wanted->inode);
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

static uint64_t hash_first(int fd, const struct elf_notes *notes) {
  uint8_t bytes[UNLOAD_HASHED_BYTES];
  for (uint32_t i = 0; i < notes->segment_count; i++) {
    const struct elf_segment *segment = &notes->segments[i];
    size_t len = segment->file_bytes < sizeof bytes ? (size_t)segment->file_bytes : sizeof bytes;
    if (segment->file_offset == 0 && pread(fd, bytes, len, 0) == (ssize_t)len)
      return unload_hash(bytes, len);
  }
  return 0;
}

int module_file_identify(int fd, const struct module_stamp *stamp, struct module_identity *ret) {
  memset(ret, 0, sizeof *ret);
  int error = elf_notes_read(elf_read_fd, &fd, &ret->notes);
  if (error) return error;
  ret->first_hash = hash_first(fd, &ret->notes);
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
