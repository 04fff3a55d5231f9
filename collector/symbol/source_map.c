/* SPDX-License-Identifier: Apache-2.0 */
/* Units of debug information arrive in any order, each with its own ranges of code. They are kept
   and sorted as runs of rows: some thousand runs, not millions of rows. */
#include "source_map.h"

#include "common/array.h"
#include "index_format.h"

#include <errno.h>
#include <stdlib.h>

enum { FIRST_ROOM = 1024 };

void source_map_fini(struct source_map *map) {
  interner_fini(&map->functions);
  interner_fini(&map->paths);
  interner_fini(&map->files);
  free(map->calls);
  free(map->rows);
  free(map->runs);
  *map = (struct source_map){0};
}

int source_map_add_function(struct source_map *map, const struct index_function *function,
                            uint32_t *ret) {
  return interner_record(&map->functions, span_of(function, sizeof *function),
                         SOURCE_FUNCTIONS_BYTES_MAX, ret);
}

int source_map_add_file(struct source_map *map, struct span path, uint32_t *ret) {
  uint32_t offset, number;
  int error = interner_string(&map->paths, path, SOURCE_PATHS_BYTES_MAX, &offset);
  if (error == 0)
    error = interner_record(&map->files, span_of(&offset, sizeof offset), SOURCE_PATHS_BYTES_MAX,
                            &number);
  if (error == 0) *ret = number + 1;
  return error;
}

int source_map_add_call(struct source_map *map, const struct source_call *call, uint32_t *ret) {
  if (map->call_count >= SOURCE_CALLS_MAX) return -EOVERFLOW;
  struct source_call *calls =
      array_grow(map->calls, map->call_count, &map->call_cap, FIRST_ROOM, sizeof *calls);
  if (calls == NULL) return -ENOMEM;
  map->calls = calls;
  *ret = map->call_count;
  calls[map->call_count++] = *call;
  return 0;
}

static uint32_t open_rows(const struct source_map *map) {
  if (map->run_count == 0) return map->row_count;
  const struct source_run *last = &map->runs[map->run_count - 1];
  return map->row_count - last->first - last->count;
}

int source_map_add_row(struct source_map *map, const struct source_row *row) {
  if (map->row_count >= SOURCE_ROWS_MAX) return -EOVERFLOW;
  struct source_row *rows =
      array_grow(map->rows, map->row_count, &map->row_cap, FIRST_ROOM, sizeof *rows);
  if (rows == NULL) return -ENOMEM;
  map->rows = rows;
  rows[map->row_count++] = *row;
  return 0;
}

int source_map_end_run(struct source_map *map, uint64_t end) {
  uint32_t count = open_rows(map);
  if (count == 0) return 0;
  struct source_run *runs =
      array_grow(map->runs, map->run_count, &map->run_cap, FIRST_ROOM, sizeof *runs);
  if (runs == NULL) return -ENOMEM;
  map->runs = runs;
  uint32_t first = map->row_count - count;
  bool has_functions = map->rows[first].call != SOURCE_NONE;
  runs[map->run_count++] =
      (struct source_run){map->rows[first].address, end, first, count, has_functions};
  return 0;
}

void source_map_move(struct source_map *map, uint64_t base) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < map->run_count; i++) {
    struct source_run run = map->runs[i];
    if (run.start < base) continue;
    run.start -= base;
    run.end -= base;
    for (uint32_t row = run.first; row < run.first + run.count; row++)
      map->rows[row].address -= base;
    map->runs[kept++] = run;
  }
  map->run_count = kept;
}

static int compare_runs(const void *left, const void *right) {
  const struct source_run *a = left, *b = right;
  if (a->start != b->start) return a->start < b->start ? -1 : 1;
  return a->first < b->first ? -1 : a->first > b->first;
}

/* Shortens RUN to END. */
static uint64_t cut_run(const struct source_map *map, struct source_run *run, uint64_t end) {
  while (run->count > 0 && map->rows[run->first + run->count - 1].address >= end) run->count--;
  run->end = end;
  return end;
}

void source_map_settle(struct source_map *map) {
  if (map->run_count == 0) return;
  qsort(map->runs, map->run_count, sizeof *map->runs, compare_runs);
  uint32_t kept = 0;
  uint64_t told_end = 0;
  for (uint32_t i = 0; i < map->run_count; i++) {
    struct source_run run = map->runs[i];
    struct source_run *last = kept > 0 ? &map->runs[kept - 1] : NULL;
    if (last != NULL && run.has_functions && !last->has_functions && run.start < told_end)
      told_end = cut_run(map, last, run.start);
    if (last != NULL && last->count == 0) kept--;
    if (run.end <= told_end) continue;
    while (run.count > 1 && map->rows[run.first + 1].address <= told_end) {
      run.first++;
      run.count--;
    }
    if (run.start < told_end) run.start = told_end;
    told_end = run.end;
    map->runs[kept++] = run;
  }
  map->run_count = kept;
}
