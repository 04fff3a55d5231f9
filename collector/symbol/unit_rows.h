/* SPDX-License-Identifier: Apache-2.0 */
/* Converts functions and lines of one unit of debug information to rows of a source map. */
#ifndef SYMBOL_UNIT_ROWS_H
#define SYMBOL_UNIT_ROWS_H

#include "source_map.h"

enum {
  UNIT_COVERS_MAX = 8 << 20,
  UNIT_LINES_MAX = 16 << 20,
};

/* A code range of a call; a call has several if the compiler placed its code in several ranges. */
struct unit_cover {
  uint64_t start, end;
  uint32_t call;
  uint32_t depth; /* of its nesting; the deepest cover of an address is the innermost */
};

struct unit_line {
  uint64_t address;
  uint32_t file, line;
  bool is_end; /* the code ends here */
};

/* All-zero is a valid empty one. */
struct unit_rows {
  struct unit_cover *covers;
  struct unit_line *lines; /* ascending; of several at one address the last is valid */
  uint32_t cover_count, cover_cap, line_count, line_cap;
};

void unit_rows_fini(struct unit_rows *unit);

/* Empties UNIT, keeping its memory. */
void unit_rows_clear(struct unit_rows *unit);

/* Each returns 0, -EOVERFLOW over a limit above, or -ENOMEM. */
int unit_rows_add_cover(struct unit_rows *unit, const struct unit_cover *cover);
int unit_rows_add_line(struct unit_rows *unit, const struct unit_line *line);

/* Adds the rows of UNIT to MAP. Returns 0, or as source_map_add_row. */
int unit_rows_merge(struct unit_rows *unit, struct source_map *map);

#endif
