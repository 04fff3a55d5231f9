/* SPDX-License-Identifier: Apache-2.0 */
/* Merges two descriptions of the same code: the pieces of the symbol table, and the rows of the
   debug information.

     pieces   |  main           |gap|  fill                 |gap
     rows           | a.c:3 | a.c:4 | b.h:9 in get < fill |
     index    |  ^  |  ^    |  ^|^  |   ^                 ^ |^

   A node is written when the first row needs it, callers first. So nodes that are close in the code
   are close in the table, and small numbers encode their distances. */
#include "index_layout.h"

#include "index_rows.h"
#include "proto/varint.h"
#include "source_map.h"
#include "symbol_set.h"

#include <errno.h>
#include <stdlib.h>

/* The node of a call and its symbol: a function of two parts is written twice. */
struct written {
  uint32_t symbol, node;
};

struct layout {
  const struct symbol_set *set;
  const struct source_map *source;
  const struct index_function *functions;
  struct index_names *names;
  struct index_tables *tables;
  struct written *calls; /* by call */
  uint32_t *symbols;     /* by symbol: the node of a symbol without calls, or INDEX_NO_NODE */
  uint64_t base;         /* address of the first row */
  /* the current block: */
  struct index_row contexts[INDEX_CONTEXTS];
  struct index_row last; /* row */
  uint32_t told_node, count;
};

void index_tables_fini(struct index_tables *tables) {
  buf_fini(&tables->rows);
  buf_fini(&tables->nodes);
  buf_fini(&tables->blocks);
}

static int begin_node(struct layout *layout, uint32_t *ret) {
  struct buf *nodes = &layout->tables->nodes;
  if (nodes->len > INDEX_BLOB_BYTES_MAX) return -EOVERFLOW;
  if (nodes->len == 0) buf_append_byte(nodes, 0);
  *ret = (uint32_t)nodes->len;
  return nodes->failed ? -ENOMEM : 0;
}

static int write_function(struct layout *layout, uint32_t symbol, uint32_t function,
                          uint32_t *ret) {
  struct buf *nodes = &layout->tables->nodes;
  const struct candidate *candidate = &layout->set->candidates[symbol];
  uint32_t name;
  int error = index_names_add(layout->names, candidate->name, &name);
  if (error == 0) error = begin_node(layout, ret);
  if (error != 0) return error;
  bool has_name = function == SOURCE_NONE || layout->functions[function].name != name;
  varint_encode(nodes, (uint64_t)(uint32_t)(function + 1) << 2 | (uint64_t)has_name << 1 | 1);
  if (has_name) varint_encode(nodes, name);
  varint_encode(nodes, candidate->start - layout->base);
  varint_encode(nodes, candidate->size);
  return 0;
}

static int write_inlined(struct layout *layout, const struct source_call *call, uint32_t caller,
                         uint32_t *ret) {
  struct buf *nodes = &layout->tables->nodes;
  const struct index_function *calling =
      &layout->functions[layout->source->calls[call->caller].function];
  int error = begin_node(layout, ret);
  if (error != 0) return error;
  bool has_file = call->file != calling->decl_file;
  varint_encode(nodes, (uint64_t)call->function << 1);
  varint_encode(nodes, *ret - caller);
  varint_encode(nodes, zigzag_encode((int64_t)call->line - calling->decl_line) << 1 | has_file);
  if (has_file) varint_encode(nodes, call->file);
  return 0;
}

/* Writes the missing nodes of the chain of CALL in SYMBOL, the outermost first. */
static int node_of_call(struct layout *layout, uint32_t symbol, uint32_t call, uint32_t *ret) {
  const struct source_call *calls = layout->source->calls;
  uint32_t missing[INDEX_DEPTH_MAX], depth = 0, node = INDEX_NO_NODE;
  for (uint32_t at = call; at != SOURCE_NONE; at = calls[at].caller) {
    if (layout->calls[at].node != INDEX_NO_NODE && layout->calls[at].symbol == symbol) {
      node = layout->calls[at].node;
      break;
    }
    if (depth == INDEX_DEPTH_MAX) return -EOVERFLOW;
    missing[depth++] = at;
  }
  while (depth > 0) {
    uint32_t at = missing[--depth];
    int error = calls[at].caller == SOURCE_NONE
                    ? write_function(layout, symbol, calls[at].function, &node)
                    : write_inlined(layout, &calls[at], node, &node);
    if (error != 0) return error;
    layout->calls[at] = (struct written){symbol, node};
  }
  *ret = node;
  return 0;
}

