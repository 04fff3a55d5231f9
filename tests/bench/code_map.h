/* SPDX-License-Identifier: Apache-2.0 */
/* The code mappings of each process, in the form that a walk needs. */
#ifndef TESTS_BENCH_CODE_MAP_H
#define TESTS_BENCH_CODE_MAP_H

#include "module_tables.h"

#include "unwind/unwind_walk.h"

enum { CODE_MAPPINGS_MAX = 4096 };

struct code_mapping {
  uint64_t start, end, file_offset;
  const struct module_table *module; /* NULL: no file's */
};

struct code_map {
  struct code_map *next;
  int32_t pid;
  uint32_t count; /* of mappings, sorted by start, and of their regions */
  struct code_mapping mappings[CODE_MAPPINGS_MAX];
  struct unwind_region regions[CODE_MAPPINGS_MAX];
};

struct code_maps {
  struct code_map *first; /* all-zero: none yet */
};

/* The map of PID; a new map is empty. Exits the program when out of memory. */
struct code_map *code_maps_get(struct code_maps *maps, int32_t pid);

/* MAPPING replaces the mappings that it overlaps. */
void code_map_add(struct code_map *map, const struct code_mapping *mapping);

/* Copies PARENT's mappings to CHILD. */
void code_map_copy(struct code_map *child, const struct code_map *parent);

/* For unwind_walk; good until the next change. */
struct unwind_code code_map_code(const struct code_map *map);

#endif
