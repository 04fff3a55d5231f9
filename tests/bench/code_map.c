/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings stay sorted and disjoint: a new mapping cuts those that it overlaps. Tables are anywhere
   in this process's memory, so a region names its table by address. */
#include "code_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct code_map *code_maps_get(struct code_maps *maps, int32_t pid) {
  struct code_map *map = maps->first;
  while (map != NULL && map->pid != pid) map = map->next;
  if (map != NULL) return map;
  map = calloc(1, sizeof *map);
  if (map == NULL) abort();
  map->pid = pid;
  map->next = maps->first;
  maps->first = map;
  return map;
}

static void insert(struct code_map *map, const struct code_mapping *mapping) {
  uint32_t at = 0;
  if (mapping->start >= mapping->end) return;
  if (map->count == CODE_MAPPINGS_MAX) {
    fprintf(stderr, "process %d has more than %d mappings\n", map->pid, CODE_MAPPINGS_MAX);
    exit(1);
  }
  while (at < map->count && map->mappings[at].start < mapping->start) at++;
  memmove(map->mappings + at + 1, map->mappings + at, (map->count - at) * sizeof *mapping);
  map->mappings[at] = *mapping;
  map->count++;
}

static void take_out(struct code_map *map, uint32_t at) {
  map->count--;
  memmove(map->mappings + at, map->mappings + at + 1, (map->count - at) * sizeof *map->mappings);
}

/* Keeps the parts of each mapping outside of [START, END). */
static void cut(struct code_map *map, uint64_t start, uint64_t end) {
  for (uint32_t i = 0; i < map->count;) {
    struct code_mapping before = map->mappings[i], after = before;
    if (before.end <= start || before.start >= end) {
      i++;
      continue;
    }
    take_out(map, i);
    before.end = before.start < start ? start : before.start;
    if (after.end > end) {
      after.file_offset += end - after.start;
      after.start = end;
    } else {
      after.start = after.end;
    }
    insert(map, &before);
    insert(map, &after);
    i = 0;
  }
}

static struct unwind_region region_of(const struct code_mapping *mapping) {
  struct unwind_region region = {
      .start = mapping->start, .end = mapping->end, .table = UNWIND_NO_TABLE};
  const struct module_table *module = mapping->module;
  if (module != NULL && module->table != NULL &&
      module_table_address(module, mapping->file_offset, &region.address))
    region.table = (uintptr_t)module->table;
  return region;
}

void code_map_add(struct code_map *map, const struct code_mapping *mapping) {
  cut(map, mapping->start, mapping->end);
  insert(map, mapping);
  for (uint32_t i = 0; i < map->count; i++) map->regions[i] = region_of(&map->mappings[i]);
}

void code_map_copy(struct code_map *child, const struct code_map *parent) {
  child->count = parent->count;
  memcpy(child->mappings, parent->mappings, sizeof child->mappings);
  memcpy(child->regions, parent->regions, sizeof child->regions);
}

struct unwind_code code_map_code(const struct code_map *map) {
  return (struct unwind_code){
      .regions = map->regions, .count = map->count, .tables_bytes = UINTPTR_MAX};
}
