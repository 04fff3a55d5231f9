/* SPDX-License-Identifier: Apache-2.0 */
/* All processes of a ring share one map: the registered process and its forked children. They have
   the same code at the same addresses, except libraries loaded after the fork. Code that is not in
   all of them is left out, and a handler then reports it as unknown. (Anonymous code has no table;
   it is listed only so that callers in it are accepted.)

   A map is as old as the last reading of the mappings. When a library is loaded, the first sample
   that contains it makes the daemon read the mappings again, also those of the process's parent.
   When a library is unloaded the ring counts it, and only steady regions are used until the
   mappings were read again. A forked process has its parent's code, and so its map.

   Steady regions are those from the program's start. Only the worker that saw the start can
   identify them, so the steady part of a map only ever shrinks.

   Stacks that a program makes itself are listed for each process. The kernel merges neighbors into
   one mapping, and a thread may unmap one of them at any time. So an edge that was published once
   is kept. If there is no room for all of them, no stack is published any more, and walks end at
   these stacks. The map itself records this, for the next worker. */
#include "target_regions.h"

#include "common/log.h"
#include "ring/ring_switch.h"
#include "targets/claim.h"
#include "targets/process_maps.h"
#include "targets/region_map.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct draft {
  const struct target_regions_parts *parts;
  struct target *target;
  struct process *first;
  uint32_t unloads;
  bool has_news; /* a child may have found mappings that its parent has had for long */
  bool is_left_out[PROCESS_MAPS_MAX]; /* for each of first's mappings: some process lacks it */
  struct region_lists lists;
};

static bool is_due(const struct target_regions_parts *parts, const struct target *target) {
  const struct region_state *regions = &target->regions;
  if (regions->map == NULL || target->held.behind != 0) return false; /* sampled by perf */
  return regions->is_due || regions->tables_serial != table_store_serial(parts->store) ||
         regions->needs_serial != modules_needs_serial(parts->modules) ||
         regions->map->unloads != ring_reader_unloads(&target->ring);
}

static int maps_fd_of(const struct target *target, const struct process *process) {
  bool is_first = process->pid == target->held.pid && target->held.fd_count > 1;
  return is_first ? target->fds[1] : -1;
}

/* Reads the mappings of PROCESS again if a library was unloaded since. Returns false if they are no
   longer available. */
static bool is_current(const struct draft *draft, struct process *process) {
  if (process->has_ended) return false;
  if (process->maps_unloads != draft->unloads)
    process_read_maps(draft->parts->processes, process, maps_fd_of(draft->target, process),
                      draft->unloads);
  return process->maps_unloads == draft->unloads;
}

static void take_any(void *context, struct process *process) {
  struct draft *draft = context;
  if (draft->first == NULL && is_current(draft, process)) draft->first = process;
}

/* The registered process, or one of its surviving children. */
static void find_first(struct draft *draft) {
  const struct hold_target *held = &draft->target->held;
  struct processes *processes = draft->parts->processes;
  struct process *process = processes_find(processes, held->pid);
  if (process == NULL && proc_lives(held->pid, held->start_ticks)) {
    int maps_fd = held->fd_count > 1 ? draft->target->fds[1] : -1;
    process = processes_get(processes, held->pid, held->id, maps_fd);
  }
  if (process != NULL && process->target == held->id && is_current(draft, process))
    draft->first = process;
  else
    processes_each(processes, held->id, take_any, draft);
}

static void look_for_news(void *context, struct process *process) {
  struct draft *draft = context;
  bool is_new = !process->has_ended && process->maps_serial != process->shared_serial;
  draft->has_news |= is_new && process != draft->first;
}

/* A parent that waits for its children is not sampled, so samples do not trigger a reading of its
   mappings. */
static void read_first(struct draft *draft) {
  struct process *first = draft->first;
  processes_each(draft->parts->processes, draft->target->held.id, look_for_news, draft);
  if (draft->has_news)
    process_read_maps(draft->parts->processes, first, maps_fd_of(draft->target, first),
                      draft->unloads);
}

static bool is_loaded_later(const struct process_map *map) {
  return !map->is_steady && map->module != MODULE_ANON;
}

/* Finds children without a sample yet. */
static void find_children(const struct draft *draft) {
  struct ring_process_view view;
  const struct target *target = draft->target;
  struct processes *processes = draft->parts->processes;
  for (unsigned row = 0; row < RING_PROCESSES_MAX; row++) {
    struct claim seen = {0};
    ring_switch_look(&target->ring, row, &view);
    pid_t pid = (pid_t)view.pid;
    if (pid <= 0 || pid == draft->first->pid || processes_find(processes, pid) != NULL) continue;
    if (claim_stands(target, pid, &seen)) processes_get(processes, pid, target->held.id, -1);
  }
}

