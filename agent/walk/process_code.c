/* SPDX-License-Identifier: Apache-2.0 */
/* Rebuilt when the process's mappings have changed or a new table exists, and only for processes
   that are currently sampled: a board runs many, but few are busy at once. Building takes a look-up
   for each mapping, so a process beyond PROCESS_CODES_MAX costs some microseconds for each sample.

   All executable mappings are regions, with or without a table: a walk accepts no return address
   outside them. The first sample of a process identifies all of its modules, not only those on its
   stack. So the table of a module is ready when a stack first contains it. */
#include "process_code.h"
#include "table_key.h"

#include "common/clock.h"
#include "elf/module_file.h"
#include "tables/table_rows.h"
#include "targets/process_maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void process_codes_init(struct process_codes *codes, struct modules *modules,
                        struct table_store *store) {
  memset(codes, 0, sizeof *codes);
  codes->modules = modules;
  codes->store = store;
}

static void clear(struct process_code *row) {
  free((void *)(uintptr_t)row->code.regions);
  free(row->is_waiting);
  memset(row, 0, sizeof *row);
}

void process_codes_fini(struct process_codes *codes) {
  for (unsigned i = 0; i < PROCESS_CODES_MAX; i++) clear(&codes->rows[i]);
}

/* The process's row, or the least recently used one, cleared. */
static struct process_code *find_row(struct process_codes *codes, pid_t pid) {
  struct process_code *oldest = &codes->rows[0];
  for (unsigned i = 0; i < PROCESS_CODES_MAX; i++) {
    struct process_code *row = &codes->rows[i];
    if (row->pid == pid) return row;
    if (row->used < oldest->used) oldest = row;
  }
  clear(oldest);
  return oldest;
}

static bool is_current(const struct process_codes *codes, const struct process_code *row,
                       const struct process *process) {
  return row->pid == process->pid && !row->is_partial && row->maps_serial == process->maps_serial &&
         row->tables_serial == table_store_serial(codes->store);
}

uint32_t process_code_key(const struct process_code *row, const struct modules *modules,
                          uint32_t index, uint8_t ret[LIMIT_MODULE_ID_BYTES]) {
  struct batch_module module;
  uint32_t owner = modules_owner(modules, index);
  modules_describe(modules, index, &module);
  return table_key(module.id, owner != MODULE_OWNER_UNSURE ? owner : row->user, ret);
}

static enum table_state find_module_table(struct process_codes *codes, struct process_code *row,
                                          uint32_t index, pid_t pid,
                                          const struct unwind_table **ret) {
  struct batch_module module;
  struct table_wanted wanted = {.pid = pid};
  modules_describe(codes->modules, index, &module);
  if (strcmp(module.path, "[vdso]") == 0) {
    *ret = table_store_vdso(codes->store);
    return *ret != NULL ? TABLE_READY : TABLE_NOTHING;
  }
  if (module.kind != MODULE_ELF || module.path[0] != '/') return TABLE_NOTHING;
  if (row->user == MODULE_OWNER_UNSURE &&
      modules_owner(codes->modules, index) == MODULE_OWNER_UNSURE)
    row->user = table_key_owner(MODULE_OWNER_UNSURE, pid);
  wanted.id_bytes = process_code_key(row, codes->modules, index, wanted.id);
  if (wanted.id_bytes == 0) return TABLE_NOTHING;
  snprintf(wanted.path, sizeof wanted.path, "%s", module.path);
  snprintf(wanted.open_path, sizeof wanted.open_path, "%s",
           modules_open_path(codes->modules, index));
  return table_store_find(codes->store, &wanted, ret);
}

static void fill_region(struct process_codes *codes, struct process_code *row,
                        const struct process *process, struct process_map *map,
                        struct unwind_region *ret, bool *ret_is_waiting) {
  const struct unwind_table *table = NULL;
  pid_t pid = process->has_ended ? 0 : process->pid;
  map->module = modules_identify(codes->modules, map->module, pid);
  enum table_state state = find_module_table(codes, row, map->module, pid, &table);
  *ret = (struct unwind_region){.start = map->start, .end = map->end, .table = UNWIND_NO_TABLE};
  *ret_is_waiting = state == TABLE_WAITING;
  if (state != TABLE_READY) return;
  uint64_t low = process_map_address(codes->modules, process, map, map->start);
  if (table_rows_place(table, low, low + (map->end - map->start), &ret->address))
    ret->table = (uintptr_t)table;
}

/* Fills ROW, which is PROCESS's, with its current regions. */
static bool make(struct process_codes *codes, struct process_code *row, struct process *process) {
  uint32_t count = process->map_count;
  struct unwind_region *regions = calloc(count + 1, sizeof *regions);
  bool *is_waiting = calloc(count + 1, sizeof *is_waiting);
  uint64_t used = row->used;
  bool is_known = process->has_ended && row->pid == process->pid;
  uint32_t user = is_known ? row->user : MODULE_OWNER_UNSURE;
  clear(row);
  if (regions == NULL || is_waiting == NULL) {
    free(regions);
    free(is_waiting);
    return false;
  }
  row->user = user;
  row->tables_serial = table_store_serial(codes->store);
  for (uint32_t i = 0; i < count; i++) {
    fill_region(codes, row, process, &process->maps[i], &regions[i], &is_waiting[i]);
    bool is_settled = modules_is_settled(codes->modules, process->maps[i].module);
    is_waiting[i] |= !is_settled;
    row->has_waiting |= is_waiting[i];
    row->is_partial |= !is_settled;
  }
  row->code = (struct unwind_code){.regions = regions, .count = count, .tables_bytes = UINTPTR_MAX};
  row->is_waiting = is_waiting;
  row->pid = process->pid;
  row->maps_serial = process->maps_serial;
  row->used = used;
  return true;
}

const struct process_code *process_codes_get(struct process_codes *codes, struct process *process) {
  if (codes->store == NULL) return NULL;
  struct process_code *row = find_row(codes, process->pid);
  if (!is_current(codes, row, process) && !make(codes, row, process)) return NULL;
  row->used = ++codes->clock;
  return row;
}
