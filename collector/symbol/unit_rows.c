/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep over the addresses of a unit. The functions open at the current address are in a heap,
   the deepest first, since ranges in untrusted files may overlap. The line is the last one at or
   before the address.

   Ranges with functions and ranges with lines alone form separate runs, since the latter are
   trusted less: linkers that drop a function leave its lines, now at some low address. */
#include "unit_rows.h"

#include "common/array.h"

#include <errno.h>
#include <stdlib.h>

enum { FIRST_ROOM = 1024 };

void unit_rows_fini(struct unit_rows *unit) {
  free(unit->covers);
  free(unit->lines);
  *unit = (struct unit_rows){0};
}

void unit_rows_clear(struct unit_rows *unit) {
  unit->cover_count = 0;
  unit->line_count = 0;
}

int unit_rows_add_cover(struct unit_rows *unit, const struct unit_cover *cover) {
  if (unit->cover_count >= UNIT_COVERS_MAX) return -EOVERFLOW;
  struct unit_cover *covers =
      array_grow(unit->covers, unit->cover_count, &unit->cover_cap, FIRST_ROOM, sizeof *covers);
  if (covers == NULL) return -ENOMEM;
  unit->covers = covers;
  covers[unit->cover_count++] = *cover;
  return 0;
}

int unit_rows_add_line(struct unit_rows *unit, const struct unit_line *line) {
  if (unit->line_count >= UNIT_LINES_MAX) return -EOVERFLOW;
  struct unit_line *lines =
      array_grow(unit->lines, unit->line_count, &unit->line_cap, FIRST_ROOM, sizeof *lines);
  if (lines == NULL) return -ENOMEM;
  unit->lines = lines;
  lines[unit->line_count++] = *line;
  return 0;
}

static int compare_covers(const void *left, const void *right) {
  const struct unit_cover *a = left, *b = right;
  if (a->start != b->start) return a->start < b->start ? -1 : 1;
  if (a->depth != b->depth) return a->depth < b->depth ? -1 : 1;
  return a->call < b->call ? -1 : a->call > b->call;
}

/* The covers open at AT; heap[0] is the innermost. */
struct sweep {
  const struct unit_rows *unit;
  const struct unit_cover **heap;
  uint32_t open, cover, line; /* count in the heap; the next cover and line */
  uint64_t at;
};

static bool is_inner(const struct unit_cover *a, const struct unit_cover *b) {
  return a->depth != b->depth ? a->depth > b->depth : a->call > b->call;
}

static void swap(struct sweep *sweep, uint32_t a, uint32_t b) {
  const struct unit_cover *kept = sweep->heap[a];
  sweep->heap[a] = sweep->heap[b];
  sweep->heap[b] = kept;
}

static void push(struct sweep *sweep, const struct unit_cover *cover) {
  uint32_t at = sweep->open++;
  sweep->heap[at] = cover;
  for (; at > 0 && is_inner(sweep->heap[at], sweep->heap[(at - 1) / 2]); at = (at - 1) / 2)
    swap(sweep, at, (at - 1) / 2);
}

static void pop(struct sweep *sweep) {
  sweep->heap[0] = sweep->heap[--sweep->open];
  for (uint32_t at = 0;;) {
    uint32_t child = 2 * at + 1;
    if (child >= sweep->open) return;
    if (child + 1 < sweep->open && is_inner(sweep->heap[child + 1], sweep->heap[child])) child++;
    if (!is_inner(sweep->heap[child], sweep->heap[at])) return;
    swap(sweep, child, at);
    at = child;
  }
}

/* Returns the next address with a change, or UINT64_MAX. */
static uint64_t next_place(const struct sweep *sweep) {
  uint64_t next = UINT64_MAX;
  const struct unit_rows *unit = sweep->unit;
  if (sweep->open > 0) next = sweep->heap[0]->end;
  if (sweep->cover < unit->cover_count && unit->covers[sweep->cover].start < next)
    next = unit->covers[sweep->cover].start;
  if (sweep->line < unit->line_count && unit->lines[sweep->line].address < next)
    next = unit->lines[sweep->line].address;
  return next;
}

static void go_to(struct sweep *sweep, uint64_t at) {
  const struct unit_rows *unit = sweep->unit;
  sweep->at = at;
  while (sweep->cover < unit->cover_count && unit->covers[sweep->cover].start <= at)
    push(sweep, &unit->covers[sweep->cover++]);
  while (sweep->open > 0 && sweep->heap[0]->end <= at) pop(sweep);
  while (sweep->line < unit->line_count && unit->lines[sweep->line].address <= at) sweep->line++;
}

/* Makes the row at the current address. Returns false for a gap. */
static bool row_here(const struct sweep *sweep, struct source_row *ret) {
  const struct unit_rows *unit = sweep->unit;
  const struct unit_line *line = sweep->line > 0 ? &unit->lines[sweep->line - 1] : NULL;
  if (line != NULL && line->is_end) line = NULL;
  *ret = (struct source_row){.address = sweep->at, .call = SOURCE_NONE};
  if (sweep->open > 0)
    ret->call = sweep->heap[0]->call;
  else if (line == NULL)
    return false;
  if (line != NULL) {
    ret->file = line->file;
    ret->line = line->line;
  }
  return true;
}

static bool is_same(const struct source_row *a, const struct source_row *b) {
  return a->call == b->call && a->file == b->file && a->line == b->line;
}

static int merge(struct sweep *sweep, struct source_map *map) {
  struct source_row last = {.call = SOURCE_NONE}, row;
  bool is_in_run = false, has_function = false;
  int error = 0;
  for (;;) {
    uint64_t at = next_place(sweep);
    if (error != 0 || at == UINT64_MAX) break;
    go_to(sweep, at);
    bool is_row = row_here(sweep, &row);
    if (!is_row || (row.call != SOURCE_NONE) != has_function) error = source_map_end_run(map, at);
    has_function = row.call != SOURCE_NONE;
    if (error == 0 && is_row && (!is_in_run || !is_same(&row, &last))) {
      error = source_map_add_row(map, &row);
      last = row;
    }
    is_in_run = is_row;
  }
  int end_error = source_map_end_run(map, UINT64_MAX);
  return error != 0 ? error : end_error;
}

int unit_rows_merge(struct unit_rows *unit, struct source_map *map) {
  struct sweep sweep = {.unit = unit};
  if (unit->cover_count > 0)
    qsort(unit->covers, unit->cover_count, sizeof *unit->covers, compare_covers);
  sweep.heap = malloc(((size_t)unit->cover_count + 1) * sizeof *sweep.heap);
  if (sweep.heap == NULL) return -ENOMEM;
  int error = merge(&sweep, map);
  free((void *)sweep.heap);
  return error;
}
