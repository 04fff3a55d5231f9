/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the readers of unwind information (call frame information, ARM's index, prologues):
   they add functions, and each function's rules, to one table.

   Sources are read from the best to the worst: a function that overlaps one from a better source is
   omitted. */
#ifndef TABLES_TABLE_ROWS_H
#define TABLES_TABLE_ROWS_H

#include "code_ranges.h"

#include "unwind/unwind_table.h"

#include "common/buf.h"

struct table_rows;

/* A larger table must have a row for each page on average: otherwise a small file with headers that
   claim 4 GiB of code would have a table of 4 MiB. */
enum { TABLE_ROWS_SPARSE_PAGES_MAX = 4096 };

/* For code at addresses CODE of a module. Returns 0, -EOVERFLOW with more than UNWIND_PAGES_MAX
   pages, -EINVAL without a range, or -ENOMEM. */
int table_rows_new(const struct code_ranges *code, struct table_rows **ret);
void table_rows_free(struct table_rows *rows);

/* Sets the source of the following functions (0: the module's entry); it is worse than all
   before. */
void table_rows_source(struct table_rows *rows, enum unwind_source source);

/* Begins the function [START, END), and ends the previous one. Returns 0; -EEXIST if a better
   source has it, and nothing of it must be added; -ERANGE outside the module's code; -ENOSPC beyond
   UNWIND_ROWS_MAX rows; -ENOMEM. If two functions of one source overlap, the earlier one is
   kept. */
int table_rows_function(struct table_rows *rows, uint64_t start, uint64_t end);

/* RULE applies from ADDRESS of that function on. Addresses must not fall, and a second rule for the
   same address replaces the first. Beyond UNWIND_RULES_MAX different rules it becomes
   UNWIND_CFA_UNTOLD. Returns 0, -EINVAL for an address outside the function, -ENOSPC or -ENOMEM. */
int table_rows_put(struct table_rows *rows, uint64_t address, const struct unwind_rule *rule);

/* Removes the last begun function, because it was contradictory. */
void table_rows_drop(struct table_rows *rows);

/* The number of bytes from ADDRESS on without a better source; 0 if ADDRESS has one, or is
   outside. */
uint64_t table_rows_room(const struct table_rows *rows, uint64_t address);

/* The first address from ADDRESS on without a better source; the end of the module's code if there
   is none. */
uint64_t table_rows_free_from(const struct table_rows *rows, uint64_t address);

/* The number of functions omitted because they overlap others; final after table_rows_encode. */
uint32_t table_rows_left(const struct table_rows *rows);

/* Writes the table to RET, which is empty. Addresses outside all functions are UNWIND_CFA_NONE.
   Returns 0, -ENODATA without any function, -ENOSPC beyond UNWIND_ROWS_MAX rows or with too few for
   its pages, or -ENOMEM. */
int table_rows_encode(struct table_rows *rows, uint16_t machine, struct buf *ret);

/* Converts LOW, the start of code at [LOW, HIGH) of the module's own address space, to an address
   in TABLE, which is checked. The code is in one segment. Returns false if the table has gaps and
   nothing of that code. */
bool table_rows_place(const struct unwind_table *table, uint64_t low, uint64_t high, uint64_t *ret);

#endif
