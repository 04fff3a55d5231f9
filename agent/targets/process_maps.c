/* SPDX-License-Identifier: Apache-2.0 */
/* The executable mappings of one process: a sorted array, searched by bisection for every frame.
   New mappings replace what they overlap, as mmap(MAP_FIXED) does; unmapping leaves no record in
   the kernel's ring, so an old library may stand here until something else takes its place, which
   no sample will notice: no code runs where nothing is mapped.  A timer target has no records at
   all: there drain/unloads.c says when only that is to be believed which the program began with,
   the "steady" mappings.

   A frame-pointer walk through code without frame pointers yields arbitrary words sooner or later;
   the first return address outside of executable memory is where belief ends. */
#include "process_maps.h"

#include "common/array.h"
#include "common/buf.h"
#include "proc/mappings.h"
#include "proc/mount_info.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAPS_TEXT_MAX = 2 << 20, MAPS_PIECE = 16 << 10 };

/* Index of the first mapping that ends after PC. */
static uint32_t lower_bound(const struct process *process, uint64_t pc) {
  uint32_t low = 0, high = process->map_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (process->maps[middle].end > pc)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static struct process_map *find_map(const struct process *process, uint64_t pc) {
  uint32_t at = lower_bound(process, pc);
  if (at == process->map_count || process->maps[at].start > pc) return NULL;
  return &process->maps[at];
}

bool process_has_code(const struct process *process, uint64_t pc) {
  return find_map(process, pc) != NULL;
}

static bool reserve_map(struct process *process) {
  if (process->map_count < process->map_cap) return true;
  if (process->map_cap >= PROCESS_MAPS_MAX) return false;
  struct process_map *maps =
      array_grow(process->maps, process->map_count, &process->map_cap, 8, sizeof *maps);
  if (maps == NULL) return false;
  process->maps = maps;
  return true;
}

/* Makes room between START and END: what overlaps is cut off or removed.  A mapping that spans the
   new one keeps its lower part. */
static void clear_range(struct process *process, uint64_t start, uint64_t end) {
  uint32_t at = lower_bound(process, start), to = at;
  if (at < process->map_count && process->maps[at].start < start) {
    process->maps[at].end = start;
    to = ++at;
  }
  while (to < process->map_count && process->maps[to].end <= end) to++;
  if (to < process->map_count && process->maps[to].start < end) {
    process->maps[to].file_offset += end - process->maps[to].start;
    process->maps[to].start = end;
  }
  memmove(&process->maps[at], &process->maps[to],
          (process->map_count - to) * sizeof *process->maps);
  process->map_count -= to - at;
}

void process_maps_insert(struct process *process, const struct process_map *map) {
  process->maps_serial++;
  if (process->map_count > 0) clear_range(process, map->start, map->end);
  if (!reserve_map(process)) return;
  uint32_t at = lower_bound(process, map->start);
  memmove(&process->maps[at + 1], &process->maps[at],
          (process->map_count - at) * sizeof *process->maps);
  process->maps[at] = *map;
  process->map_count++;
}

static int read_text(int fd, struct buf *ret) {
  while (ret->len < MAPS_TEXT_MAX) {
    uint8_t *room = buf_reserve(ret, MAPS_PIECE);
    if (room == NULL) return -ENOMEM;
    ssize_t got = pread(fd, room, MAPS_PIECE, (off_t)ret->len);
    if (got < 0) return -errno;
    if (got == 0) return 0;
    ret->len += (size_t)got;
  }
  return 0; /* what is beyond the limit is not known */
}

static struct span strip_deleted(struct span path) {
  static const char deleted[] = " (deleted)";
  size_t tail = sizeof deleted - 1;
  if (path.len > tail && memcmp(path.data + path.len - tail, deleted, tail) == 0) path.len -= tail;
  return path;
}

static bool has_steady(const struct process_map *maps, uint32_t count,
                       const struct process_map *map) {
  for (uint32_t i = 0; i < count; i++)
    if (maps[i].is_steady && maps[i].start == map->start && maps[i].end == map->end &&
        maps[i].file_offset == map->file_offset && maps[i].inode == map->inode)
      return true;
  return false;
}

void process_inherit_steady(struct process *process, const struct process *first) {
  for (uint32_t i = 0; i < process->map_count; i++)
    process->maps[i].is_steady = has_steady(first->maps, first->map_count, &process->maps[i]);
}

void process_copy_maps(struct process *process, const struct process *first) {
  for (uint32_t i = 0; i < first->map_count; i++) process_maps_insert(process, &first->maps[i]);
}

/* No file: a page of a file that was cut short would be a SIGBUS. */
static void insert_stack(struct process *process, const struct mapping *line) {
  if (!process->has_other_stacks || !line->is_writable || line->is_shared || line->inode != 0)
    return;
  if (process->stack_count == process->stack_cap) {
    if (process->stack_cap >= PROCESS_STACKS_MAX) return;
    struct process_stack *stacks = array_grow(process->stacks, process->stack_count,
                                              &process->stack_cap, 64, sizeof *stacks);
    if (stacks == NULL) return;
    process->stacks = stacks;
  }
  process->stacks[process->stack_count++] = (struct process_stack){line->start, line->end};
}

static void insert_lines(struct modules *modules, struct process *process, struct span text) {
  struct mapping line;
  process->stack_count = 0;
  for (int error; (error = mappings_next(&text, &line)) != -ENOENT;) {
    if (error) continue;
    insert_stack(process, &line);
    if (!line.is_executable) continue;
    struct module_file file = {strip_deleted(line.path), line.inode,
                               mount_info_device(line.major, line.minor)};
    struct process_map map = {.start = line.start,
                              .end = line.end,
                              .file_offset = line.file_offset,
                              .module = modules_intern(modules, &file),
                              .inode = line.inode,
                              .is_steady = !process->has_maps};
    process_maps_insert(process, &map);
  }
}

static void take_text(struct modules *modules, struct process *process, struct span text) {
  struct process before = {.maps = process->maps, .map_count = process->map_count};
  process->maps = NULL;
  process->map_count = process->map_cap = 0;
  process->maps_serial++;
  insert_lines(modules, process, text);
  if (process->has_maps) process_inherit_steady(process, &before);
  process->has_maps = true;
  free(before.maps);
}

int process_maps_read(struct modules *modules, struct process *process, int maps_fd) {
  struct buf text = {0};
  char path[32];
  int fd = maps_fd;
  if (fd < 0) {
    snprintf(path, sizeof path, "/proc/%d/maps", (int)process->pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -errno;
  }
  int error = read_text(fd, &text);
  /* Empty: the process has ended, or executed something else. */
  if (!error && text.len == 0) error = -ESRCH;
  if (!error) take_text(modules, process, buf_span(&text));
  if (fd != maps_fd) close(fd);
  buf_fini(&text);
  return error;
}

static bool resolve_frame(struct modules *modules, struct process *process, uint64_t pc,
                          struct code_frame *ret) {
  struct process_map *map = find_map(process, pc);
  if (map == NULL || (process->is_unsure && !map->is_steady)) return false;
  map->module = modules_identify(modules, map->module, process->has_ended ? 0 : process->pid);
  ret->module = map->module;
  ret->address = modules_address(modules, map->module, pc - map->start + map->file_offset);
  return true;
}

uint32_t process_maps_resolve(struct modules *modules, struct process *process, const uint64_t *pc,
                              uint32_t count, struct code_frame *ret) {
  if (!resolve_frame(modules, process, pc[0], &ret[0])) {
    bool is_anon = process->map_count > 0 && find_map(process, pc[0]) == NULL;
    ret[0] = (struct code_frame){is_anon ? MODULE_ANON : MODULE_UNKNOWN, 0};
  }
  uint32_t depth = 1;
  while (depth < count && pc[depth] != 0 &&
         resolve_frame(modules, process, pc[depth] - 1, &ret[depth]))
    depth++;
  return depth;
}
