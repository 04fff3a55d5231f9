/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the stacks of stopped threads like a handler: over the whole stack, red zone included.
   Reads a line for each thread and prints a line for it:

     PC SP LR TRACKED TRACKED_2 GENERAL...     registers, in hexadecimal; the last ones by their
                                               numbers in DWARF
     END pc pc ...                   complete, truncated, unknown or bad; the leaf first

     walk_stopped PID */
#include "code_map.h"

#include "proc/mappings.h"

#include "common/buf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>

enum { ROOM = 1024, STACK_BYTES_MAX = 1 << 20, RED_ZONE_BYTES = 128, PATH_BYTES = 4096 };

static struct code_maps maps;
static struct module_tables tables;
static uint8_t stack_bytes[STACK_BYTES_MAX];

static bool read_maps(int pid, struct buf *ret) {
  char path[64];
  size_t got;
  snprintf(path, sizeof path, "/proc/%d/maps", pid);
  FILE *file = fopen(path, "r");
  if (file == NULL) return false;
  buf_clear(ret);
  do {
    uint8_t *room = buf_reserve(ret, 1 << 16);
    got = room != NULL ? fread(room, 1, 1 << 16, file) : 0;
    ret->len += got;
  } while (got > 0);
  fclose(file);
  return !ret->failed;
}

static const struct module_table *module_of(const struct mapping *mapping) {
  char path[PATH_BYTES];
  if (mapping->path.len == 0 || mapping->path.len >= sizeof path) return NULL;
  memcpy(path, mapping->path.data, mapping->path.len);
  path[mapping->path.len] = '\0';
  return path[0] == '/' || strcmp(path, "[vdso]") == 0 ? module_tables_get(&tables, path) : NULL;
}

/* Fills MAP with the executable mappings; RET is the stack from SP on, with its red zone. */
static bool look(int pid, struct code_map *map, uintptr_t sp, struct unwind_memory *ret) {
  static struct buf text;
  struct mapping mapping;
  *ret = (struct unwind_memory){0};
  map->count = 0;
  if (!read_maps(pid, &text)) return false;
  for (struct span rest = buf_span(&text); rest.len > 0 && mappings_next(&rest, &mapping) == 0;) {
    if (sp >= mapping.start && sp < mapping.end)
      *ret = (struct unwind_memory){
          .bytes = stack_bytes,
          .low = sp - mapping.start < RED_ZONE_BYTES ? mapping.start : sp - RED_ZONE_BYTES,
          .high = mapping.end,
          .is_whole = true};
    if (mapping.is_executable)
      code_map_add(map, &(struct code_mapping){.start = mapping.start,
                                               .end = mapping.end,
                                               .file_offset = mapping.file_offset,
                                               .module = module_of(&mapping)});
  }
  return true;
}

static void read_stack(int pid, struct unwind_memory *stack) {
  if (stack->high - stack->low > sizeof stack_bytes) {
    stack->high = stack->low + sizeof stack_bytes;
    stack->is_whole = false;
  }
  size_t want = stack->high - stack->low;
  struct iovec here = {stack_bytes, want}, there = {(void *)stack->low, want};
  ssize_t got = want > 0 ? process_vm_readv(pid, &here, 1, &there, 1, 0) : 0;
  if (got == (ssize_t)want) return;
  stack->high = stack->low + (got > 0 ? (size_t)got : 0);
  stack->is_whole = false;
}

static bool answer(int pid, const struct unwind_registers *at) {
  static const char *const ends[UNWIND_ENDS] = {"complete", "truncated", "unknown", "bad", "other"};
  static uint64_t pcs[ROOM];
  struct code_map *map = code_maps_get(&maps, pid);
  struct unwind_path path = {.pcs = pcs, .room = ROOM};
  struct unwind_memory stack;
  if (!look(pid, map, at->sp, &stack)) return false;
  read_stack(pid, &stack);
  struct unwind_code code = code_map_code(map);
  unwind_walk(at, &stack, &code, &path);
  printf("%s", ends[path.end]);
  for (unsigned i = 0; i < path.depth; i++) printf(" %" PRIx64, pcs[i]);
  putchar('\n');
  fflush(stdout);
  return true;
}

int main(int argc, char **argv) {
  uint8_t general[UNWIND_GENERAL * sizeof(uint64_t)] = {0};
  struct unwind_registers at = {.general = general};
  char line[1024];
  if (argc != 2) {
    fprintf(stderr, "walk_stopped PID\n");
    return 2;
  }
  int pid = (int)strtol(argv[1], NULL, 10);
  while (fgets(line, sizeof line, stdin) != NULL) {
    char *rest = line;
    uintptr_t *const fields[] = {&at.pc, &at.sp, &at.lr, &at.tracked[0], &at.tracked[1]};
    for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++)
      *fields[i] = (uintptr_t)strtoull(rest, &rest, 16);
    for (unsigned i = 0; i < unwind_arch.general_count; i++) {
      uintptr_t value = (uintptr_t)strtoull(rest, &rest, 16);
      memcpy(general + unwind_arch.general[i] * unwind_arch.signal.general_step, &value,
             sizeof value);
    }
    if (!answer(pid, &at)) return 1;
  }
  return 0;
}
