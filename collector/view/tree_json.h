/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of a tree as JSON. */
#ifndef VIEW_TREE_JSON_H
#define VIEW_TREE_JSON_H

#include "view.h"

struct json;

/* Writes, into an open object, the nodes of TREE that have a number in INDEX (one a node, growing;
   UINT32_MAX: left out; the parent of a node that stays, stays).  Returns 0, -ENOMEM
   or -ETIMEDOUT. */
int tree_json_nodes(struct json *json, const struct view_tree *tree, const uint32_t *index,
                    struct arena *arena);

/* The same nodes by column, which a browser reads in a fraction of the time: `functions`, each
   once, in the order in which nodes have them; `nodes`, whose `function`, `parent`, `self` and
   `total` are arrays of one number a node; and `inlined`, the numbers of the nodes that are. */
int tree_json_columns(struct json *json, const struct view_tree *tree, const uint32_t *index,
                      struct arena *arena);

#endif
