/* SPDX-License-Identifier: Apache-2.0 */
/* Each different rule of a module once, by number. */
#ifndef TABLES_TABLE_RULES_H
#define TABLES_TABLE_RULES_H

#include "unwind/unwind_table.h"

enum {
  TABLE_RULE_NONE = 0, /* the number of UNWIND_CFA_NONE, which is always present */
  TABLE_RULE_UNTOLD = 1,
};

struct table_rules {
  struct unwind_rule *rules;
  uint16_t *cells;
  uint32_t count, cap;
};

/* Returns 0 or -ENOMEM. */
int table_rules_init(struct table_rules *rules);
void table_rules_fini(struct table_rules *rules);

/* The number of RULE, which is added if new; TABLE_RULE_UNTOLD beyond UNWIND_RULES_MAX. Returns 0
   or -ENOMEM. */
int table_rules_add(struct table_rules *rules, const struct unwind_rule *rule, uint16_t *ret);

#endif
