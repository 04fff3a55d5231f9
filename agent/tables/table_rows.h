/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of unwind information (call frame information, ARM's index, prologues) have in
   common: they tell of functions, and of each function's rules; in the end it is one table.

   Sources are read from the best to the worst: a function that overlaps one that a better source
   has told of is left out. */
#ifndef TABLES_TABLE_ROWS_H
#define TABLES_TABLE_ROWS_H

#include "code_ranges.h"

#include "unwind/unwind_table.h"

#include "common/buf.h"

struct table_rows;

/* A table of more pages than this has a row for each of them on average: a little file whose
   headers claim 4 GiB of code would else have one of 4 MiB. */
enum { TABLE_ROWS_SPARSE_PAGES_MAX = 4096 };

/* For code at addresses CODE of a module.  Returns 0, -EOVERFLOW with more than UNWIND_PAGES_MAX
   pages, -EINVAL without a range, or -ENOMEM. */
int table_rows_new(const struct code_ranges *code, struct table_rows **ret);
void table_rows_free(struct table_rows *rows);

/* What comes next is from SOURCE (0: the module's entry), worse than all before it. */
void table_rows_source(struct table_rows *rows, enum unwind_source source);

/* Begins the function [START, END); the one before it is over.  Returns 0; -EEXIST: a better source
   has it, tell nothing of it; -ERANGE outside of the module's code; -ENOSPC beyond UNWIND_ROWS_MAX
   rows; -ENOMEM.  Two functions of one source that overlap: the earlier told one stays. */
int table_rows_function(struct table_rows *rows, uint64_t start, uint64_t end);

/* From ADDRESS of that function on, RULE holds; addresses never fall, and a second rule for the
   same address takes the place of the first.  Where UNWIND_RULES_MAX rules are known already it
   becomes UNWIND_CFA_UNTOLD.  Returns 0, -EINVAL for an address outside of the function, -ENOSPC or
   -ENOMEM. */
int table_rows_put(struct table_rows *rows, uint64_t address, const struct unwind_rule *rule);

/* Forgets the function that was begun last: something in it was impossible. */
void table_rows_drop(struct table_rows *rows);

/* How many bytes from ADDRESS on no better source has told of; 0 when one has, or outside. */
uint64_t table_rows_room(const struct table_rows *rows, uint64_t address);

/* The first address from ADDRESS on that no better source has told of; the end of the module's code
   when there is none. */
uint64_t table_rows_free_from(const struct table_rows *rows, uint64_t address);

/* Functions that were left out because they overlap others; all of them once table_rows_encode has
   returned. */
uint32_t table_rows_left(const struct table_rows *rows);

/* Puts the table into RET, which is empty.  What no function covers is UNWIND_CFA_NONE.  Returns 0,
   -ENODATA when nothing was told, -ENOSPC beyond UNWIND_ROWS_MAX rows or with hardly any for
   its pages, or -ENOMEM. */
int table_rows_encode(struct table_rows *rows, uint16_t machine, struct buf *ret);

/* Where the code at [LOW, HIGH) of the module's own address space, of one of its segments, has LOW
   in TABLE, which is checked.  Returns false when the table has gaps and nothing of that code. */
bool table_rows_place(const struct unwind_table *table, uint64_t low, uint64_t high, uint64_t *ret);

#endif
