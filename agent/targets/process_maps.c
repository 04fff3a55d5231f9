/* SPDX-License-Identifier: Apache-2.0 */
/* The executable mappings of a process: a sorted array with binary search for every frame. New
   mappings replace the ranges they overlap, as mmap(MAP_FIXED) does. Unmapping leaves no record in
   the kernel's ring, so an old library may stay here until another mapping replaces it. No sample
   notices, because no code runs in unmapped memory. A timer target has no records at all. There
   drain/unloads.c decides when only the "steady" mappings, from the program's start, are to be
   used.

   Programs move their own text to other memory: a copy in huge pages or a memfd replaces the file's
   mapping, and the file's other segments stay around it. Those segments show where the text
   belongs. The replacement is the file's text, whatever name the kernel gives it.

   A frame-pointer walk through code without frame pointers sooner or later yields arbitrary words.
   The stack is cut at the first return address outside executable memory. */
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

enum {
  MAPS_TEXT_MAX = 2 << 20,
  MAPS_PIECE = 16 << 10,
  HUGE_PAGE_BYTES = 2 << 20, /* text moved to huge pages may end up to one page later */
};

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

/* The first mapping that was removed since the current sample and contained PC; NULL: none. */
static const struct process_past *find_past(const struct process *process, uint64_t pc) {
  for (uint32_t i = 0; i < process->past_count; i++) {
    const struct process_past *past = &process->past[i];
    if (past->unloads >= process->past_unloads && past->pid == process->past_pid &&
        past->start <= pc && pc < past->end)
      return past;
  }
  return NULL;
}

bool process_has_code(const struct process *process, uint64_t pc) {
  const struct process_map *map = find_map(process, pc);
  return (map != NULL && !map->is_unproved) || find_past(process, pc) != NULL;
}

void process_maps_need(struct modules *modules, const struct process *process, const uint64_t *pc,
                       uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const struct process_map *map = find_map(process, pc[i] - (i > 0));
    if (map != NULL) modules_need(modules, map->module);
  }
}

