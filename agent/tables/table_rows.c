/* SPDX-License-Identifier: Apache-2.0 */
/* Functions arrive in any order, millions of them, and their addresses are untrusted. A row is
   stored in its final form, 4 bytes: its address within its page and a rule's number. The page
   follows from the function's start, because a function repeats its rule at each page that it
   reaches into. So a row at 0 that is not its function's first opens the next page.

     functions   start | last byte | first row, count         added in any order, then sorted
     rows        low | rule                                   as added; those of omitted ones stay

   At each change of source, and at the end, functions are sorted by start. Of two that overlap, the
   one with later rows is omitted: it is from a worse source, or from the same and added later. Both
   are adjacent after sorting, so adding functions needs no search except in those of better
   sources.

   Functions are written one after the other. Rows equal to the previous one are skipped. If the
   next function does not follow directly, a row without information is written. At the start of a
   page that row is not needed: before a page's first row nothing is known.

   A walk looks a caller up one byte before its return address. A signal trampoline is not called,
   so its rule must begin with that byte. The compilers' own entries for some begin early for that,
   at an odd address; those for others do not. */
#include "table_rows.h"

#include "table_rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_FUNCTIONS = 256, FIRST_ROWS = 1024 };

/* Places count from the first page, without the gaps between ranges. */
struct function {
  uint32_t start, last;
  uint32_t first, count; /* of its rows */
};

struct table_rows {
  uint64_t base;
  struct code_ranges code;
  uint64_t shifts[CODE_RANGES_MAX]; /* for each range: its addresses minus this are places */
  uint32_t page_count;
  struct table_rules rules;
  struct function *functions;
  uint32_t function_count, function_cap;
  uint32_t settled; /* number of functions of better sources: sorted, disjoint */
  struct unwind_row *rows;
  uint32_t row_count, row_cap;
  uint32_t at; /* of the last row */
  uint32_t left, source, sources;
  bool is_open; /* the last function may get more rows */
};

/* The distance between ranges exceeds a page. */
static int place_ranges(struct table_rows *rows) {
  uint64_t pages = 0;
  for (uint32_t i = 0; i < rows->code.count; i++) {
    const struct code_range *range = &rows->code.ranges[i];
    uint64_t first = range->low >> UNWIND_PAGE_BITS, last = (range->high - 1) >> UNWIND_PAGE_BITS;
    rows->shifts[i] = (first - pages) << UNWIND_PAGE_BITS;
    if (last - first >= UNWIND_PAGES_MAX - pages) return -EOVERFLOW;
    pages += last - first + 1;
  }
  rows->base = rows->shifts[0];
  rows->page_count = (uint32_t)pages;
  return 0;
}

int table_rows_new(const struct code_ranges *code, struct table_rows **ret) {
  if (code->count == 0) return -EINVAL;
  struct table_rows *rows = calloc(1, sizeof *rows);
  if (rows == NULL) return -ENOMEM;
  rows->code = *code;
  int rc = place_ranges(rows);
  if (rc == 0) rc = table_rules_init(&rows->rules);
  if (rc < 0)
    free(rows);
  else
    *ret = rows;
  return rc;
}

void table_rows_free(struct table_rows *rows) {
  if (rows == NULL) return;
  table_rules_fini(&rows->rules);
  free(rows->functions);
  free(rows->rows);
  free(rows);
}

static inline uint64_t shift_of(const struct table_rows *rows, const struct code_range *range) {
  return rows->shifts[range - rows->code.ranges];
}

/* Where AT is in its page. */
static inline uint16_t low_of(uint32_t at) {
  return (uint16_t)(at % UNWIND_PAGE_BYTES);
}

/* ---- adding ---- */

static int append_row(struct table_rows *rows, uint32_t at, uint16_t rule) {
  if (rows->row_count == rows->row_cap) {
    uint32_t cap = rows->row_cap == 0 ? FIRST_ROWS : 2 * rows->row_cap;
    if (rows->row_count >= UNWIND_ROWS_MAX) return -ENOSPC;
    struct unwind_row *more = realloc(rows->rows, cap * sizeof *more);
    if (more == NULL) return -ENOMEM;
    rows->rows = more;
    rows->row_cap = cap;
  }
  rows->rows[rows->row_count++] = (struct unwind_row){low_of(at), rule};
  rows->functions[rows->function_count - 1].count++;
  rows->at = at;
  return 0;
}

/* Repeats the last rule at each page up to that of AT. */
static int reach(struct table_rows *rows, uint32_t at) {
  int rc = 0;
  while (rc == 0 && rows->at >> UNWIND_PAGE_BITS < at >> UNWIND_PAGE_BITS) {
    uint32_t page = (rows->at >> UNWIND_PAGE_BITS) + 1;
    rc = append_row(rows, page << UNWIND_PAGE_BITS, rows->rows[rows->row_count - 1].rule);
  }
  return rc;
}

