/* SPDX-License-Identifier: Apache-2.0 */
/* Lookups in the tables of lr_format.h, as views of an index's bytes. */
#ifndef SYMBOL_LR_TABLES_H
#define SYMBOL_LR_TABLES_H

#include "lr_format.h"

#include "common/span.h"

/* All-zero: no table. */
struct lr_table {
  struct lr_head head;
  const uint32_t *firsts;
  const void *entries;
  struct span rest; /* the bytes after it: more tables of the same kind */
};

struct lr_tables {
  struct lr_table places, calls;
};

enum lr_call {
  LR_CALL_UNKNOWN = 0, /* there is no table */
  LR_CALL_NONE,
  LR_CALL_ANYWHERE,  /* a call to an unknown target */
  LR_CALL_HERE,      /* a call to the given function */
  LR_CALL_ELSEWHERE, /* a call to another place of the module */
};

/* Finds the tables in INDEX, 8-aligned, after its header and section table were checked. A
   malformed table counts as missing. Constant time. Any thread. */
void lr_tables_parse(struct span index, struct lr_tables *ret);

/* Memory-safe for any table contents. Any thread. */
enum lr_place lr_tables_place(const struct lr_tables *tables, uint64_t address);

/* Returns the kind of call that returns to ADDRESS + 1, and whether it calls FUNCTION, a start
   address. Also memory-safe. */
enum lr_call lr_tables_call(const struct lr_tables *tables, uint64_t address, uint64_t function);

/* e_machine, or 0. */
uint32_t lr_tables_machine(const struct lr_tables *tables);

#endif