static bool has_same(const struct process *process, const struct process_map *map) {
  uint32_t low = 0, high = process->map_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (process->maps[middle].start < map->start)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == process->map_count) return false;
  const struct process_map *found = &process->maps[low];
  return found->start == map->start && found->end == map->end &&
         found->file_offset == map->file_offset && found->inode == map->inode;
}

static bool is_gone(const struct process *process) {
  return kill(process->pid, 0) != 0 && errno == ESRCH;
}

/* Leaves out the mappings that PROCESS lacks, unless it runs another program by now. */
static void compare(void *context, struct process *process) {
  struct draft *draft = context;
  const struct process *first = draft->first;
  bool is_left_out[PROCESS_MAPS_MAX];
  if (process == first || !is_current(draft, process)) return;
  for (uint32_t i = 0; i < first->map_count; i++) {
    bool is_file = first->maps[i].module != MODULE_ANON;
    is_left_out[i] = is_file && !has_same(process, &first->maps[i]);
    if (is_left_out[i] && (first->maps[i].is_steady || is_gone(process))) return;
  }
  for (uint32_t i = 0; i < first->map_count; i++) draft->is_left_out[i] |= is_left_out[i];
  process->shared_serial = process->maps_serial;
}

static void compare_all(struct draft *draft) {
  const struct process *first = draft->first;
  bool is_any = false;
  for (uint32_t i = 0; i < first->map_count; i++) is_any |= is_loaded_later(&first->maps[i]);
  if (is_any) find_children(draft);
  processes_each(draft->parts->processes, draft->target->held.id, compare, draft);
}

/* The offset of REGION's table in the memory that targets map. The table is mapped by the
   daemon. */
static uint64_t share(const struct draft *draft, const struct process_code *code,
                      const struct unwind_region *region, uint32_t index) {
  const struct target_regions_parts *parts = draft->parts;
  uint8_t key[LIMIT_MODULE_ID_BYTES];
  if (region->table == UNWIND_NO_TABLE) return UNWIND_NO_TABLE;
  if (parts->is_for_all && !modules_is_public(parts->modules, index)) return UNWIND_NO_TABLE;
  struct span id = span_of(key, process_code_key(code, parts->modules, index, key));
  if (id.len == 0) id = span_of_string("[vdso]");                 /* the only table without a key */
  uint32_t uid = parts->is_for_all ? draft->target->held.uid : 0; /* 0: a single user's daemon */
  struct table_share_request request = {id, uid, modules_is_needed(parts->modules, index)};
  return table_share_place(parts->share, &request,
                           (const struct unwind_table *)(uintptr_t)region->table);
}

static void put(struct region_lists *lists, enum unwind_map_list list,
                const struct unwind_region *region) {
  uint32_t *count = &lists->counts[list];
  struct unwind_region *last = *count > 0 ? &lists->regions[list][*count - 1] : NULL;
  bool is_joined = last != NULL && last->end == region->start && last->table == UNWIND_NO_TABLE &&
                   region->table == UNWIND_NO_TABLE;
  if (is_joined)
    last->end = region->end;
  else if (*count < UNWIND_MAP_REGIONS_MAX)
    lists->regions[list][(*count)++] = *region;
}

static bool is_steady(const struct draft *draft, const struct process_map *map) {
  const struct target *target = draft->target;
  bool is_beginning = !target->is_restored && !target->regions.was_put;
  return map->is_steady && (is_beginning || region_map_had(target->regions.map, UNWIND_MAP_STEADY,
                                                           map->start, map->end));
}

static void fill(struct draft *draft, const struct process_code *code) {
  const struct process *first = draft->first;
  bool is_crowded = first->map_count > UNWIND_MAP_REGIONS_MAX;
  for (uint32_t i = 0; i < first->map_count && i < code->code.count; i++) {
    const struct process_map *map = &first->maps[i];
    struct unwind_region region = code->code.regions[i];
    if (draft->is_left_out[i] || (is_crowded && map->module == MODULE_ANON)) continue;
    region.table = share(draft, code, &region, map->module);
    put(&draft->lists, UNWIND_MAP_ALL, &region);
    if (is_steady(draft, map)) put(&draft->lists, UNWIND_MAP_STEADY, &region);
  }
}

static void put_stack(struct region_lists *lists, uint64_t pid, uint64_t start, uint64_t end) {
  if (lists->stack_count < UNWIND_MAP_STACKS_MAX)
    lists->stacks[lists->stack_count] = (struct unwind_stack_span){
        unwind_stack_key((uint32_t)pid, start), (end - start) / UNWIND_PAGE_BYTES};
  lists->stack_count++;
}

