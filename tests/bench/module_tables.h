/* SPDX-License-Identifier: Apache-2.0 */
/* The unwind tables of the files that a program has mapped, each made once. */
#ifndef TESTS_BENCH_MODULE_TABLES_H
#define TESTS_BENCH_MODULE_TABLES_H

#include "unwind/unwind_table.h"

#include "common/span.h"

struct module_table {
  struct module_table *next;
  char *path;
  struct span file;                 /* its bytes; empty: it could not be read */
  const struct unwind_table *table; /* NULL: none could be made */
  double build_ms;
};

struct module_tables {
  struct module_table *first; /* all-zero: none yet */
};

/* The module of PATH ("[vdso]": this process's own, which is the same in all processes of this
   machine), made at the first call. Exits the program when out of memory. */
const struct module_table *module_tables_get(struct module_tables *tables, const char *path);

/* Converts FILE_OFFSET to an address in the module's own address space. Returns false if no
   executable segment contains it. */
bool module_table_address(const struct module_table *module, uint64_t file_offset, uint64_t *ret);

/* Prints each module's rows, bytes and time to standard error. */
void module_tables_print(const struct module_tables *tables);

#endif
