/* SPDX-License-Identifier: Apache-2.0 */
/* The table is rebuilt each time from the process's mappings and the previous table:

     mapped now   the same part of the same file as before   keeps its bins
                  any other                                  gets new ones, from the front
     mapped then  not now                                    retired, behind the others

   Bins are allocated once and never freed, and bins_used is stored before the table that uses it.
   So a worker killed at any instruction leaves at worst bins in no region; their counts are shown
   as [unknown]. For the same reason an invalid table, after an interrupted change or a write by the
   target, is rebuilt with new bins.

   Anonymous memory (JIT code) has no addresses that are meaningful later and may take gigabytes: it
   gets no region. bin_widths.c chooses the widened regions among all new ones at once. If regions,
   modules or bins run out, the last mappings are left out and count as outside. */
#include "image.h"
#include "bin_widths.h"
#include "process_maps.h"
#include "service_name.h"

#include "common/clock.h"
#include "ring/histogram_layout.h"
#include "ring/image_table.h"
#include "ring/wide.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct draft {
  const struct image_table *old; /* a checked copy */
  struct image_table table;
  struct histogram_shape shape; /* bin_count 0: no histogram */
  uint32_t bins_used;
  bool is_kept[IMAGE_REGIONS_MAX]; /* regions of the old table that are mapped now */
  bool is_new[IMAGE_REGIONS_MAX];  /* regions of the table without bins yet */
};

static bool is_file(const struct process_map *map) {
  return map->module != MODULE_ANON;
}

void image_measure(const struct process *process, struct image_code *ret) {
  *ret = (struct image_code){0, 0};
  for (uint32_t i = 0; i < process->map_count; i++) {
    const struct process_map *map = &process->maps[i];
    if (!is_file(map) || ret->regions == IMAGE_REGIONS_MAX) continue;
    ret->bytes += map->end - map->start;
    ret->regions++;
  }
}

static void copy_text(char *to, size_t size, const char *text) {
  size_t len = strnlen(text, size - 1);
  memcpy(to, text, len);
  memset(to + len, 0, size - len);
}

static struct image_table *table_of(const struct target *target) {
  return image_table_of(target->ring.base);
}

void image_begin(const struct target *target, const struct process *process) {
  const struct hold_target *held = &target->held;
  struct image_table *table = table_of(target);
  const char *exe = held->exe;
  if (process != NULL && process->exe != NULL) exe = process->exe;
  copy_text(table->service, sizeof table->service, service_name(held, process));
  copy_text(table->exe, sizeof table->exe, exe);
  copy_text(table->labels, sizeof table->labels, held->labels);
  table->pid = held->pid;
  table->uid = held->uid;
  table->asked_mhz = held->asked_mhz;
  table->filters = held->filters;
  clock_boot_id(table->boot_id);
  table->start_boottime_ns = proc_ticks_to_ns(held->start_ticks);
  uint64_t age = clock_boottime_ns() - table->start_boottime_ns;
  table->start_walltime_ns = clock_walltime_ns() - age;
  image_stamp(target);
}

void image_wish(const struct target *target, uint32_t mhz) {
  if (target->held.kind != HOLD_TIMER || !ring_has_image(target->held.collect)) return;
  *(volatile uint32_t *)&table_of(target)->wish_mhz = mhz;
}

uint64_t image_bin_bytes(const struct target *target) {
  if (target->held.kind != HOLD_TIMER || target->held.collect != RING_HISTOGRAM) return 0;
  unsigned widening = image_table_widening(table_of(target));
  return widening < 32 ? (uint64_t)target->held.bin_bytes << widening : UINT64_MAX;
}

void image_stamp(const struct target *target) {
  struct image_table *table = table_of(target);
  wide_store(&table->alive_boottime_ns, clock_boottime_ns());
  wide_store(&table->alive_walltime_ns, clock_walltime_ns());
}

static bool is_module(const struct image_module *module, const struct batch_module *wanted) {
  if (module->id_len != wanted->id.len) return false;
  if (wanted->id.len > 0) return memcmp(module->id, wanted->id.data, wanted->id.len) == 0;
  return strncmp(module->path, wanted->path, sizeof module->path - 1) == 0;
}

/* The index of MODULE in the draft, to which it is added if new; -1: no room. */
static int find_module(struct draft *draft, const struct batch_module *wanted) {
  struct image_table *table = &draft->table;
  uint32_t at = 0;
  if (wanted->id.len > IMAGE_ID_BYTES) return -1;
  while (at < table->module_count && !is_module(&table->modules[at], wanted)) at++;
  if (at < table->module_count) return (int)at;
  if (at == IMAGE_MODULES_MAX) return -1;
  struct image_module *module = &table->modules[table->module_count++];
  memset(module, 0, sizeof *module);
  if (wanted->id.len > 0) memcpy(module->id, wanted->id.data, wanted->id.len);
  module->id_len = (uint32_t)wanted->id.len;
  module->size_bytes = wanted->size_bytes;
  copy_text(module->path, sizeof module->path, wanted->path);
  return (int)at;
}

/* Gives REGION the bins that it had before. Returns false if there were none. */
static bool find_bins(struct draft *draft, struct image_region *region) {
  const struct image_table *old = draft->old;
  uint64_t bytes = region->end - region->start;
  for (uint32_t i = 0; i < old->region_count + old->retired_count; i++) {
    const struct image_region *before = &old->regions[i];
    if (draft->is_kept[i] || before->module != region->module ||
        before->address != region->address || before->end - before->start != bytes)
      continue;
    draft->is_kept[i] = true;
    region->first_bin = before->first_bin;
    region->widening = before->widening;
    return true;
  }
  return false;
}

