/* SPDX-License-Identifier: Apache-2.0 */
/* A memfd is as private as its descriptors.  Through /proc/PID/fd a holder can reopen it, also for
   writing if its mode permits.  So its mode permits only its owner's reading, and targets get a
   descriptor opened for reading; a mapping of that can never be made writable.  On kernels since
   5.1 a seal forbids future writable mappings; the existing mapping continues.

   Its size is sealed too: pages cannot be removed under a handler.  The size is address space of
   each target; memory is allocated as tables are added (targets/table_share.c), in the daemon's own
   cgroup.  A target that locks all its mappings allocates the rest, once for all targets.  Tables
   of redis, libc, libcrypto, python3 and git together are 1.2 MB, of node 1.8 MB. */
#include "table_memory.h"

#include "unwind/unwind_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  OWNER_READS = 0400,
  SEAL_FUTURE_WRITE = 0x0010, /* F_SEAL_FUTURE_WRITE, missing in old headers */
};

static size_t size_for_board(void) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  uint64_t all = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
  uint64_t bytes = all / TABLE_MEMORY_SHARE;
  if (bytes < TABLE_MEMORY_BYTES_MIN) bytes = TABLE_MEMORY_BYTES_MIN;
  if (bytes > UNWIND_TABLES_BYTES_MAX) bytes = UNWIND_TABLES_BYTES_MAX;
  return (size_t)bytes / TABLE_MEMORY_BYTES_MIN * TABLE_MEMORY_BYTES_MIN;
}

int table_memory_reader(int fd) {
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (fchmod(fd, OWNER_READS) < 0) return -errno;
  int reader = open(path, O_RDONLY | O_CLOEXEC);
  return reader >= 0 ? reader : -errno;
}

static int seal(int fd) {
  int size = F_SEAL_SHRINK | F_SEAL_GROW;
  if (fcntl(fd, F_ADD_SEALS, size | SEAL_FUTURE_WRITE | F_SEAL_SEAL) == 0) return 0;
  return fcntl(fd, F_ADD_SEALS, size | F_SEAL_SEAL) == 0 ? 0 : -errno;
}

static int map(struct table_memory *memory) {
  if (ftruncate(memory->fd, (off_t)memory->bytes) < 0) return -errno;
  void *base = mmap(NULL, memory->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory->fd, 0);
  if (base == MAP_FAILED) return -errno;
  memory->base = base;
  return 0;
}

int table_memory_open(struct table_memory *ret) {
  struct table_memory memory = {.bytes = size_for_board(), .reader = -1};
  *ret = (struct table_memory){.fd = -1, .reader = -1};
  memory.fd = memfd_create("fleetprof-tables", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory.fd < 0) return -errno;
  int error = map(&memory);
  if (!error) error = seal(memory.fd);
  if (!error) memory.reader = table_memory_reader(memory.fd);
  if (!error && memory.reader < 0) error = memory.reader;
  if (error)
    table_memory_close(&memory);
  else
    *ret = memory;
  return error;
}

void table_memory_close(struct table_memory *memory) {
  if (memory->base != NULL) munmap(memory->base, memory->bytes);
  if (memory->fd >= 0) close(memory->fd);
  if (memory->reader >= 0) close(memory->reader);
  *memory = (struct table_memory){.fd = -1, .reader = -1};
}
