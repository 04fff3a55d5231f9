/* SPDX-License-Identifier: Apache-2.0 */
/* Data from debug information about the code of one file, while an index is made of it. */
#ifndef SYMBOL_SOURCE_MAP_H
#define SYMBOL_SOURCE_MAP_H

#include "index_format.h"
#include "index_names.h"

#define SOURCE_NONE UINT32_MAX

enum {
  SOURCE_CALLS_MAX = 16 << 20, /* functions in the code, inlined ones too */
  SOURCE_ROWS_MAX = 32 << 20,
};

#define SOURCE_FUNCTIONS_BYTES_MAX (256ULL << 20)
#define SOURCE_PATHS_BYTES_MAX (256ULL << 20)

/* A function in the code: inlined, with its caller, or on its own. */
struct source_call {
  uint32_t function;
  uint32_t caller; /* number of a call that was added before; SOURCE_NONE: not inlined */
  uint32_t file;   /* of the call; 0: unknown */
  uint32_t line;
};

/* Valid up to the next row's address. */
struct source_row {
  uint64_t address;
  uint32_t call; /* the innermost function; SOURCE_NONE: unknown */
  uint32_t file; /* 0: unknown */
  uint32_t line; /* 0: unknown */
};

/* Rows without a gap: the last one is valid up to END. */
struct source_run {
  uint64_t start, end;
  uint32_t first, count; /* in the rows */
  bool has_functions;    /* else lines only */
};

/* All-zero is a valid empty one. */
struct source_map {
  struct interner functions; /* struct index_function */
  struct interner paths;     /* strings */
  struct interner files;     /* uint32_t: offset in the paths; once settled, in the index */
  struct source_call *calls;
  struct source_row *rows;
  struct source_run *runs;
  uint32_t call_count, call_cap, row_count, row_cap, run_count, run_cap;
};

void source_map_fini(struct source_map *map);

/* Each returns 0, -EOVERFLOW over a limit above, or -ENOMEM. */
int source_map_add_function(struct source_map *map, const struct index_function *function,
                            uint32_t *ret);
int source_map_add_file(struct source_map *map, struct span path, uint32_t *ret); /* from 1 on */
int source_map_add_call(struct source_map *map, const struct source_call *call, uint32_t *ret);

/* Adds ROW. Its address must exceed that of the previous row since the last source_map_end_run. */
int source_map_add_row(struct source_map *map, const struct source_row *row);

/* Ends the run at END, which must exceed the last row's address. Without rows it does nothing.
   Either all rows of a run have functions, or none. */
int source_map_end_run(struct source_map *map, uint64_t end);

/* Subtracts BASE from all addresses; runs before it are dropped. */
void source_map_move(struct source_map *map, uint64_t base);

/* Sorts the runs. Of overlapping runs the one with functions is kept; else the one that starts
   first, or was added first. */
void source_map_settle(struct source_map *map);

#endif