static int node_of(struct layout *layout, uint32_t symbol, uint32_t call, uint32_t *ret) {
  *ret = INDEX_NO_NODE;
  if (symbol == INDEX_NO_SYMBOL) return 0;
  if (call != SOURCE_NONE) return node_of_call(layout, symbol, call, ret);
  int error = 0;
  if (layout->symbols[symbol] == INDEX_NO_NODE)
    error = write_function(layout, symbol, SOURCE_NONE, &layout->symbols[symbol]);
  *ret = layout->symbols[symbol];
  return error;
}

static int begin_block(struct layout *layout, const struct index_row *row) {
  struct index_tables *tables = layout->tables;
  if (tables->rows.len > INDEX_BLOB_BYTES_MAX) return -EOVERFLOW;
  struct index_block block = {row->address, (uint32_t)tables->rows.len, layout->told_node};
  buf_append(&tables->blocks, &block, sizeof block);
  memset(layout->contexts, 0, sizeof layout->contexts);
  layout->last = (struct index_row){.address = row->address};
  layout->count = 0;
  return tables->blocks.failed ? -ENOMEM : 0;
}

static bool is_short(uint64_t distance, int32_t lines) {
  if (distance == 0 || distance > INDEX_SHORT_ROWS / INDEX_SHORT_LINES) return false;
  return lines >= INDEX_SHORT_FIRST_LINE && lines < INDEX_SHORT_FIRST_LINE + INDEX_SHORT_LINES;
}

static void write_control(struct buf *rows, uint64_t control) {
  uint64_t more = control / INDEX_CONTROLS;
  uint64_t first = INDEX_SHORT_ROWS + control % INDEX_CONTROLS + (more > 0 ? INDEX_CONTROLS : 0);
  buf_append_byte(rows, (uint8_t)first);
  if (more > 0) varint_encode(rows, more - 1);
}

static void write_node(struct layout *layout, uint32_t node) {
  struct buf *rows = &layout->tables->rows;
  if (node == INDEX_NO_NODE) {
    varint_encode(rows, 0);
    return;
  }
  varint_encode(rows, 1 + zigzag_encode((int32_t)(node - layout->told_node)));
  layout->told_node = node;
}

static void write_row(struct layout *layout, const struct index_row *row) {
  struct buf *rows = &layout->tables->rows;
  unsigned context = 0;
  while (context < INDEX_CONTEXTS &&
         (context >= layout->count || layout->contexts[context].node != row->node))
    context++;
  struct index_row base = {.line = layout->last.line};
  if (context < INDEX_CONTEXTS) base = layout->contexts[context];
  bool has_file = base.file != row->file;
  int32_t lines = (int32_t)(row->line - base.line);
  uint64_t distance = row->address - layout->last.address;
  if (layout->count > 0 && context == 0 && !has_file && is_short(distance, lines)) {
    uint64_t first = (distance - 1) * INDEX_SHORT_LINES;
    buf_append_byte(rows, (uint8_t)(first + (uint64_t)(lines - INDEX_SHORT_FIRST_LINE)));
  } else {
    write_control(rows, zigzag_encode(lines) << 3 | (uint64_t)has_file << 2 | context);
    if (layout->count > 0) varint_encode(rows, distance);
    if (context == INDEX_CONTEXTS) write_node(layout, row->node);
    if (has_file) varint_encode(rows, row->file);
  }
  unsigned last = context < INDEX_CONTEXTS ? context : INDEX_CONTEXTS - 1;
  for (unsigned i = last; i > 0; i--) layout->contexts[i] = layout->contexts[i - 1];
  layout->contexts[0] = layout->last = *row;
  layout->count++;
}

