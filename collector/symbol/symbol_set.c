/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that choose one name for an address. They depend only on the symbols, so every
   collector gives the same answer.

   - A symbol covers start <= address < start + size, and never reaches beyond its section.
   - Several names for the same bytes (aliases): a name with a type before one without; global
     before weak before local; then fewer leading underscores, the shorter, the alphabetically
     first.
   - A symbol of size 0 beside a sized one at the same start is only an alias of it. Otherwise it
     reaches to the next symbol or bounds, at most to the end of the function or bounds around it,
     and no further than its code, if its end can be found (code_reach.h): code behind that has
     bounds without a name.
   - A name without type inside a sized function is a label, not a function: dropped.
   - Bounds without a symbol (from .eh_frame or debug information; the latter is preferred) count
     where no sized symbol covers their start. A symbol of size 0 that starts there does not reach
     beyond them.
   - Where symbols overlap, the smallest one that covers the address wins; of two equally small
     ones the one that starts later.

   The last rule is resolved here, by a sweep over all starts and ends with a heap of the open
   symbols. So a lookup is one binary search, however deep an untrusted file nests them. */
#include "symbol_set.h"

#include "alias_name.h"

#include "common/arena.h"
#include "common/array.h"

#include <errno.h>
#include <stdlib.h>

enum { FIRST_ROOM = 1024 };

struct symbol_texts {
  struct arena arena;
};

int symbol_set_join(struct symbol_set *set, struct span first, const char *second,
                    struct span *ret) {
  size_t len = first.len < INDEX_NAME_BYTES_MAX ? first.len : INDEX_NAME_BYTES_MAX,
         more = strlen(second);
  if (set->texts == NULL) {
    set->texts = calloc(1, sizeof *set->texts);
    if (set->texts == NULL) return -ENOMEM;
    arena_init(&set->texts->arena, SYMBOL_TEXTS_BYTES_MAX);
  }
  char *text = arena_alloc(&set->texts->arena, len + more);
  if (text == NULL) return arena_is_over(&set->texts->arena, len + more) ? -EOVERFLOW : -ENOMEM;
  memcpy(text, first.data, len);
  memcpy(text + len, second, more);
  *ret = span_of(text, len + more);
  return 0;
}

void symbol_set_fini(struct symbol_set *set) {
  if (set->texts != NULL) arena_fini(&set->texts->arena);
  free(set->texts);
  free(set->candidates);
  free(set->pieces);
  free(set->aliases);
  *set = (struct symbol_set){0};
}

int symbol_set_add(struct symbol_set *set, const struct candidate *candidate) {
  if (set->count >= INDEX_SYMBOLS_MAX) return -EOVERFLOW;
  void *candidates =
      array_grow(set->candidates, set->count, &set->cap, FIRST_ROOM, sizeof *candidate);
  if (candidates == NULL) return -ENOMEM;
  set->candidates = candidates;
  set->candidates[set->count++] = *candidate;
  return 0;
}

static size_t underscores(struct span name) {
  size_t count = 0;
  while (count < name.len && name.data[count] == '_') count++;
  return count;
}

static int compare_size(size_t a, size_t b) {
  return a < b ? -1 : a > b;
}

/* Returns a negative number if the name of A is preferred. */
static int compare_name(const struct candidate *a, const struct candidate *b) {
  if (a->rank != b->rank) return a->rank > b->rank ? -1 : 1;
  int order = compare_size(underscores(a->name), underscores(b->name));
  if (order == 0) order = compare_size(a->name.len, b->name.len);
  return order != 0 ? order : memcmp(a->name.data, b->name.data, a->name.len);
}

static bool is_bounds(const struct candidate *candidate) {
  return candidate->rank <= SYMBOL_TOLD;
}

/* Order: by start; then bounds last; then the largest first, size 0 last; then the best name
   first. */
static int compare_place(const void *left, const void *right) {
  const struct candidate *a = left, *b = right;
  if (a->start != b->start) return a->start < b->start ? -1 : 1;
  if (is_bounds(a) != is_bounds(b)) return is_bounds(b) ? -1 : 1;
  if (a->size != b->size) return a->size > b->size ? -1 : 1;
  return compare_name(a, b);
}

static void clamp_to_section(struct candidate *candidate) {
  uint64_t room = candidate->limit - candidate->start;
  if (candidate->size > room) candidate->size = room;
}

