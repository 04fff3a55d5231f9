/* SPDX-License-Identifier: Apache-2.0 */
/* As with a ring (ring_map.c), both memories must be unable to lose pages. They are read-only here,
   so seals are always possible and required. Both are excluded from core files. */
#include "table_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum {
  SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL,
  LIMIT_SHARE = 16, /* of the program's limit of address space */
};

/* The size of FD's memory, or -errno. */
static long sealed_bytes(int fd) {
  struct stat found;
  if (fstat(fd, &found) != 0) return -errno;
  int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & SEALS) != SEALS) return -EPERM;
  return found.st_size > 0 && found.st_size <= UNWIND_TABLES_BYTES_MAX ? (long)found.st_size
                                                                       : -EBADMSG;
}

/* The tables are mostly address space: a program with little keeps it. */
static int has_room_for(long bytes) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 1;
  return (rlim_t)bytes <= limit.rlim_cur / LIMIT_SHARE;
}

static int map_reading(int fd, size_t bytes, const void **ret) {
  void *base = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) return -errno;
  madvise(base, bytes, MADV_DONTDUMP);
  *ret = base;
  return 0;
}

static int check(const struct unwind_map *map) {
  if (map->magic != UNWIND_MAP_MAGIC) return -EBADMSG;
  return map->version == UNWIND_MAP_VERSION ? 0 : -EPROTO;
}

int table_map(int map_fd, int tables_fd, struct unwind_shared *ret) {
  const void *map = NULL, *tables = NULL;
  long map_bytes = sealed_bytes(map_fd), tables_bytes = sealed_bytes(tables_fd);
  if (map_bytes < 0) return (int)map_bytes;
  if (tables_bytes < 0) return (int)tables_bytes;
  if (map_bytes != UNWIND_MAP_BYTES) return -EBADMSG;
  if (!has_room_for(tables_bytes)) return -ENOMEM;
  int error = map_reading(map_fd, (size_t)map_bytes, &map);
  if (!error) error = check(map);
  if (!error) error = map_reading(tables_fd, (size_t)tables_bytes, &tables);
  if (error && map != NULL) munmap((void *)(uintptr_t)map, (size_t)map_bytes);
  if (!error)
    *ret = (struct unwind_shared){
        .map = map, .tables = (uintptr_t)tables, .tables_bytes = (uintptr_t)tables_bytes};
  return error;
}
