/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the nodes; report/flame_text.h draws them, as for `fleetprof report`.  The request limits
   the number of nodes, so an answer with that many nodes is shown as partial. */
#include "answer_flame.h"

#include "answer_text.h"
#include "common/buf.h"
#include "field.h"
#include "query_settings.h"
#include "report/flame_text.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

/* The root's parent is a negative number. */
static uint32_t parent_of(const cJSON *row) {
  double parent = field_number(row, "parent");
  return parent >= 0 && parent < UINT32_MAX ? (uint32_t)parent : UINT32_MAX;
}

void answer_flame_print(const cJSON *answer, uint32_t depth, const struct top_text *style,
                        struct buf *ret) {
  const cJSON *list = field_find(answer, "nodes"), *row;
  struct flame_node *nodes = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *nodes);
  struct flame flame = {.nodes = nodes, .depth = depth};
  answer_text_head(answer, ret);
  if (nodes != NULL)
    cJSON_ArrayForEach(row, list) nodes[flame.count++] =
        (struct flame_node){.name = field_text(row, "name"),
                            .module = field_text(row, "module"),
                            .parent = parent_of(row),
                            .self = answer_text_whole(field_number(row, "self")),
                            .total = answer_text_whole(field_number(row, "total"))};
  flame.is_partial = flame.count >= QUERY_FLAME_NODES;
  if (nodes == NULL || flame_text_print(&flame, style, ret) != 0) ret->failed = true;
  free(nodes);
}
