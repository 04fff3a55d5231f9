/* SPDX-License-Identifier: Apache-2.0 */
/* Lookups in the mapped symbol index.

   No lookup reads outside the tables, whatever their contents. Every reference is checked when it
   is followed, a node's caller stands before it, and a name must begin at the start of a string. So
   a corrupt index gives wrong names, never a crash, and the names are clean if its strings were
   verified (index_check.c).

   It does no I/O; the caller that maps the file owns it. It allocates only unpacked texts
   (index_texts.c). */
#include "symbol_index.h"

#include <errno.h>

enum { BLOCKS_BACK_MAX = 1024 }; /* to search for a name; some ten thousand functions */

static const char *file_at(const struct symbol_index *index, uint32_t file) {
  if (file == 0 || file > index->file_count) return NULL;
  return index_texts_at(&index->texts, index->files[file - 1]);
}

static const struct index_function *function_at(const struct symbol_index *index,
                                                uint32_t function) {
  return function < index->function_count ? &index->functions[function] : NULL;
}

/* Returns the number of the last block that starts at or before ADDRESS; the block count if there
   is none. */
static uint32_t find_block(const struct symbol_index *index, uint64_t address) {
  const struct index_block *base = index->blocks;
  uint32_t count = index->block_count;
  if (count == 0 || base[0].address > address) return index->block_count;
  while (count > 1) { /* base[0] starts at or before ADDRESS */
    uint32_t half = count / 2;
    if (base[half].address <= address) base += half;
    count -= half;
  }
  return (uint32_t)(base - index->blocks);
}

static int find_row(const struct symbol_index *index, uint64_t address, struct index_row *ret) {
  uint32_t block = find_block(index, address);
  if (block == index->block_count) return -ENOENT;
  struct row_reader reader;
  row_reader_init(&reader, index->rows, &index->blocks[block]);
  if (!row_reader_seek(&reader, address)) return -ENOENT;
  *ret = row_reader_row(&reader);
  if (ret->node == INDEX_NO_NODE) return -ENOENT;
  return 0;
}

/* Sets FRAME's name to NAME, a reference of a function or a symbol. */
static void set_name(const struct symbol_index *index, uint32_t name, struct symbol_frame *frame) {
  frame->name = index_texts_at(&index->texts, name >> 1);
  frame->is_readable = (name & 1) != 0 && frame->name != NULL;
}

static void set_symbol_name(const struct symbol_index *index, const struct index_node *root,
                            struct symbol_frame *frame) {
  const struct index_function *function = function_at(index, root->function);
  if (root->has_symbol_name)
    set_name(index, root->symbol_name, frame);
  else if (function != NULL)
    set_name(index, function->name, frame);
}

static void set_bounds(uint64_t start, uint64_t size, struct symbol_frame *frames, int count) {
  for (int i = 0; i < count; i++) {
    frames[i].start = start;
    frames[i].size = size;
  }
}

/* Sets the bounds of the whole chain and the name of the outermost frame from the function ROOT.
   Returns false if ADDRESS is outside ROOT. */
static bool fill_root(const struct symbol_index *index, const struct index_node *root,
                      uint64_t address, struct symbol_frame *frames, int count) {
  uint64_t start = index->blocks[0].address + root->start;
  struct symbol_frame *last = &frames[count - 1];
  if (address < start || address - start >= root->size) return false;
  if (last->name == NULL || last->name[0] == '\0') set_symbol_name(index, root, last);
  if (last->name == NULL) return false;
  set_bounds(start, root->size, frames, count);
  return true;
}

/* A place in the code of a function: an address, or the call of an inlined function. */
struct place {
  uint32_t node;
  bool is_call, has_file; /* for a call, LINE is relative to the declaration */
  uint32_t file;
  int64_t line;
};

static struct place place_of_row(const struct index_row *row) {
  return (struct place){row->node, false, row->file != 0, row->file, row->line};
}

static struct place place_of_call(const struct index_node *node) {
  return (struct place){node->caller, true, node->has_call_file, node->call_file, node->call_line};
}

/* FRAME already has its function. */
static void fill_place(const struct symbol_index *index, const struct place *place,
                       struct symbol_frame *frame) {
  int64_t line = place->line + (place->is_call ? frame->decl_line : 0);
  frame->file = place->has_file ? file_at(index, place->file) : frame->decl_file;
  frame->line = frame->file == NULL ? 0 : (uint32_t)line;
}