/* Drops bounds where symbols exist. For a symbol of size 0 the bounds become its limit. */
static void drop_bounds(struct symbol_set *set) {
  uint32_t kept = 0;
  uint64_t covered_end = 0;
  for (uint32_t i = 0; i < set->count; i++) {
    struct candidate *candidate = &set->candidates[i];
    struct candidate *last = kept > 0 ? &set->candidates[kept - 1] : NULL;
    bool is_same_start = last != NULL && last->start == candidate->start;
    uint64_t end = candidate->start + candidate->size;
    if (is_bounds(candidate) && is_same_start && last->size == 0 && end <= last->limit) {
      last->limit = end;
      last->is_bounded = true;
    }
    if (is_bounds(candidate) && (is_same_start || candidate->start < covered_end)) continue;
    if (!is_bounds(candidate) && end > covered_end) covered_end = end;
    set->candidates[kept++] = *candidate;
  }
  set->count = kept;
}

/* Records that CANDIDATE is an alias of LAST. */
static int note_alias(struct symbol_set *set, const struct candidate *candidate,
                      const struct candidate *last) {
  if (span_is_equal(candidate->name, last->name)) return 0;
  void *aliases =
      array_grow(set->aliases, set->alias_count, &set->alias_cap, FIRST_ROOM, sizeof *set->aliases);
  if (aliases == NULL) return -ENOMEM;
  set->aliases = aliases;
  set->aliases[set->alias_count++] =
      (struct symbol_alias){candidate->start, alias_name_hash(candidate->name)};
  return 0;
}

/* Drops aliases, and labels inside functions. */
static int drop_aliases(struct symbol_set *set) {
  uint32_t kept = 0;
  uint64_t function_end = 0; /* of the typed, sized symbols so far */
  int error = 0;
  for (uint32_t i = 0; i < set->count && error == 0; i++) {
    struct candidate *candidate = &set->candidates[i];
    struct candidate *last = kept > 0 ? &set->candidates[kept - 1] : NULL;
    bool is_beside = last != NULL && last->rank != SYMBOL_SECTION;
    bool is_same_start = is_beside && last->start == candidate->start;
    if (is_same_start && (candidate->size == 0 || candidate->size == last->size)) {
      error = note_alias(set, candidate, last);
      continue;
    }
    if (candidate->rank == SYMBOL_LABEL && candidate->start < function_end) continue;
    uint64_t end = candidate->start + candidate->size;
    if (candidate->rank > SYMBOL_LABEL && end > function_end) function_end = end;
    set->candidates[kept++] = *candidate;
  }
  set->count = kept;
  return error;
}

static int add_bounds(struct symbol_set *set, uint64_t start, uint64_t end, uint64_t limit) {
  return symbol_set_add(set, &(struct candidate){.start = start,
                                                 .size = end - start,
                                                 .limit = limit,
                                                 .name = span_of("", 0),
                                                 .rank = SYMBOL_BOUNDS});
}

/* Sets the size of symbol number AT, which has none, up to END, and adds bounds for the code behind
   it. */
static int stretch(struct symbol_set *set, uint32_t at, uint64_t end) {
  const struct candidate symbol = set->candidates[at];
  uint64_t own_end = end, next = end;
  bool is_mark = symbol.rank == SYMBOL_LABEL;
  int error = 0;
  if (set->end_of != NULL && !symbol.is_bounded && symbol.rank >= SYMBOL_LABEL)
    own_end = set->end_of(set->end_context, symbol.start, end, is_mark, &next);
  set->candidates[at].size = own_end - symbol.start;
  while (error == 0 && next < end) {
    uint64_t start = next;
    own_end = set->end_of(set->end_context, start, end, false, &next);
    error = add_bounds(set, start, own_end, symbol.limit);
  }
  return error;
}

/* Sets the size of each symbol of size 0. */
static int stretch_unsized(struct symbol_set *set) {
  uint64_t function_end = 0, bounds_end = 0;
  uint32_t count = set->count;
  int error = 0;
  for (uint32_t i = 0; i < count && error == 0; i++) {
    struct candidate *candidate = &set->candidates[i];
    uint64_t end = candidate->start + candidate->size;
    if (candidate->size > 0) {
      if (candidate->rank > SYMBOL_LABEL && end > function_end) function_end = end;
      if (is_bounds(candidate) && end > bounds_end) bounds_end = end;
      continue;
    }
    end = candidate->limit;
    if (i + 1 < count && candidate[1].start < end) end = candidate[1].start;
    candidate->is_bounded |= candidate->start < function_end || candidate->start < bounds_end;
    if (candidate->start < function_end && function_end < end) end = function_end;
    if (candidate->start < bounds_end && bounds_end < end) end = bounds_end;
    error = stretch(set, i, end);
  }
  if (error == 0 && set->count > count)
    qsort(set->candidates, set->count, sizeof *set->candidates, compare_place);
  return error;
}

