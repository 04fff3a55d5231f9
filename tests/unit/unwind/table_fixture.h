/* SPDX-License-Identifier: Apache-2.0 */
/* Tables written by hand, row by row. */
#ifndef TESTS_UNWIND_TABLE_FIXTURE_H
#define TESTS_UNWIND_TABLE_FIXTURE_H

#include "unwind/unwind_table.h"

#include <stddef.h>

enum { TABLE_MACHINE = 4711 };

struct table_row {
  uint64_t address;
  uint16_t rule;
};

struct table_fixture {
  uint64_t base;
  uint32_t page_count;
  const struct table_row *rows; /* by address */
  uint32_t row_count;
  const struct unwind_rule *rules;
  uint32_t rule_count;
};

/* The table, in an exact heap allocation, so that a sanitizer detects an overrun of one byte; the
   caller frees it. */
struct unwind_table *table_fixture_make(const struct table_fixture *from);

#endif
