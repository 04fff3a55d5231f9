/* SPDX-License-Identifier: Apache-2.0 */
/* A linked program has some hundreds of different rules for some hundred thousand addresses, so
   each address needs a look-up in a small hash. The cells hold the rules' numbers. Number 0 marks
   an empty cell, because the rule without information is never searched for.

   The cells are never full, and a search stops after a bounded number of them. A malicious file
   with collisions gets addresses without rules, not a slow daemon. */
#include "table_rules.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
  CELLS = 2 * UNWIND_RULES_MAX,
  LOOKED_AT_MAX = 64,
  FIRST_RULES = 64,
};

static uint32_t cell_of(const struct unwind_rule *rule) {
  uint64_t words[2];
  memcpy(words, rule, sizeof words);
  uint64_t hash = (words[0] ^ (words[1] << 29 | words[1] >> 35)) * UINT64_C(0x9e3779b97f4a7c15);
  hash ^= hash >> 32;
  return (uint32_t)((hash * UINT64_C(0xd6e8feb86659fd93)) >> 40) % CELLS;
}

/* A rule that does not depend on registers is normalized. */
static struct unwind_rule plain(const struct unwind_rule *rule) {
  if (rule->cfa > UNWIND_CFA_SIGNAL) return *rule;
  struct unwind_rule ret = {.cfa = rule->cfa};
  if (rule->cfa == UNWIND_CFA_SIGNAL) ret.offset = rule->offset;
  if (rule->cfa == UNWIND_CFA_UNTOLD) ret.flags = rule->flags & UNWIND_GUESSED;
  return ret;
}

static int append(struct table_rules *rules, const struct unwind_rule *rule, uint16_t *ret) {
  if (rules->count == rules->cap) {
    uint32_t cap = rules->cap == 0 ? FIRST_RULES : 2 * rules->cap;
    struct unwind_rule *more = realloc(rules->rules, cap * sizeof *more);
    if (more == NULL) return -ENOMEM;
    rules->rules = more;
    rules->cap = cap;
  }
  rules->rules[rules->count] = *rule;
  *ret = (uint16_t)rules->count++;
  return 0;
}

int table_rules_add(struct table_rules *rules, const struct unwind_rule *rule, uint16_t *ret) {
  struct unwind_rule sought = plain(rule);
  bool is_guess = sought.flags != 0;
  if (sought.cfa == UNWIND_CFA_NONE || (sought.cfa == UNWIND_CFA_UNTOLD && !is_guess)) {
    *ret = sought.cfa == UNWIND_CFA_NONE ? TABLE_RULE_NONE : TABLE_RULE_UNTOLD;
    return 0;
  }
  uint32_t cell = cell_of(&sought);
  for (unsigned looked_at = 0; looked_at < LOOKED_AT_MAX; looked_at++) {
    uint16_t number = rules->cells[cell];
    if (number == TABLE_RULE_NONE) {
      if (rules->count >= UNWIND_RULES_MAX) break;
      int rc = append(rules, &sought, ret);
      if (rc == 0) rules->cells[cell] = *ret;
      return rc;
    }
    *ret = number;
    if (memcmp(&rules->rules[number], &sought, sizeof sought) == 0) return 0;
    cell = (cell + 1) % CELLS;
  }
  *ret = TABLE_RULE_UNTOLD;
  return 0;
}

int table_rules_init(struct table_rules *rules) {
  static const struct unwind_rule first[] = {
      [TABLE_RULE_NONE] = {.cfa = UNWIND_CFA_NONE},
      [TABLE_RULE_UNTOLD] = {.cfa = UNWIND_CFA_UNTOLD},
  };
  uint16_t number;
  *rules = (struct table_rules){.cells = calloc(CELLS, sizeof(uint16_t))};
  int rc = rules->cells == NULL ? -ENOMEM : 0;
  for (size_t i = 0; i < sizeof first / sizeof first[0] && rc == 0; i++)
    rc = append(rules, &first[i], &number);
  if (rc < 0) table_rules_fini(rules);
  return rc;
}

void table_rules_fini(struct table_rules *rules) {
  free(rules->rules);
  free(rules->cells);
  *rules = (struct table_rules){0};
}
