/* SPDX-License-Identifier: Apache-2.0 */
/* Opening of index files.

   Large files are mapped: the kernel drops unused pages and reads them again. Small ones are
   copied, since a mapping costs more than their bytes. A file at a path belongs to the collector,
   in a folder of its own. It is only replaced by rename, so it does not shrink under the mapping. A
   worker's file is memory, and its writer has exited. */
#include "index_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPIED_BYTES_MAX = 64 << 10 };

static int copy_bytes(int fd, size_t len, struct index_file *ret) {
  uint8_t *copy = malloc(len);
  if (copy == NULL) return -ENOMEM;
  ssize_t got = pread(fd, copy, len, 0);
  if (got != (ssize_t)len) {
    free(copy);
    return got < 0 ? -errno : -EBADMSG;
  }
  *ret = (struct index_file){.bytes = span_of(copy, len)};
  return 0;
}

static int map_bytes(int fd, size_t len, struct index_file *ret) {
  void *map = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) return -errno;
  *ret = (struct index_file){.bytes = span_of(map, len), .is_mapped = true};
  return 0;
}

static int read_bytes(int fd, struct index_file *ret) {
  struct stat status;
  if (fstat(fd, &status) != 0) return -errno;
  if (status.st_size <= 0 || (uint64_t)status.st_size > SIZE_MAX) return -EBADMSG;
  size_t len = (size_t)status.st_size;
  return len <= COPIED_BYTES_MAX ? copy_bytes(fd, len, ret) : map_bytes(fd, len, ret);
}

static int parse(int fd, struct index_file *ret) {
  struct index_file file;
  int error = read_bytes(fd, &file);
  if (error != 0) return error;
  error = symbol_index_parse(file.bytes, &file.index);
  if (error != 0) {
    index_file_close(&file);
    return error;
  }
  *ret = file;
  return 0;
}

int index_file_open(const char *path, struct index_file *ret) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return -errno;
  int error = parse(fd, ret);
  close(fd);
  return error;
}

int index_file_read(int fd, struct index_file *ret) {
  struct index_file file;
  int error = parse(fd, &file);
  if (error != 0) return error;
  error = symbol_index_verify(&file.index);
  if (error != 0) {
    index_file_close(&file);
    return error;
  }
  *ret = file;
  return 0;
}

void index_file_close(struct index_file *file) {
  symbol_index_fini(&file->index);
  if (file->is_mapped)
    munmap((void *)(uintptr_t)file->bytes.data, file->bytes.len);
  else
    free((void *)(uintptr_t)file->bytes.data);
  *file = (struct index_file){0};
}