/* Returns the file that declares the function of CALL. */
static uint32_t own_file(const struct layout *layout, uint32_t call) {
  if (call == SOURCE_NONE) return 0;
  return layout->functions[layout->source->calls[call].function].decl_file;
}

/* Adds a row at ADDRESS for SYMBOL, with the line of ROW if ROW is not NULL. */
static int add_place(struct layout *layout, uint64_t address, uint32_t symbol,
                     const struct source_row *row) {
  bool is_gap = symbol == INDEX_NO_SYMBOL;
  struct index_row next = {.address = address};
  int error = node_of(layout, symbol, row == NULL ? SOURCE_NONE : row->call, &next.node);
  if (error != 0) return error;
  if (!is_gap && row != NULL && row->file != 0) {
    next.file = row->file == own_file(layout, row->call) ? 0 : row->file;
    next.line = row->line;
  }
  bool is_first = layout->tables->blocks.len == 0;
  if (is_first && is_gap) return 0;
  if (!is_first && next.node == layout->last.node && next.file == layout->last.file &&
      next.line == layout->last.line)
    return 0;
  if (is_first || layout->count == INDEX_BLOCK_ROWS) error = begin_block(layout, &next);
  if (error == 0) write_row(layout, &next);
  return error;
}

/* A position in the settled runs of rows. */
struct row_walk {
  const struct source_map *source;
  uint32_t run, row; /* the next row, in its run */
};

/* Returns the address at which the next row, or the gap after a run, begins. */
static uint64_t next_row_at(const struct row_walk *walk) {
  const struct source_map *source = walk->source;
  if (walk->run == source->run_count) return UINT64_MAX;
  const struct source_run *run = &source->runs[walk->run];
  if (walk->row == run->count) return run->end;
  uint64_t address = source->rows[run->first + walk->row].address;
  return address < run->start ? run->start : address;
}

/* Advances past the change at next_row_at. Returns the row valid from there, or NULL. */
static const struct source_row *take_row(struct row_walk *walk) {
  const struct source_run *run = &walk->source->runs[walk->run];
  if (walk->row < run->count) return &walk->source->rows[run->first + walk->row++];
  walk->run++;
  walk->row = 0;
  return NULL;
}

static int lay_over(struct layout *layout) {
  const struct symbol_set *set = layout->set;
  struct row_walk walk = {.source = layout->source};
  const struct source_row *row = NULL;
  uint32_t piece = 0, symbol = INDEX_NO_SYMBOL;
  int error = 0;
  while (error == 0 && piece < set->piece_count) { /* the last piece ends all code */
    uint64_t piece_at = set->pieces[piece].start, row_at = next_row_at(&walk);
    uint64_t at = piece_at < row_at ? piece_at : row_at;
    if (piece_at == at) symbol = set->pieces[piece++].symbol;
    while (walk.run < layout->source->run_count && next_row_at(&walk) == at) row = take_row(&walk);
    error = add_place(layout, at, symbol, row);
  }
  return error;
}

int index_layout_make(const struct symbol_set *set, const struct source_map *source,
                      struct index_names *names, struct index_tables *ret) {
  struct layout layout = {
      .set = set,
      .source = source,
      .functions = (const struct index_function *)(const void *)source->functions.bytes.data,
      .names = names,
      .tables = ret,
      .base = set->piece_count > 0 ? set->pieces[0].start : 0,
      .calls = calloc((size_t)source->call_count + 1, sizeof *layout.calls),
      .symbols = calloc((size_t)set->count + 1, sizeof *layout.symbols),
  };
  int error = layout.calls == NULL || layout.symbols == NULL ? -ENOMEM : lay_over(&layout);
  free(layout.calls);
  free(layout.symbols);
  if (error == 0 && (ret->rows.failed || ret->nodes.failed || ret->blocks.failed)) error = -ENOMEM;
  return error;
}
