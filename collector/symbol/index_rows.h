/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the rows and nodes of an index (index_format.h). Safe for any bytes; an invalid row ends
   the block. */
#ifndef SYMBOL_INDEX_ROWS_H
#define SYMBOL_INDEX_ROWS_H

#include "common/span.h"
#include "index_format.h"

struct index_row {
  uint64_t address;
  uint32_t node; /* INDEX_NO_NODE: a gap */
  uint32_t file; /* 0: the file where the function is declared */
  uint32_t line; /* 0: unknown */
};

/* A row without its address. */
struct row_place {
  uint32_t node, file, line;
};

/* Reads the rows of one block. */
struct row_reader {
  const uint8_t *at, *end;
  uint64_t address;                          /* of the last row read */
  struct row_place contexts[INDEX_CONTEXTS]; /* the contexts, the last row read first */
  uint32_t told_node;
  uint32_t count; /* rows read so far */
};

/* Starts the block BLOCK of ROWS. */
void row_reader_init(struct row_reader *reader, struct span rows, const struct index_block *block);

/* Reads the next row. Returns false at the block's end, or at an invalid row. */
bool row_reader_next(struct row_reader *reader);

/* Reads up to the last row at or before ADDRESS. Returns false if there is none. */
bool row_reader_seek(struct row_reader *reader, uint64_t address);

/* Returns the last row read. */
static inline struct index_row row_reader_row(const struct row_reader *reader) {
  const struct row_place *place = &reader->contexts[0];
  return (struct index_row){reader->address, place->node, place->file, place->line};
}

struct index_node {
  bool is_inlined;
  uint32_t function;    /* UINT32_MAX: symbol only */
  bool has_symbol_name; /* else the name is that of the function */
  /* inlined: */
  uint32_t caller;   /* its node; less than this one */
  int64_t call_line; /* minus the line where the calling function is declared */
  bool has_call_file;
  uint32_t call_file;
  /* else: */
  uint32_t symbol_name; /* in the strings */
  uint64_t start;       /* minus the address of the first block */
  uint64_t size;
};

/* Reads the node at offset NODE of NODES. Returns false if it is not valid. */
bool index_node_read(struct span nodes, uint32_t node, struct index_node *ret);

#endif