/* The last function has all its rows. */
static int close_function(struct table_rows *rows) {
  if (!rows->is_open) return 0;
  rows->is_open = false;
  const struct function *function = &rows->functions[rows->function_count - 1];
  if (function->count == 0) {
    rows->function_count--;
    return 0;
  }
  rows->sources |= rows->source;
  return reach(rows, function->last);
}

void table_rows_drop(struct table_rows *rows) {
  if (!rows->is_open) return;
  rows->is_open = false;
  rows->row_count = rows->functions[--rows->function_count].first;
}

/* The first settled function that ends at or after AT. */
static const struct function *find_settled(const struct table_rows *rows, uint32_t at) {
  uint32_t first = 0, end = rows->settled;
  while (first < end) {
    uint32_t middle = first + (end - first) / 2;
    if (rows->functions[middle].last < at)
      first = middle + 1;
    else
      end = middle;
  }
  return first < rows->settled ? &rows->functions[first] : NULL;
}

static int append_function(struct table_rows *rows, uint32_t start, uint32_t last) {
  if (rows->function_count == rows->function_cap) {
    uint32_t cap = rows->function_cap == 0 ? FIRST_FUNCTIONS : 2 * rows->function_cap;
    if (rows->function_count >= UNWIND_ROWS_MAX) return -ENOSPC;
    struct function *more = realloc(rows->functions, cap * sizeof *more);
    if (more == NULL) return -ENOMEM;
    rows->functions = more;
    rows->function_cap = cap;
  }
  rows->functions[rows->function_count++] = (struct function){start, last, rows->row_count, 0};
  rows->at = start;
  rows->is_open = true;
  return 0;
}

int table_rows_function(struct table_rows *rows, uint64_t start, uint64_t end) {
  int rc = close_function(rows);
  if (rc < 0) return rc;
  const struct code_range *range = code_ranges_from(&rows->code, start);
  if (start >= end || range == NULL || start < range->low || end > range->high) return -ERANGE;
  uint64_t shift = shift_of(rows, range);
  uint32_t first = (uint32_t)(start - shift), last = (uint32_t)(end - 1 - shift);
  const struct function *better = find_settled(rows, first);
  if (better != NULL && better->start <= last) {
    rows->left++;
    return -EEXIST;
  }
  return append_function(rows, first, last);
}

/* Replaces the last row's rule, at the same address. */
static void replace_row(struct table_rows *rows, uint16_t rule) {
  struct function *function = &rows->functions[rows->function_count - 1];
  rows->rows[rows->row_count - 1].rule = rule;
  bool may_go = function->count > 1 && low_of(rows->at) != 0;
  if (!may_go || rows->rows[rows->row_count - 2].rule != rule) return;
  rows->row_count--;
  function->count--;
}

int table_rows_put(struct table_rows *rows, uint64_t address, const struct unwind_rule *rule) {
  const struct code_range *range = code_ranges_from(&rows->code, address);
  if (!rows->is_open || range == NULL || address < range->low) return -EINVAL;
  struct function *function = &rows->functions[rows->function_count - 1];
  uint64_t at = address - shift_of(rows, range);
  if (at < rows->at || at > function->last) return -EINVAL;
  uint16_t number;
  int rc = table_rules_add(&rows->rules, rule, &number);
  if (rc == 0 && function->count == 0)
    rc = append_row(rows, function->start, at == function->start ? number : TABLE_RULE_NONE);
  if (rc == 0) rc = reach(rows, (uint32_t)at);
  if (rc < 0) return rc;
  const struct unwind_row *row = &rows->rows[rows->row_count - 1];
  bool is_there = rows->at == at && row->low == low_of((uint32_t)at);
  if (is_there) replace_row(rows, number);
  if (is_there || row->rule == number) return 0;
  return append_row(rows, (uint32_t)at, number);
}

/* ---- settling ---- */

static int by_start(const void *a, const void *b) {
  const struct function *one = a, *other = b;
  if (one->start != other->start) return one->start < other->start ? -1 : 1;
  return one->first < other->first ? -1 : one->first > other->first;
}

static bool is_sorted(const struct table_rows *rows) {
  for (uint32_t i = 1; i < rows->function_count; i++)
    if (by_start(&rows->functions[i - 1], &rows->functions[i]) > 0) return false;
  return true;
}