/* Returns false if there are too few bins for REGION. */
static bool give_bins(struct draft *draft, struct image_region *region, unsigned widening) {
  uint64_t bytes = region->end - region->start;
  uint64_t bins = bin_widths_bins(draft->shape.bin_bytes, widening, bytes);
  if (bins > draft->shape.bin_count - draft->bins_used) return false;
  region->first_bin = draft->bins_used;
  region->widening = (uint16_t)widening;
  draft->bins_used += (uint32_t)bins;
  return true;
}

/* Regions without bins are left out. */
static void give_all(struct draft *draft) {
  struct image_table *table = &draft->table;
  struct bin_widths widths = {.bin_bytes = draft->shape.bin_bytes};
  uint32_t kept = 0, at = 0;
  for (uint32_t i = 0; i < table->region_count; i++)
    if (draft->is_new[i])
      widths.bytes[widths.count++] = table->regions[i].end - table->regions[i].start;
  bin_widths_fit(&widths, histogram_bins_to_give(draft->shape.bin_count - draft->bins_used));
  for (uint32_t i = 0; i < table->region_count; i++) {
    struct image_region region = table->regions[i];
    if (!draft->is_new[i] || give_bins(draft, &region, widths.widening[at++]))
      table->regions[kept++] = region;
  }
  table->region_count = kept;
}

static void add_map(struct draft *draft, struct modules *modules, const struct process *process,
                    struct process_map *map) {
  struct image_table *table = &draft->table;
  struct batch_module module;
  modules_describe(modules, map->module, &module);
  if (table->region_count == IMAGE_REGIONS_MAX) return;
  int index = find_module(draft, &module);
  if (index < 0) return;
  struct image_region region = {.start = map->start,
                                .end = map->end,
                                .address = process_map_address(modules, process, map, map->start),
                                .module = (uint16_t)index};
  draft->is_new[table->region_count] = !find_bins(draft, &region);
  table->regions[table->region_count++] = region;
}

static void retire_rest(struct draft *draft) {
  struct image_table *table = &draft->table;
  const struct image_table *old = draft->old;
  for (uint32_t i = 0; i < old->region_count + old->retired_count; i++) {
    uint32_t at = table->region_count + table->retired_count;
    if (draft->is_kept[i] || at == IMAGE_REGIONS_MAX) continue;
    table->regions[at] = old->regions[i];
    table->retired_count++;
  }
}

static void make(struct draft *draft, struct modules *modules, struct process *process) {
  struct image_table *table = &draft->table;
  table->module_count = draft->old->module_count; /* indices stay valid */
  memcpy(table->modules, draft->old->modules, sizeof table->modules);
  for (uint32_t i = 0; i < process->map_count; i++) {
    struct process_map *map = &process->maps[i];
    if (!is_file(map)) continue;
    map->module = modules_identify(modules, map->module, process->has_ended ? 0 : process->pid);
    add_map(draft, modules, process, map);
  }
  if (draft->shape.bin_count != 0) give_all(draft);
  retire_rest(draft);
}

static bool is_same(const struct image_table *a, const struct image_table *b) {
  return a->region_count == b->region_count && a->retired_count == b->retired_count &&
         a->module_count == b->module_count &&
         memcmp(a->regions, b->regions,
                (a->region_count + a->retired_count) * sizeof a->regions[0]) == 0;
}

static struct histogram_header *counters_of(const struct target *target) {
  if (target->held.collect != RING_HISTOGRAM) return NULL;
  return (struct histogram_header *)(void *)(target->ring.base + HISTOGRAM_OFFSET);
}

static void publish(const struct target *target, const struct draft *draft) {
  struct image_table *table = table_of(target);
  struct histogram_header *counters = counters_of(target);
  if (counters != NULL) *(volatile uint32_t *)&counters->bins_used = draft->bins_used;
  image_table_begin(table);
  table->region_count = draft->table.region_count;
  table->retired_count = draft->table.retired_count;
  table->module_count = draft->table.module_count;
  memcpy(table->modules, draft->table.modules, sizeof table->modules);
  memcpy(table->regions, draft->table.regions, sizeof table->regions);
  image_table_end(table);
}

int image_update(const struct target *target, struct modules *modules, struct process *process) {
  const struct histogram_header *counters = counters_of(target);
  struct image_table *old = calloc(1, sizeof *old);
  struct draft *draft = calloc(1, sizeof *draft);
  if (old != NULL && draft != NULL) {
    /* Only workers write it: if a change is in progress, its writer was killed. */
    if (image_table_read(table_of(target), true, old) < 0) memset(old, 0, sizeof *old);
    draft->old = old;
    if (counters != NULL) {
      draft->shape.bin_bytes = target->held.bin_bytes;
      draft->shape.bin_count = target->held.bin_count;
      draft->bins_used = *(const volatile uint32_t *)&counters->bins_used;
      if (draft->bins_used > draft->shape.bin_count) draft->bins_used = draft->shape.bin_count;
    }
    make(draft, modules, process);
    bool is_whole = atomic_load_explicit(&old->serial, memory_order_relaxed) % 2 == 0;
    if (!is_whole || !is_same(&draft->table, old)) publish(target, draft);
  }
  int error = old != NULL && draft != NULL ? 0 : -ENOMEM;
  free(old);
  free(draft);
  return error;
}