/* The first span of MAP that ends after KEY. */
static uint32_t first_span(const struct unwind_map *map, uint64_t key) {
  uint32_t low = 0, high = map->stack_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (map->stacks[middle].key + map->stacks[middle].pages > key)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* Adds STACK, cut at the edges of previously published spans. */
static void put_stack_cut(struct draft *draft, uint64_t pid, const struct process_stack *stack) {
  const struct unwind_map *map = draft->target->regions.map;
  uint64_t base = unwind_stack_key((uint32_t)pid, 0), at = stack->start;
  uint32_t i = first_span(map, unwind_stack_key((uint32_t)pid, at));
  for (; i < map->stack_count; i++) {
    uint64_t first = map->stacks[i].key - base;
    uint64_t edges[2] = {first, first + map->stacks[i].pages};
    if (first >= stack->end / UNWIND_PAGE_BYTES) break;
    for (unsigned k = 0; k < 2; k++) {
      uint64_t edge = edges[k] * UNWIND_PAGE_BYTES;
      if (edges[k] <= at / UNWIND_PAGE_BYTES || edge >= stack->end) continue;
      put_stack(&draft->lists, pid, at, edge);
      at = edge;
    }
  }
  put_stack(&draft->lists, pid, at, stack->end);
}

static void put_stacks_cut(void *context, struct process *process) {
  struct draft *draft = context;
  if (!process->has_other_stacks || process->has_ended) return;
  for (uint32_t i = 0; i < process->stack_count; i++)
    put_stack_cut(draft, (uint64_t)process->pid, &process->stacks[i]);
}

/* A map without room for all edges has this one span, which contains no stack pointer. */
static const struct unwind_stack_span no_room = {.key = UINT64_MAX, .pages = 0};

static bool had_no_room(const struct unwind_map *map) {
  return map->stack_count == 1 && map->stacks[0].key == no_room.key && map->stacks[0].pages == 0;
}

static int compare_spans(const void *a, const void *b) {
  uint64_t left = ((const struct unwind_stack_span *)a)->key;
  uint64_t right = ((const struct unwind_stack_span *)b)->key;
  return (left > right) - (left < right);
}

static void fill_stacks(struct draft *draft) {
  struct region_lists *lists = &draft->lists;
  uint32_t target = draft->target->held.id;
  bool is_full = had_no_room(draft->target->regions.map);
  if (!is_full) processes_each(draft->parts->processes, target, put_stacks_cut, draft);
  if (is_full || lists->stack_count > UNWIND_MAP_STACKS_MAX) {
    if (!is_full)
      log_debug("target %u: %u mappings that can hold stacks, and room for %d: walks end there",
                target, lists->stack_count, UNWIND_MAP_STACKS_MAX);
    lists->stacks[0] = no_room;
    lists->stack_count = 1;
  }
  qsort(lists->stacks, lists->stack_count, sizeof lists->stacks[0], compare_spans);
}

static void update(struct draft *draft) {
  const struct target_regions_parts *parts = draft->parts;
  struct target *target = draft->target;
  struct region_state *regions = &target->regions;
  uint64_t tables_serial = table_store_serial(parts->store);
  draft->unloads = draft->lists.unloads = ring_reader_unloads(&target->ring);
  find_first(draft);
  if (draft->first == NULL) {
    regions->is_due = false; /* no process walks */
    return;
  }
  read_first(draft);
  compare_all(draft);
  const struct process_code *code = process_codes_get(parts->codes, draft->first);
  if (code == NULL) return;
  fill(draft, code);
  fill_stacks(draft);
  if (ring_reader_unloads(&target->ring) != draft->unloads) return; /* try again */
  if (region_map_put(regions->map, target->fds[target->held.fd_count], &draft->lists) != 0) return;
  draft->first->shared_serial = draft->first->maps_serial;
  regions->tables_serial = tables_serial;
  regions->needs_serial = modules_needs_serial(parts->modules);
  regions->was_put = true;
  regions->is_due = code->is_partial;
  if (!code->has_waiting && !code->is_partial) region_map_let_begin(regions->map);
  log_debug("target %u: walks with %u regions, %u of them steady, and %u mappings for stacks",
            target->held.id, draft->lists.counts[UNWIND_MAP_ALL],
            draft->lists.counts[UNWIND_MAP_STEADY], draft->lists.stack_count);
}

void target_regions_step(const struct target_regions_parts *parts, struct target *target) {
  if (!is_due(parts, target) || !toll_begin(&target->toll, TOLL_TURN_MS)) return;
  struct draft *draft = calloc(1, sizeof *draft);
  if (draft != NULL) {
    draft->parts = parts;
    draft->target = target;
    modules_set_payer(parts->modules, &target->toll, target->held.id);
    update(draft);
    modules_set_payer(parts->modules, NULL, 0);
    free(draft);
  }
  toll_end(&target->toll);
}