static void fill_function(const struct symbol_index *index, const struct index_node *node,
                          struct symbol_frame *frame) {
  const struct index_function *function = function_at(index, node->function);
  frame->name = NULL;
  frame->is_readable = false;
  if (function != NULL) set_name(index, function->name, frame);
  frame->decl_file = function == NULL ? NULL : file_at(index, function->decl_file);
  frame->decl_line = function == NULL ? 0 : function->decl_line;
}

/* Reads the function at PLACE into NODE and FRAME. If it is inlined, PLACE becomes its call.
   Returns false if it is not valid. */
static bool step_out(const struct symbol_index *index, struct place *place, struct index_node *node,
                     struct symbol_frame *frame) {
  if (!index_node_read(index->nodes, place->node, node)) return false;
  fill_function(index, node, frame);
  fill_place(index, place, frame);
  if (!node->is_inlined) return true;
  *place = place_of_call(node);
  return frame->name != NULL;
}

static int chain_of_row(const struct symbol_index *index, const struct index_row *row,
                        uint64_t address, struct symbol_frame frames[SYMBOL_CHAIN_MAX]) {
  struct place place = place_of_row(row);
  struct index_node node;
  int count = 0;
  for (int depth = 0; depth < INDEX_DEPTH_MAX; depth++) {
    struct symbol_frame *frame = &frames[count < SYMBOL_CHAIN_MAX ? count++ : count - 1];
    if (!step_out(index, &place, &node, frame)) return -ENOENT;
    if (!node.is_inlined) return fill_root(index, &node, address, frames, count) ? count : -ENOENT;
  }
  return -ENOENT;
}

int symbol_index_chain(const struct symbol_index *index, uint64_t address,
                       struct symbol_frame frames[SYMBOL_CHAIN_MAX]) {
  struct index_row row;
  int error = find_row(index, address, &row);
  return error != 0 ? error : chain_of_row(index, &row, address, frames);
}

/* Sets RET to the symbol that contains node AT: name and bounds. Returns false if it is not
   valid. */
static bool symbol_of(const struct symbol_index *index, uint32_t at, struct symbol_frame *ret) {
  struct index_node node;
  struct symbol_frame frame = {.name = NULL};
  if (!index_node_read(index->nodes, at, &node)) return false;
  for (int depth = 1; node.is_inlined; depth++)
    if (depth == INDEX_DEPTH_MAX || !index_node_read(index->nodes, node.caller, &node))
      return false;
  frame.start = index->blocks[0].address + node.start;
  frame.size = node.size;
  set_symbol_name(index, &node, &frame);
  if (frame.name == NULL) return false;
  *ret = frame;
  return true;
}

int symbol_index_find(const struct symbol_index *index, uint64_t address,
                      struct symbol_match *ret) {
  struct index_row row;
  struct symbol_frame frame;
  int error = find_row(index, address, &row);
  if (error != 0) return error;
  if (!symbol_of(index, row.node, &frame)) return -ENOENT;
  if (address < frame.start || address - frame.start >= frame.size) return -ENOENT;
  *ret = (struct symbol_match){.name = frame.name, .start = frame.start, .size = frame.size};
  return 0;
}

/* Finds the last named symbol among the rows of BLOCK that starts before ADDRESS. */
static bool last_named(const struct symbol_index *index, uint32_t block, uint64_t address,
                       struct symbol_frame *ret) {
  struct row_reader reader;
  struct symbol_frame frame;
  uint32_t nodes[INDEX_BLOCK_ROWS], count = 0;
  row_reader_init(&reader, index->rows, &index->blocks[block]);
  while (count < INDEX_BLOCK_ROWS && row_reader_next(&reader) && reader.address < address)
    nodes[count++] = row_reader_row(&reader).node;
  for (uint32_t i = count; i-- > 0;) {
    if (nodes[i] == INDEX_NO_NODE || (i + 1 < count && nodes[i] == nodes[i + 1])) continue;
    if (!symbol_of(index, nodes[i], &frame) || frame.name[0] == '\0') continue;
    if (frame.start >= address) continue; /* a moved part of the function */
    *ret = frame;
    return true;
  }
  return false;
}

int symbol_index_before(const struct symbol_index *index, uint64_t address,
                        struct symbol_frame *ret) {
  if (address == 0) return -ENOENT;
  uint32_t block = find_block(index, address - 1);
  if (block == index->block_count) return -ENOENT;
  for (uint32_t back = 0; back < BLOCKS_BACK_MAX && back <= block; back++)
    if (last_named(index, block - back, address, ret)) return 0;
  return -ENOENT;
}

