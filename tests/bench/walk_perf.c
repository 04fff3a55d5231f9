/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the samples of a perf.data file with tables made from the mapped files. Prints each stack
   for a comparison with `perf script` on the same sample:

     PID TID TIME END PLACE PLACE ...       END: complete, truncated, unknown, bad; the leaf first

   A place is OFFSET:PATH, of a byte in a file, or an address and ":".

     walk_perf FILE [BYTES [HOW]]    of each stack as if BYTES had been copied at most

   HOW: by tables alone (default); `auto`, the daemon's default, by tables and then along the
   kernel's chain of frame pointers; `fp`, that chain alone. A file has that chain if perf ran with
   ask_for_chains.so. */
#include "code_map.h"
#include "perf_file.h"

#include "intake/perf_regs.h"
#include "walk/walker.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 1024 };

enum how { BY_TABLES, BY_AUTO, BY_FP };

static size_t copy_bytes = SIZE_MAX;
static enum how how;
static struct code_maps maps;
static struct module_tables tables;

/* [vdso] and files; //anon, [heap] and the like have no module. */
static const struct module_table *module_of(const char *path) {
  bool is_file = path[0] == '/' && path[1] != '/';
  return is_file || strcmp(path, "[vdso]") == 0 ? module_tables_get(&tables, path) : NULL;
}

static void on_mmap(struct span record, size_t fixed) {
  uint64_t fields[4]; /* pid tid, address, length, offset */
  struct span header, rest = record;
  if (!span_take(&rest, sizeof(struct perf_event_header) + fixed, &header)) return;
  if (memchr(rest.data, 0, rest.len) == NULL) return;
  memcpy(fields, header.data + sizeof(struct perf_event_header), sizeof fields);
  const char *path = (const char *)rest.data;
  code_map_add(code_maps_get(&maps, (int32_t)(uint32_t)fields[0]),
               &(struct code_mapping){.start = fields[1],
                                      .end = fields[1] + fields[2],
                                      .file_offset = fields[3],
                                      .module = module_of(path)});
}

static void on_task(struct span record) {
  uint32_t fields[2]; /* pid, parent's */
  if (record.len < sizeof(struct perf_event_header) + sizeof fields) return;
  memcpy(fields, record.data + sizeof(struct perf_event_header), sizeof fields);
  if (fields[0] != fields[1])
    code_map_copy(code_maps_get(&maps, (int32_t)fields[0]),
                  code_maps_get(&maps, (int32_t)fields[1]));
}

static void on_exec(struct span record) {
  uint32_t pid;
  if (record.len < sizeof(struct perf_event_header) + sizeof pid) return;
  memcpy(&pid, record.data + sizeof(struct perf_event_header), sizeof pid);
  code_maps_get(&maps, (int32_t)pid)->count = 0;
}

static void print_place(const struct code_map *map, uint64_t pc) {
  for (uint32_t i = 0; i < map->count; i++) {
    const struct code_mapping *mapping = &map->mappings[i];
    if (pc <= mapping->start || pc > mapping->end || mapping->module == NULL) continue;
    printf(" %" PRIx64 ":%s", pc - mapping->start + mapping->file_offset, mapping->module->path);
    return;
  }
  printf(" %" PRIx64 ":", pc);
}

/* The register at PLACE of the daemon's own samples; 0 if there is none. */
static uintptr_t register_at(const struct perf_file *file, const struct recorded_sample *sample,
                             int place) {
  unsigned number = 0;
  if (place < 0 || place >= (int)perf_walk_regs.count) return 0;
  for (uint64_t left = perf_walk_regs.mask; (left & 1) == 0 || place-- > 0; left >>= 1) number++;
  return (uintptr_t)perf_file_register(file, sample, number);
}

/* PCS has ROOM entries. */
static struct walker_chain kernel_chain(struct span words, uint64_t *pcs) {
  struct walker_chain chain = {.pcs = pcs};
  uint64_t word;
  for (size_t at = 0; at + sizeof word <= words.len && chain.depth < ROOM; at += sizeof word) {
    memcpy(&word, words.data + at, sizeof word);
    if (word < (uint64_t)PERF_CONTEXT_MAX) pcs[chain.depth++] = word;
  }
  return chain;
}

