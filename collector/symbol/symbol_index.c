/* SPDX-License-Identifier: Apache-2.0 */
/* Lookups in the mapped symbol index.

   No lookup can leave the tables, whatever they hold: every reference is checked where it is
   followed, a node's caller stands before it, and a name is only given where a string begins.  A
   wrong index then gives wrong names, never a crash, and clean ones when its strings were verified
   (index_check.c).

   It does no I/O; whoever maps the file owns it.  What it allocates are texts (index_texts.c). */
#include "symbol_index.h"

#include <errno.h>

static const char *file_at(const struct symbol_index *index, uint32_t file) {
  if (file == 0 || file > index->file_count) return NULL;
  return index_texts_at(&index->texts, index->files[file - 1]);
}

static const struct index_function *function_at(const struct symbol_index *index,
                                                uint32_t function) {
  return function < index->function_count ? &index->functions[function] : NULL;
}

/* The number of the last block that starts at or before ADDRESS; the count of blocks: none. */
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

/* Gives FRAME the name that NAME, of a function or a symbol, stands for. */
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

/* Sets what the whole chain has from the function ROOT, and that frame's name.  Returns false when
   ADDRESS is not its. */
static bool fill_root(const struct symbol_index *index, const struct index_node *root,
                      uint64_t address, struct symbol_frame *frames, int count) {
  uint64_t start = index->blocks[0].address + root->start;
  struct symbol_frame *last = &frames[count - 1];
  if (address < start || address - start >= root->size) return false;
  if (last->name == NULL || last->name[0] == '\0') set_symbol_name(index, root, last);
  if (last->name == NULL) return false;
  for (int i = 0; i < count; i++) {
    frames[i].start = start;
    frames[i].size = root->size;
  }
  return true;
}

/* FUNCTION at a place of which FRAME has file and line already. */
static void fill_function(const struct symbol_index *index, const struct index_function *function,
                          struct symbol_frame *frame) {
  frame->name = NULL;
  frame->is_readable = false;
  if (function != NULL) set_name(index, function->name, frame);
  frame->decl_file = function == NULL ? NULL : file_at(index, function->decl_file);
  frame->decl_line = function == NULL ? 0 : function->decl_line;
}

static int chain_of_row(const struct symbol_index *index, const struct index_row *row,
                        uint64_t address, struct symbol_frame frames[SYMBOL_CHAIN_MAX]) {
  struct index_node node;
  int count = 0;
  uint32_t file = row->file, line = row->line;
  if (!index_node_read(index->nodes, row->node, &node)) return -ENOENT;
  for (int depth = 0; depth < INDEX_DEPTH_MAX; depth++) {
    const struct index_function *function = function_at(index, node.function);
    struct symbol_frame *frame = &frames[count < SYMBOL_CHAIN_MAX ? count++ : count - 1];
    if (file == 0 && count == 1 && function != NULL) file = function->decl_file;
    frame->file = file_at(index, file);
    frame->line = frame->file == NULL ? 0 : line;
    fill_function(index, function, frame);
    if (!node.is_inlined) return fill_root(index, &node, address, frames, count) ? count : -ENOENT;
    if (frame->name == NULL) return -ENOENT;
    struct index_node caller;
    if (!index_node_read(index->nodes, node.caller, &caller)) return -ENOENT;
    function = function_at(index, caller.function);
    file = node.has_call_file ? node.call_file : function == NULL ? 0 : function->decl_file;
    line = (uint32_t)(node.call_line + (function == NULL ? 0 : function->decl_line));
    node = caller;
  }
  return -ENOENT;
}

int symbol_index_chain(const struct symbol_index *index, uint64_t address,
                       struct symbol_frame frames[SYMBOL_CHAIN_MAX]) {
  struct index_row row;
  int error = find_row(index, address, &row);
  return error != 0 ? error : chain_of_row(index, &row, address, frames);
}

int symbol_index_find(const struct symbol_index *index, uint64_t address,
                      struct symbol_match *ret) {
  struct index_row row;
  struct index_node node;
  int error = find_row(index, address, &row);
  if (error != 0) return error;
  if (!index_node_read(index->nodes, row.node, &node)) return -ENOENT;
  for (int depth = 1; node.is_inlined; depth++)
    if (depth == INDEX_DEPTH_MAX || !index_node_read(index->nodes, node.caller, &node))
      return -ENOENT;
  uint64_t start = index->blocks[0].address + node.start;
  struct symbol_frame frame = {.name = NULL};
  set_symbol_name(index, &node, &frame);
  if (frame.name == NULL || address < start || address - start >= node.size) return -ENOENT;
  *ret = (struct symbol_match){.name = frame.name, .start = start, .size = node.size};
  return 0;
}

void symbol_cursor_init(struct symbol_cursor *cursor, const struct symbol_index *index) {
  cursor->index = index;
  cursor->row_count = 0;
  cursor->block = 0;
  cursor->end = 0;
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

int symbol_cursor_chain(struct symbol_cursor *cursor, uint64_t address,
                        struct symbol_frame frames[SYMBOL_CHAIN_MAX]) {
  bool is_inside =
      cursor->row_count > 0 && address >= cursor->rows[0].address && address < cursor->end;
  int error = is_inside ? 0 : enter_block(cursor, address);
  if (error != 0) return error;
  const struct index_row *row = row_in_block(cursor, address);
  if (row == NULL || row->node == INDEX_NO_NODE) return -ENOENT;
  return chain_of_row(cursor->index, row, address, frames);
}