void symbol_cursor_init(struct symbol_cursor *cursor, const struct symbol_index *index) {
  cursor->index = index;
  cursor->row_count = 0;
  cursor->block = 0;
  cursor->end = 0;
  cursor->kept_count = 0;
}

static int enter_block(struct symbol_cursor *cursor, uint64_t address) {
  const struct symbol_index *index = cursor->index;
  cursor->row_count = 0;
  uint32_t next = cursor->block + 1;
  bool is_next = next < index->block_count && index->blocks[next].address == cursor->end &&
                 address >= cursor->end &&
                 (next + 1 == index->block_count || address < index->blocks[next + 1].address);
  uint32_t block = is_next ? next : find_block(index, address);
  if (block == index->block_count) return -ENOENT;
  struct row_reader reader;
  row_reader_init(&reader, index->rows, &index->blocks[block]);
  while (row_reader_next(&reader)) cursor->rows[cursor->row_count++] = row_reader_row(&reader);
  cursor->block = block;
  cursor->end = block + 1 < index->block_count ? index->blocks[block + 1].address : UINT64_MAX;
  return 0;
}

static const struct index_row *row_in_block(const struct symbol_cursor *cursor, uint64_t address) {
  const struct index_row *base = cursor->rows;
  uint32_t count = cursor->row_count;
  if (count == 0 || base[0].address > address) return NULL;
  while (count > 1) {
    uint32_t half = count / 2;
    if (base[half].address <= address) base += half;
    count -= half;
  }
  return base;
}

/* Stores a new chain in the cursor: the first FRESH functions of FRAMES, then the stored ones from
   FROM on. */
static void keep_chain(struct symbol_cursor *cursor, const uint32_t *nodes, uint32_t fresh,
                       uint32_t from, const struct symbol_frame *frames) {
  uint32_t shared = cursor->kept_count - from;
  memmove(cursor->kept_nodes + fresh, cursor->kept_nodes + from, shared * sizeof *nodes);
  memcpy(cursor->kept_nodes, nodes, fresh * sizeof *nodes);
  cursor->kept_count = fresh + shared;
  memcpy(cursor->kept_frames, frames, cursor->kept_count * sizeof *frames);
}

/* As chain_of_row, but stops at the first function in the stored chain. A node's caller is less
   than the node, so both chains descend. */
static int chain_by_kept(struct symbol_cursor *cursor, const struct index_row *row,
                         uint64_t address, struct symbol_frame frames[SYMBOL_CHAIN_MAX]) {
  const struct symbol_index *index = cursor->index;
  struct place place = place_of_row(row);
  struct index_node node = {.is_inlined = true};
  uint32_t nodes[SYMBOL_CURSOR_KEPT], fresh = 0, from = 0;
  for (; node.is_inlined; fresh++) {
    while (from < cursor->kept_count && cursor->kept_nodes[from] > place.node) from++;
    if (from < cursor->kept_count && cursor->kept_nodes[from] == place.node) break;
    if (fresh == SYMBOL_CURSOR_KEPT) return chain_of_row(index, row, address, frames);
    nodes[fresh] = place.node;
    if (!step_out(index, &place, &node, &frames[fresh])) return -ENOENT;
  }
  if (!node.is_inlined) from = cursor->kept_count;
  uint32_t shared = cursor->kept_count - from, count = fresh + shared;
  if (count > SYMBOL_CURSOR_KEPT) return chain_of_row(index, row, address, frames);
  if (shared == 0) {
    if (!fill_root(index, &node, address, frames, (int)count)) return -ENOENT;
  } else {
    memcpy(frames + fresh, cursor->kept_frames + from, shared * sizeof *frames);
    fill_place(index, &place, &frames[fresh]);
    const struct symbol_frame *root = &frames[count - 1];
    if (address < root->start || address - root->start >= root->size) return -ENOENT;
    set_bounds(root->start, root->size, frames, (int)fresh);
  }
  if (fresh > 0) keep_chain(cursor, nodes, fresh, from, frames);
  return (int)count;
}

int symbol_cursor_chain(struct symbol_cursor *cursor, uint64_t address,
                        struct symbol_frame frames[SYMBOL_CHAIN_MAX]) {
  bool is_inside =
      cursor->row_count > 0 && address >= cursor->rows[0].address && address < cursor->end;
  int error = is_inside ? 0 : enter_block(cursor, address);
  if (error != 0) return error;
  const struct index_row *row = row_in_block(cursor, address);
  if (row == NULL || row->node == INDEX_NO_NODE) return -ENOENT;
  return chain_by_kept(cursor, row, address, frames);
}