static void find_callers(const struct unwind_registers *at, const struct recorded_sample *sample,
                         const struct unwind_code *code, struct unwind_path *path) {
  uint64_t chain_pcs[ROOM];
  size_t bytes = sample->stack.len < copy_bytes ? sample->stack.len : copy_bytes;
  struct unwind_memory stack = {.bytes = sample->stack.data, .low = at->sp, .high = at->sp + bytes};
  struct walker_chain chain = kernel_chain(sample->chain, chain_pcs);
  if (how == BY_FP && chain.depth > 0) {
    memcpy(path->pcs, chain.pcs, chain.depth * sizeof *chain.pcs);
    path->depth = chain.depth;
    path->end = UNWIND_UNKNOWN;
    return;
  }
  unwind_walk(at, &stack, code, path);
  if (how == BY_AUTO) walker_continue(code, &chain, path);
}

static void on_sample(const struct perf_file *file, struct span record) {
  static const char *const ends[UNWIND_ENDS] = {"complete", "truncated", "unknown", "bad", "other"};
  uint64_t pcs[ROOM];
  struct recorded_sample sample;
  if (perf_file_sample(file, record, &sample) != 0 || sample.registers.len == 0) return;
  const struct perf_walk_regs *places = &perf_walk_regs;
  uint8_t general[UNWIND_GENERAL * sizeof(uint64_t)] = {0};
  struct unwind_registers at = {.pc = register_at(file, &sample, places->pc),
                                .sp = register_at(file, &sample, places->sp),
                                .lr = register_at(file, &sample, places->lr),
                                .general = general};
  for (unsigned i = 0; i < UNWIND_TRACKED; i++)
    at.tracked[i] = register_at(file, &sample, places->tracked[i]);
  for (unsigned i = 0; i < places->general_count; i++) {
    uintptr_t value = register_at(file, &sample, places->general[i]);
    memcpy(general + i * unwind_arch.signal.general_step, &value, sizeof value);
  }
  const struct code_map *map = code_maps_get(&maps, sample.pid);
  struct unwind_code code = code_map_code(map);
  struct unwind_path path = {.pcs = pcs, .room = ROOM};
  find_callers(&at, &sample, &code, &path);
  printf("%d %d %" PRIu64 " %s", sample.pid, sample.tid, sample.time, ends[path.end]);
  for (unsigned i = 0; i < path.depth; i++) print_place(map, pcs[i]);
  putchar('\n');
}

static void on_record(const struct perf_file *file, struct span record) {
  enum { MMAP_FIXED = 32, MMAP2_FIXED = 64 };
  struct perf_event_header header;
  memcpy(&header, record.data, sizeof header);
  switch (header.type) {
  case PERF_RECORD_MMAP:
    if (!(header.misc & PERF_RECORD_MISC_MMAP_DATA)) on_mmap(record, MMAP_FIXED);
    return;
  case PERF_RECORD_MMAP2:
    if (!(header.misc & PERF_RECORD_MISC_MMAP_DATA)) on_mmap(record, MMAP2_FIXED);
    return;
  case PERF_RECORD_FORK:
    on_task(record);
    return;
  case PERF_RECORD_COMM:
    if (header.misc & PERF_RECORD_MISC_COMM_EXEC) on_exec(record);
    return;
  case PERF_RECORD_SAMPLE:
    on_sample(file, record);
    return;
  default:
    return;
  }
}

int main(int argc, char **argv) {
  struct perf_file file;
  const char *why;
  if (argc < 2 || argc > 4) {
    fprintf(stderr, "walk_perf FILE [BYTES [auto | fp]]\n");
    return 2;
  }
  if (argc > 2) copy_bytes = strtoul(argv[2], NULL, 10);
  if (argc > 3) how = strcmp(argv[3], "fp") == 0 ? BY_FP : BY_AUTO;
  if (perf_file_open(argv[1], &file, &why) != 0) {
    fprintf(stderr, "%s: %s\n", argv[1], why);
    return 1;
  }
  for (size_t i = 0; i < file.count; i++) on_record(&file, file.entries[i].record);
  module_tables_print(&tables);
  return 0;
}
