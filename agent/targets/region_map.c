/* SPDX-License-Identifier: Apache-2.0 */
/* Each target has its own memfd from the daemon, because the mappings of one user's programs must
   stay private. The target gets a read-only descriptor (keeper/table_memory.h).

   Only written pages are allocated, and a target reads no others.

   Words are stored whole, one at a time. A handler that reads meanwhile sees old and new words,
   never partial ones, and discards its result (unwind/unwind_map.c). */
#include "region_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int begin_file(int fd, bool is_awaited) {
  const struct unwind_map map = {
      .magic = UNWIND_MAP_MAGIC, .version = UNWIND_MAP_VERSION, .is_awaited = is_awaited};
  size_t head = offsetof(struct unwind_map, regions);
  if (ftruncate(fd, UNWIND_MAP_BYTES) < 0) return -errno;
  if (pwrite(fd, &map, head, 0) != (ssize_t)head) return errno != 0 ? -errno : -EIO;
  return fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0 ? -errno : 0;
}

int region_map_make(bool is_awaited) {
  int fd = memfd_create("fleetprof-regions", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return -errno;
  errno = 0;
  int error = begin_file(fd, is_awaited);
  if (!error) return fd;
  close(fd);
  return error;
}

struct unwind_map *region_map_open(int fd) {
  void *map = mmap(NULL, UNWIND_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return map == MAP_FAILED ? NULL : map;
}

void region_map_close(struct unwind_map *map) {
  if (map != NULL) munmap(map, UNWIND_MAP_BYTES);
}

void region_map_let_begin(struct unwind_map *map) {
  /* Release: after the lists. */
  atomic_store_explicit(&map->is_awaited, 0, memory_order_release);
}

static bool is_same(const struct unwind_map *map, const struct region_lists *lists) {
  if (map->unloads != lists->unloads) return false;
  for (unsigned i = 0; i < UNWIND_MAP_LISTS; i++) {
    if (map->counts[i] != lists->counts[i] ||
        memcmp(map->regions[i], lists->regions[i], lists->counts[i] * sizeof map->regions[i][0]))
      return false;
  }
  if (map->stack_count != lists->stack_count ||
      memcmp(map->stacks, lists->stacks, lists->stack_count * sizeof map->stacks[0]))
    return false;
  return atomic_load_explicit(&map->serial, memory_order_relaxed) % 2 == 0;
}

static int allocate(int fd, const struct region_lists *lists) {
  for (unsigned i = 0; i < UNWIND_MAP_LISTS; i++) {
    size_t at = offsetof(struct unwind_map, regions) +
                i * UNWIND_MAP_REGIONS_MAX * sizeof(struct unwind_region);
    size_t bytes = lists->counts[i] * sizeof(struct unwind_region);
    if (bytes > 0 && fallocate(fd, 0, (off_t)at, (off_t)bytes) < 0) return -errno;
  }
  off_t stacks_bytes = (off_t)(lists->stack_count * sizeof lists->stacks[0]);
  if (stacks_bytes > 0 && fallocate(fd, 0, offsetof(struct unwind_map, stacks), stacks_bytes) < 0)
    return -errno;
  return 0;
}

static void store(volatile uint64_t *to, const uint64_t *from, size_t words) {
  for (size_t i = 0; i < words; i++) to[i] = from[i];
}

int region_map_put(struct unwind_map *map, int fd, const struct region_lists *lists) {
  if (is_same(map, lists)) return 0;
  int error = allocate(fd, lists);
  if (error) return error;
  uint32_t serial = atomic_load_explicit(&map->serial, memory_order_relaxed) | 1;
  atomic_store_explicit(&map->serial, serial, memory_order_relaxed);
  /* Release: the odd serial is seen before any of the changes (partner: the handler's second load
     behind an acquire fence). */
  atomic_thread_fence(memory_order_release);
  for (unsigned i = 0; i < UNWIND_MAP_LISTS; i++) {
    *(volatile uint32_t *)&map->counts[i] = lists->counts[i];
    store((volatile uint64_t *)(void *)map->regions[i],
          (const uint64_t *)(const void *)lists->regions[i],
          lists->counts[i] * sizeof(struct unwind_region) / sizeof(uint64_t));
  }
  *(volatile uint32_t *)&map->stack_count = lists->stack_count;
  store((volatile uint64_t *)(void *)map->stacks, (const uint64_t *)(const void *)lists->stacks,
        lists->stack_count * sizeof(struct unwind_stack_span) / sizeof(uint64_t));
  *(volatile uint32_t *)&map->unloads = lists->unloads;
  /* Release: a handler that sees the even serial sees the changes. */
  atomic_store_explicit(&map->serial, serial + 1, memory_order_release);
  return 0;
}

bool region_map_had(const struct unwind_map *map, enum unwind_map_list list, uint64_t start,
                    uint64_t end) {
  for (uint32_t i = 0; i < map->counts[list] && i < UNWIND_MAP_REGIONS_MAX; i++)
    if (map->regions[list][i].start == start && map->regions[list][i].end == end) return true;
  return false;
}
