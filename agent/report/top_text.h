/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the function table as text. */
#ifndef REPORT_TOP_TEXT_H
#define REPORT_TOP_TEXT_H

#include "profile.h"
#include "view/view.h"

#include <stdbool.h>

struct buf;

struct top_text {
  uint32_t limit;   /* rows */
  unsigned columns; /* of the terminal, to which names are fitted; 0: they are whole */
  bool has_colour;
  bool is_utf8; /* characters beyond ASCII may be printed */
};

#define TOP_TEXT_HEADING "   self     95 % interval    total  function\n"

struct top_text_row {
  const char *name, *module; /* module: "" for none */
  struct view_share self;
  double total;     /* a share; negative: left out */
  const char *file; /* of the source, or NULL */
  bool is_alike;    /* another row has the same name and module: the file distinguishes them */
};

/* Sets is_alike of the COUNT ROWS.  Returns 0 or -ENOMEM. */
int top_text_tell_apart(struct top_text_row *rows, uint32_t count);

/* Appends one line of the table to RET. */
void top_text_print_row(const struct top_text_row *row, const struct top_text *style,
                        struct buf *ret);

/* Appends the table of TREE, made from PROFILE, to RET.  Returns 0 or -ENOMEM. */
int top_text_print(const struct profile *profile, const struct view_tree *tree,
                   const struct top_text *style, struct arena *arena, struct buf *ret);

/* Appends the head of the table: totals, sampler, losses, and how stacks ended.  Returns 0 or
   -ENOMEM. */
int top_text_print_head(const struct profile *profile, const struct view_tree *tree,
                        struct arena *arena, struct buf *ret);

/* Appends the totals of TREE: the samples, without clock data, and the CPU time. */
void top_text_print_total(const struct view_tree *tree, struct buf *ret);

/* Appends the name of ROW and its origin as the rest of a line in which USED columns are taken. */
void top_text_print_name(const struct top_text_row *row, unsigned used,
                         const struct top_text *style, struct buf *ret);

/* Appends a line about the basis of an answer's intervals. */
void top_text_print_basis(struct view_basis basis, struct buf *ret);

/* Rows that a limit left out. */
struct top_text_rest {
  const char *what; /* the plural noun for the rows */
  bool is_self;     /* their weight is their self time */
  uint64_t rows, samples;
  double weight, whole;
};

/* Appends a line about REST, unless it is empty. */
void top_text_print_rest(const struct top_text_rest *rest, struct buf *ret);

#endif