/* A heap of indexes of the candidates that are open at the sweep's address, the winner first. */
struct open_heap {
  const struct candidate *candidates;
  uint32_t *items;
  uint32_t count;
};

static bool is_inner(const struct open_heap *heap, uint32_t a, uint32_t b) {
  const struct candidate *left = &heap->candidates[a], *right = &heap->candidates[b];
  if (left->size != right->size) return left->size < right->size;
  return left->start > right->start;
}

static void swap_items(struct open_heap *heap, uint32_t a, uint32_t b) {
  uint32_t kept = heap->items[a];
  heap->items[a] = heap->items[b];
  heap->items[b] = kept;
}

static void heap_push(struct open_heap *heap, uint32_t item) {
  uint32_t at = heap->count++;
  heap->items[at] = item;
  while (at > 0 && is_inner(heap, heap->items[at], heap->items[(at - 1) / 2])) {
    swap_items(heap, at, (at - 1) / 2);
    at = (at - 1) / 2;
  }
}

static void heap_pop(struct open_heap *heap) {
  heap->items[0] = heap->items[--heap->count];
  for (uint32_t at = 0;;) {
    uint32_t child = 2 * at + 1;
    if (child >= heap->count) return;
    if (child + 1 < heap->count && is_inner(heap, heap->items[child + 1], heap->items[child]))
      child++;
    if (!is_inner(heap, heap->items[child], heap->items[at])) return;
    swap_items(heap, child, at);
    at = child;
  }
}

/* Adds a piece: addresses from START on belong to SYMBOL. */
static int add_piece(struct symbol_set *set, uint64_t start, uint32_t symbol) {
  if (set->piece_count > 0) {
    struct symbol_piece *last = &set->pieces[set->piece_count - 1];
    if (last->symbol == symbol) return 0;
    if (last->start == start) { /* an empty gap */
      last->symbol = symbol;
      return 0;
    }
  }
  void *pieces =
      array_grow(set->pieces, set->piece_count, &set->piece_cap, FIRST_ROOM, sizeof *set->pieces);
  if (pieces == NULL) return -ENOMEM;
  set->pieces = pieces;
  set->pieces[set->piece_count++] = (struct symbol_piece){.start = start, .symbol = symbol};
  return 0;
}

static uint64_t end_of(const struct candidate *candidate) {
  return candidate->start + candidate->size;
}

static int sweep(struct symbol_set *set, struct open_heap *heap) {
  uint32_t next = 0;
  uint64_t at = 0;
  int error = 0;
  while (error == 0) {
    while (heap->count > 0 && end_of(&set->candidates[heap->items[0]]) <= at) heap_pop(heap);
    if (heap->count == 0) {
      if (next > 0) error = add_piece(set, at, INDEX_NO_SYMBOL);
      if (next == set->count) return error;
      at = set->candidates[next].start;
    }
    while (next < set->count && set->candidates[next].start <= at) heap_push(heap, next++);
    if (heap->count == 0 || error != 0) continue;
    error = add_piece(set, at, heap->items[0]);
    at = end_of(&set->candidates[heap->items[0]]);
    if (next < set->count && set->candidates[next].start < at) at = set->candidates[next].start;
  }
  return error;
}

int symbol_set_settle(struct symbol_set *set) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < set->count; i++) {
    struct candidate *candidate = &set->candidates[i];
    if (candidate->start >= candidate->limit) continue;
    clamp_to_section(candidate);
    set->candidates[kept++] = *candidate;
  }
  set->count = kept;
  if (kept == 0) return 0;
  qsort(set->candidates, set->count, sizeof *set->candidates, compare_place);
  drop_bounds(set);
  int error = drop_aliases(set);
  if (error == 0) error = stretch_unsized(set);
  if (error != 0) return error;
  struct open_heap heap = {.candidates = set->candidates};
  heap.items = malloc(set->count * sizeof *heap.items);
  if (heap.items == NULL) return -ENOMEM;
  error = sweep(set, &heap);
  free(heap.items);
  return error;
}