/* Sorts all functions and omits those that overlap earlier ones. */
static void settle(struct table_rows *rows) {
  uint32_t kept = 0;
  if (!is_sorted(rows))
    qsort(rows->functions, rows->function_count, sizeof *rows->functions, by_start);
  for (uint32_t i = 0; i < rows->function_count; i++) {
    struct function next = rows->functions[i];
    bool is_over = kept == 0 || rows->functions[kept - 1].last < next.start;
    if (!is_over) rows->left++;
    if (is_over)
      rows->functions[kept++] = next;
    else if (next.first < rows->functions[kept - 1].first)
      rows->functions[kept - 1] = next;
  }
  rows->function_count = rows->settled = kept;
}

void table_rows_source(struct table_rows *rows, enum unwind_source source) {
  if (close_function(rows) < 0) table_rows_drop(rows);
  settle(rows);
  rows->source = source;
}

uint64_t table_rows_room(const struct table_rows *rows, uint64_t address) {
  const struct code_range *range = code_ranges_from(&rows->code, address);
  if (range == NULL || address < range->low) return 0;
  uint32_t at = (uint32_t)(address - shift_of(rows, range));
  const struct function *next = find_settled(rows, at);
  uint64_t room = range->high - address;
  if (next == NULL) return room;
  if (next->start <= at) return 0;
  return next->start - at < room ? next->start - at : room;
}

/* The first free address of RANGE from ADDRESS on, or its end. */
static uint64_t free_in(const struct table_rows *rows, const struct code_range *range,
                        uint64_t address) {
  uint64_t shift = shift_of(rows, range);
  if (address < range->low) address = range->low;
  const struct function *next = find_settled(rows, (uint32_t)(address - shift));
  if (next == NULL) return address;
  const struct function *end = rows->functions + rows->settled;
  for (; next < end && shift + next->start <= address; next++) address = shift + next->last + 1;
  return address;
}

uint64_t table_rows_free_from(const struct table_rows *rows, uint64_t address) {
  const struct code_range *end = rows->code.ranges + rows->code.count;
  const struct code_range *range = code_ranges_from(&rows->code, address);
  for (; range != NULL && range < end; range++) {
    uint64_t found = free_in(rows, range, address);
    if (found < range->high) return found;
  }
  return end[-1].high;
}

uint32_t table_rows_left(const struct table_rows *rows) {
  return rows->left;
}

/* ---- writing ---- */

/* A table being written: PAGES and ROWS are in the caller's buffer, which has room. */
struct encoder {
  uint32_t *pages;
  struct unwind_row *rows;
  uint32_t page, row_count, untold;
};

static void open_page(struct encoder *encoder, uint32_t page) {
  while (encoder->page < page) encoder->pages[++encoder->page] = encoder->row_count;
}

static void emit(struct encoder *encoder, uint32_t page, struct unwind_row row) {
  open_page(encoder, page);
  bool is_first = encoder->row_count == encoder->pages[page];
  uint16_t before = is_first ? TABLE_RULE_NONE : encoder->rows[encoder->row_count - 1].rule;
  if (before == row.rule) return;
  encoder->rows[encoder->row_count++] = row;
  if (row.rule == TABLE_RULE_UNTOLD) encoder->untold++;
}

/* True if the byte before START is outside its range. */
static bool is_first_of_range(const struct table_rows *rows, uint32_t start) {
  for (uint32_t i = 0; i < rows->code.count; i++)
    if (low_of(start) == 0 && rows->code.ranges[i].low - rows->shifts[i] == start) return true;
  return false;
}

static bool begins_early(const struct table_rows *rows, const struct function *function) {
  uint16_t first = rows->rows[function->first].rule;
  return rows->rules.rules[first].cfa == UNWIND_CFA_SIGNAL && function->start % 2 == 0 &&
         !is_first_of_range(rows, function->start);
}

/* RULE applies from AT on, and overwrites the row there. */
static void emit_over(struct encoder *encoder, uint32_t at, uint16_t rule) {
  uint32_t page = at >> UNWIND_PAGE_BITS;
  open_page(encoder, page);
  if (encoder->row_count > encoder->pages[page]) {
    const struct unwind_row *last = &encoder->rows[encoder->row_count - 1];
    if (last->low == low_of(at)) {
      if (last->rule == TABLE_RULE_UNTOLD) encoder->untold--;
      encoder->row_count--;
    }
  }
  emit(encoder, page, (struct unwind_row){low_of(at), rule});
}

static void emit_function(struct encoder *encoder, const struct table_rows *rows,
                          const struct function *function) {
  const struct unwind_row *row = rows->rows + function->first;
  uint32_t page = function->start >> UNWIND_PAGE_BITS;
  if (begins_early(rows, function)) emit_over(encoder, function->start - 1, row->rule);
  for (uint32_t i = 0; i < function->count; i++) {
    if (i > 0 && row[i].low == 0) page++;
    emit(encoder, page, row[i]);
  }
}

