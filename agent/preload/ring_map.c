/* SPDX-License-Identifier: Apache-2.0 */
/* A page that is removed from a mapping, or that the disk has no room for, raises SIGBUS at any
   instruction of the handler. So a ring must be unable to lose pages. The kernel guarantees that
   for a memfd with a sealed size.

   A histogram or recorder must outlive the machine, so it may be a file on disk, which cannot be
   sealed. It must then be a regular file with all blocks allocated before it is mapped. Root or
   this process's user must own it, and no other user may write it. Those two users can end this
   program anyway, so they gain nothing from truncating the file. (The daemon never shortens a ring
   file; it makes a new one and renames it.)

   A ring of stacks or pairs is never on disk: a file of that kind is rejected.

   Rings are excluded from a program's core file. They would add megabytes, and a core size limit
   would cut off the stack, which comes last. */
#include "ring_map.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL,
  STAT_BLOCK_BYTES = 512, /* unit of st_blocks */
};

static int is_sealed(int fd) {
  int seals = fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & SEALS) == SEALS;
}

static int is_kept_whole(const struct stat *found) {
  return S_ISREG(found->st_mode) && (found->st_uid == 0 || found->st_uid == geteuid()) &&
         (found->st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
         found->st_blocks >= found->st_size / STAT_BLOCK_BYTES;
}

static int may_be_on_disk(const struct ring_writer *ring) {
  return ring->collect == RING_HISTOGRAM || ring->collect == RING_RECORDER;
}

int ring_map(int fd, struct ring_writer *ret_writer, struct ring_terms *ret_terms) {
  struct stat found;
  if (fstat(fd, &found) != 0) return -errno;
  int sealed = is_sealed(fd);
  if (!sealed && !is_kept_whole(&found)) return -EPERM;
  if (found.st_size <= 0 ||
      (uint64_t)found.st_size > ring_total_bytes(RING_SLOTS_MAX, RING_SLOT_BYTES_MAX))
    return -EBADMSG;
  size_t size = (size_t)found.st_size;
  void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) return -errno;
  madvise(base, size, MADV_DONTDUMP);
  struct ring_writer writer;
  struct ring_terms terms;
  int error = ring_writer_init(&writer, &terms, base, size);
  if (error == 0 && !sealed && !may_be_on_disk(&writer)) error = -EPERM;
  if (error != 0) {
    munmap(base, size);
    return error;
  }
  *ret_writer = writer;
  *ret_terms = terms;
  return 0;
}