void process_maps_note_moved(const struct process *process, struct process_map *map) {
  const struct process_map *old = find_map(process, map->start);
  if (old == NULL || old->module == MODULE_ANON) return;
  map->is_unproved = old->module != process->exe_module;
  if (map->is_unproved) return;
  map->module = old->module;
  map->inode = old->inode;
  map->file_offset = old->file_offset + (map->start - old->start);
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

/* Clears [START, END): overlapping mappings are cut or removed. A mapping that spans the new one
   keeps its lower part. */
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
  return 0; /* text beyond the limit is ignored */
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

static bool is_of_file(const struct mapping *a, const struct mapping *b) {
  return a->inode != 0 && a->inode == b->inode && a->major == b->major && a->minor == b->minor;
}

/* The lines of files around the current line; inode 0: none. */
struct around {
  struct mapping before, after;
  bool has_after; /* it was searched for */
};

static const struct mapping *find_after(struct around *around, struct span text) {
  if (around->has_after) return &around->after;
  around->has_after = true;
  for (int error; (error = mappings_next(&text, &around->after)) != -ENOENT;)
    if (error == 0 && around->after.inode != 0) return &around->after;
  around->after = (struct mapping){.inode = 0};
  return &around->after;
}

/* The segment that FILE maps. Two segments may share a page of the file: the one that begins with
   FILE is preferred. */
static const struct elf_segment *find_segment(const struct elf_segment *segments, uint32_t count,
                                              const struct mapping *file, uint64_t in_page) {
  const struct elf_segment *found = NULL;
  for (uint32_t i = 0; i < count; i++) {
    const struct elf_segment *segment = &segments[i];
    uint64_t first = segment->file_offset & ~in_page;
    if (first == file->file_offset) return segment;
    bool has =
        first < file->file_offset && file->file_offset < segment->file_offset + segment->file_bytes;
    if (has && found == NULL) found = segment;
  }
  return found;
}

/* True if LINE begins in the text of the file that FILE maps, with the given segments. It may end
   where a huge page does. */
static bool is_text_of(const struct elf_segment *segments, uint32_t count,
                       const struct mapping *file, const struct mapping *line,
                       uint64_t *ret_offset) {
  static const uint64_t in_huge = HUGE_PAGE_BYTES - 1;
  uint64_t in_page = (uint64_t)sysconf(_SC_PAGESIZE) - 1;
  const struct elf_segment *known = find_segment(segments, count, file, in_page);
  if (known == NULL) return false;
  uint64_t bias = file->start - (file->file_offset - (known->file_offset & ~in_page)) -
                  (known->address & ~in_page);
  for (uint32_t i = 0; i < count; i++) {
    const struct elf_segment *text = &segments[i];
    uint64_t low = bias + (text->address & ~in_page);
    uint64_t end = bias + text->address + text->file_bytes;
    if (!text->is_executable || line->start < low || line->start >= end) continue;
    if (line->end > ((end + in_huge) & ~in_huge)) continue;
    *ret_offset = (text->file_offset & ~in_page) + (line->start - low);
    return true;
  }
  return false;
}

/* Fills MAP, for LINE, if that is text of the file that FILE maps. */
static bool take_moved(struct modules *modules, const struct process *process,
                       const struct mapping *file, const struct mapping *line,
                       struct process_map *map) {
  const struct elf_segment *segments;
  uint64_t offset;
  if (file->inode == 0) return false;
  struct module_file named = {mappings_path(file->path), file->inode,
                              mount_info_device(file->major, file->minor)};
  uint32_t module = modules_identify(modules, modules_intern(modules, &named), process->pid);
  uint32_t count;
  if (!modules_segments(modules, module, &segments, &count)) return false;
  if (!is_text_of(segments, count, file, line, &offset)) return false;
  map->module = module;
  map->file_offset = offset;
  map->inode = file->inode;
  return true;
}

/* True if LINE may be moved text: it is no part of a file that is mapped beside it. TEXT is the
   text after it. */
static bool may_be_moved(const struct mapping *line, struct around *around, struct span text) {
  static const char named[] = "[anon";
  size_t len = sizeof named - 1;
  if (is_of_file(line, &around->before)) return false;
  if (line->path.len > 0 && line->path.data[0] == '[' &&
      (line->path.len < len || memcmp(line->path.data, named, len) != 0))
    return false;
  return !is_of_file(line, find_after(around, text));
}

static void insert_line(struct modules *modules, struct process *process,
                        const struct mapping *line, struct around *around, struct span text) {
  struct module_file file = {mappings_path(line->path), line->inode,
                             mount_info_device(line->major, line->minor)};
  struct process_map map = {.start = line->start,
                            .end = line->end,
                            .file_offset = line->file_offset,
                            .inode = line->inode,
                            .is_steady = !process->has_maps};
  if (!may_be_moved(line, around, text) ||
      (!take_moved(modules, process, &around->before, line, &map) &&
       !take_moved(modules, process, &around->after, line, &map)))
    map.module = modules_intern(modules, &file);
  process_maps_insert(process, &map);
}

/* Files are excluded: a page of a truncated file would raise SIGBUS. */
static void insert_stack(struct process *process, const struct mapping *line) {
  if (!process->has_other_stacks || !line->is_writable || line->is_shared || line->inode != 0)
    return;
  if (process->stack_count == process->stack_cap) {
    if (process->stack_cap >= PROCESS_STACKS_MAX) return;
    struct process_stack *stacks =
        array_grow(process->stacks, process->stack_count, &process->stack_cap, 64, sizeof *stacks);
    if (stacks == NULL) return;
    process->stacks = stacks;
  }
  process->stacks[process->stack_count++] = (struct process_stack){line->start, line->end};
}

static void insert_lines(struct modules *modules, struct process *process, struct span text) {
  struct mapping line;
  struct around around = {.has_after = false};
  process->stack_count = 0;
  for (int error; (error = mappings_next(&text, &line)) != -ENOENT;) {
    if (error) continue;
    insert_stack(process, &line);
    if (line.is_executable) insert_line(modules, process, &line, &around, text);
    if (line.inode == 0) continue;
    around.before = line;
    around.has_after = false;
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
  /* Empty: the process has ended, or executed another program. */
  if (!error && text.len == 0) error = -ESRCH;
  if (!error) take_text(modules, process, buf_span(&text));
  if (fd != maps_fd) close(fd);
  buf_fini(&text);
  return error;
}

/* ---- the segment of a mapping ---- */

/* The load address of the file if SEGMENT explains MAP. */
static uint64_t base_of(const struct process_map *map, const struct elf_segment *segment) {
  return map->start - map->file_offset + segment->file_offset - segment->address;
}

static struct elf_mapping mapping_of(const struct process_map *map) {
  return (struct elf_mapping){map->file_offset, map->end - map->start};
}

struct segment_choice {
  const struct modules *modules;
  const struct process *process;
  const struct process_map *map;
  const struct elf_segment *segments;
  uint32_t count;
  uint64_t page_bytes;
};

static bool is_explained(const struct segment_choice *choice, const struct process_map *map,
                         uint64_t base) {
  const struct elf_mapping mapping = mapping_of(map);
  uint64_t bytes;
  for (uint32_t i = 0; i < choice->count; i++)
    if (base_of(map, &choice->segments[i]) == base &&
        elf_segment_fit(&choice->segments[i], &mapping, choice->page_bytes, &bytes) != ELF_FIT_NONE)
      return true;
  return false;
}

/* The number of mappings of the same file that BASE explains. */
static uint32_t count_explained(const struct segment_choice *choice, uint64_t base) {
  const struct process *process = choice->process;
  uint32_t count = 0;
  for (uint32_t i = 0; i < process->map_count; i++) {
    const struct process_map *map = &process->maps[i];
    if (modules_is_same_path(choice->modules, map->module, choice->map->module))
      count += is_explained(choice, map, base);
  }
  return count;
}

/* All segments of a file are loaded with one base, so the base that explains most of its mappings
   is right. In a tie, as with one executable mapping, the segment that fits best decides, then the
   one with most bytes in the mapping. */
static uint64_t choose_base(const struct segment_choice *choice) {
  const struct elf_mapping mapping = mapping_of(choice->map);
  uint64_t best = choice->map->start - choice->map->file_offset, best_bytes = 0;
  uint32_t best_count = 0;
  enum elf_fit best_fit = ELF_FIT_NONE;
  for (uint32_t i = 0; i < choice->count; i++) {
    uint64_t bytes, base = base_of(choice->map, &choice->segments[i]);
    enum elf_fit fit = elf_segment_fit(&choice->segments[i], &mapping, choice->page_bytes, &bytes);
    if (fit == ELF_FIT_NONE) continue;
    uint32_t count = count_explained(choice, base);
    bool is_better = count != best_count ? count > best_count
                     : fit != best_fit   ? fit > best_fit
                                         : bytes > best_bytes;
    if (!is_better) continue;
    best = base;
    best_count = count;
    best_fit = fit;
    best_bytes = bytes;
  }
  return best;
}

uint64_t process_map_address(const struct modules *modules, const struct process *process,
                             struct process_map *map, uint64_t pc) {
  struct segment_choice choice = {.modules = modules, .process = process, .map = map};
  if (!modules_segments(modules, map->module, &choice.segments, &choice.count)) return 0;
  if (map->base_module != map->module || map->module == MODULE_ANON) {
    choice.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    map->base = choose_base(&choice);
    map->base_module = map->module;
  }
  return pc - map->base;
}

static bool resolve_frame(struct modules *modules, struct process *process, uint64_t pc,
                          struct code_frame *ret) {
  const struct process_past *past = find_past(process, pc);
  if (past != NULL && past->module == MODULE_UNKNOWN) return false;
  if (past != NULL) {
    struct process_map gone = {.start = past->start,
                               .end = past->end,
                               .file_offset = past->file_offset,
                               .module = past->module,
                               .base_module = MODULE_ANON};
    ret->module = past->module;
    ret->address = process_map_address(modules, process, &gone, pc);
    return true;
  }
  struct process_map *map = find_map(process, pc);
  if (map == NULL || (process->is_unsure && !map->is_steady)) return false;
  map->module = modules_identify(modules, map->module, process->has_ended ? 0 : process->pid);
  ret->module = map->module;
  ret->address = process_map_address(modules, process, map, pc);
  return true;
}

uint32_t process_maps_resolve(struct modules *modules, struct process *process, const uint64_t *pc,
                              uint32_t count, struct code_frame *ret) {
  if (!resolve_frame(modules, process, pc[0], &ret[0])) {
    bool is_anon = !process->is_unsure && process->map_count > 0 &&
                   find_map(process, pc[0]) == NULL && find_past(process, pc[0]) == NULL;
    ret[0] = (struct code_frame){is_anon ? MODULE_ANON : MODULE_UNKNOWN, 0};
  }
  uint32_t depth = 1;
  while (depth < count && pc[depth] != 0 &&
         resolve_frame(modules, process, pc[depth] - 1, &ret[depth]))
    depth++;
  return depth;
}
