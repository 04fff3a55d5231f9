/* SPDX-License-Identifier: Apache-2.0 */
/* The function table as JSON: the same from the collector's API and from a file. */
#ifndef VIEW_TABLE_JSON_H
#define VIEW_TABLE_JSON_H

#include "view.h"

struct json;

/* Writes, into an open object, the beginning of every answer about TREE: total, unit, samples,
   the source of the intervals, the wall times, loss and marks. */
void table_json_summary(struct json *json, const struct view_tree *tree, struct view_basis basis,
                        uint64_t from_ns, uint64_t to_ns);

/* Writes, into an open object, how the stacks of TREE ended, and where short stacks ended.
   Returns 0 or -ENOMEM. */
int table_json_stacks(struct json *json, const struct view_tree *tree, struct arena *arena);

/* Writes FUNCTION's name, module, the file and line of its declaration, and the quality of its
   name, into an open object. */
void table_json_function(struct json *json, const struct view_function *function);

/* Writes SHARE as a share under KEY (NULL: not), and its interval under KEY_CI, into an open
   object. */
void table_json_share(struct json *json, const char *key, const char *key_ci,
                      const struct view_share *share);

/* Writes why a row's interval is wider than its share: too few samples, or too few boards. */
void table_json_mark(struct json *json, enum ratio_lack lack);

/* Rows that a limit left out. */
struct table_rest {
  uint64_t rows, samples;
  wide_sum weight;
};

static inline void table_rest_add(struct table_rest *rest, wide_sum weight, uint64_t samples) {
  rest->rows++;
  rest->weight += weight;
  rest->samples = sum_of(rest->samples, samples);
}

/* Writes REST, the rows left out, of kind WHAT, under KEY into an open object. */
void table_json_rest(struct json *json, const char *key, const char *what,
                     const struct table_rest *rest);

/* Order of the rows of a function table, the largest first. */
enum table_order { TABLE_BY_SELF, TABLE_BY_TOTAL };

/* Writes the first LIMIT functions of TREE's table in ORDER into an open object, and the rest.
   Returns 0, -ENOMEM or -ETIMEDOUT. */
int table_json_functions(struct json *json, const struct view_tree *tree, enum table_order order,
                         uint32_t limit, struct arena *arena);

#endif