/* Marks the bytes between FUNCTION and the one at NEXT as unknown. */
static void emit_gap(struct encoder *encoder, const struct function *function, uint32_t next) {
  uint32_t after = function->last + 1;
  if (after == next || low_of(after) == 0) return;
  emit(encoder, after >> UNWIND_PAGE_BITS, (struct unwind_row){low_of(after), TABLE_RULE_NONE});
}

static void emit_all(struct encoder *encoder, const struct table_rows *rows, uint32_t page_count) {
  for (uint32_t i = 0; i < rows->function_count; i++) {
    const struct function *function = &rows->functions[i];
    emit_function(encoder, rows, function);
    bool has_next = i + 1 < rows->function_count;
    emit_gap(encoder, function, has_next ? function[1].start : 0);
  }
  open_page(encoder, page_count);
}

/* The maximum number of rows to write: each added one, a gap after each function, and a byte before
   some. */
static uint64_t most_rows(const struct table_rows *rows) {
  uint64_t most = rows->function_count;
  for (uint32_t i = 0; i < rows->function_count; i++)
    most += rows->functions[i].count + begins_early(rows, &rows->functions[i]);
  return most;
}

static void put_gaps(const struct table_rows *rows, uint8_t *to) {
  for (uint32_t i = 1; i < rows->code.count; i++) {
    uint64_t first = rows->code.ranges[i].low - rows->shifts[i];
    struct unwind_gap gap = {.bytes = rows->shifts[i] - rows->shifts[i - 1],
                             .page = (uint32_t)(first >> UNWIND_PAGE_BITS)};
    memcpy(to, &gap, sizeof gap);
    to += sizeof gap;
  }
}

int table_rows_encode(struct table_rows *rows, uint16_t machine, struct buf *ret) {
  int rc = close_function(rows);
  if (rc < 0) return rc;
  settle(rows);
  if (rows->function_count == 0) return -ENODATA;
  struct unwind_table head = {.magic = UNWIND_TABLE_MAGIC,
                              .version = UNWIND_TABLE_VERSION,
                              .machine = machine,
                              .base = rows->base,
                              .rule_count = rows->rules.count,
                              .sources = rows->sources};
  head.page_count = rows->page_count;
  head.gap_count = rows->code.count - 1;
  size_t rows_at = sizeof head + (head.page_count + (size_t)1) * sizeof(uint32_t);
  size_t rules_bytes = head.rule_count * sizeof(struct unwind_rule);
  size_t gaps_bytes = head.gap_count * sizeof(struct unwind_gap);
  size_t rows_bytes = (size_t)most_rows(rows) * sizeof(struct unwind_row);
  uint8_t *to = buf_reserve(ret, rows_at + rows_bytes + rules_bytes + gaps_bytes);
  if (to == NULL) return -ENOMEM;
  struct encoder encoder = {.pages = (uint32_t *)(void *)(to + sizeof head),
                            .rows = (struct unwind_row *)(void *)(to + rows_at)};
  encoder.pages[0] = 0;
  emit_all(&encoder, rows, head.page_count);
  if (encoder.row_count > UNWIND_ROWS_MAX) return -ENOSPC;
  if (head.page_count > TABLE_ROWS_SPARSE_PAGES_MAX && head.page_count > encoder.row_count)
    return -ENOSPC;
  head.row_count = encoder.row_count;
  head.untold_rows = encoder.untold;
  head.rules_at = (uint32_t)(rows_at + encoder.row_count * sizeof(struct unwind_row));
  head.total_bytes = (uint32_t)(head.rules_at + rules_bytes + gaps_bytes);
  memcpy(to, &head, sizeof head);
  memcpy(to + head.rules_at, rows->rules.rules, rules_bytes);
  put_gaps(rows, to + head.rules_at + rules_bytes);
  ret->len += head.total_bytes;
  return 0;
}

/* ---- reading ---- */

bool table_rows_place(const struct unwind_table *table, uint64_t low, uint64_t high,
                      uint64_t *ret) {
  const uint8_t *gaps =
      (const uint8_t *)table + table->rules_at + table->rule_count * sizeof(struct unwind_rule);
  uint64_t left_out = 0;
  uint32_t page = 0;
  *ret = low;
  if (table->gap_count == 0) return true;
  for (uint32_t i = 0; i <= table->gap_count; i++) {
    struct unwind_gap gap = {0, table->page_count, 0};
    if (i < table->gap_count) memcpy(&gap, gaps + i * sizeof gap, sizeof gap);
    uint64_t begin = table->base + left_out + ((uint64_t)page << UNWIND_PAGE_BITS);
    uint64_t end = table->base + left_out + ((uint64_t)gap.page << UNWIND_PAGE_BITS);
    if (low < end && high > begin) {
      *ret = low - left_out;
      return true;
    }
    left_out += gap.bytes;
    page = gap.page;
  }
  return false;
}
