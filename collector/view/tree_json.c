/* SPDX-License-Identifier: Apache-2.0 */
/* A tree has some thousand functions and maybe a million nodes.  What a node says of its function,
   escaped, is written once a function and copied from then on; the rest of it is numbers. */
#include "tree_json.h"
#include "table_json.h"

#include "common/arena.h"
#include "common/buf.h"
#include "common/json.h"

#include <errno.h>

struct part {
  size_t start, len; /* 0: not written yet */
};

struct nodes {
  const struct view_tree *tree;
  struct part *parts; /* of each function */
  struct buf texts;   /* of the functions met so far */
  struct buf node;    /* the one in hand */
};

/* `{"name":...,"line":...`, open: what follows is the node's. */
static struct part write_function(struct nodes *nodes, const struct view_function *function) {
  struct json json;
  struct part part = {.start = nodes->texts.len};
  json_init(&json, &nodes->texts, SIZE_MAX);
  json_open(&json, '{');
  table_json_function(&json, function);
  part.len = nodes->texts.len - part.start;
  return part;
}

static void write_node(struct nodes *nodes, uint32_t at, const uint32_t *index) {
  static const char inlined[] = ",\"inlined\":true";
  const struct view_node *node = &nodes->tree->nodes[at];
  struct part *part = &nodes->parts[node->function];
  struct json json;
  if (part->len == 0) *part = write_function(nodes, &nodes->tree->functions[node->function]);
  buf_clear(&nodes->node);
  if (!nodes->texts.failed) buf_append(&nodes->node, nodes->texts.data + part->start, part->len);
  json_init(&json, &nodes->node, SIZE_MAX);
  buf_append_string(&nodes->node, ",\"parent\":");
  json_int(&json, node->parent == UINT32_MAX ? -1 : (int64_t)index[node->parent]);
  buf_append_string(&nodes->node, ",\"self\":");
  json_uint(&json, node->self_weight);
  buf_append_string(&nodes->node, ",\"total\":");
  json_uint(&json, node->total_weight);
  if (node->is_inlined) buf_append(&nodes->node, inlined, sizeof inlined - 1);
  buf_append_byte(&nodes->node, '}');
}

int tree_json_nodes(struct json *json, const struct view_tree *tree, const uint32_t *index,
                    struct arena *arena) {
  struct nodes nodes = {.tree = tree};
  nodes.parts = arena_array(arena, tree->function_count, sizeof *nodes.parts);
  if (nodes.parts == NULL) return -ENOMEM;
  json_key(json, "nodes");
  json_open(json, '[');
  for (uint32_t i = 0; i < tree->node_count && !json->is_full; i++) {
    if (index[i] == UINT32_MAX) continue;
    write_node(&nodes, i, index);
    json_raw(json, buf_span(&nodes.node));
  }
  json_close(json, ']');
  int error = nodes.texts.failed || nodes.node.failed ? -ENOMEM : 0;
  buf_fini(&nodes.texts);
  buf_fini(&nodes.node);
  return error;
}
