/* SPDX-License-Identifier: Apache-2.0 */
/* A tree has some thousand functions and maybe a million nodes. The JSON text of a function,
   escaped, is generated once and copied for each node; the rest of a node is numbers. In columns
   a function is written once altogether, and a node is four numbers without keys. */
#include "tree_json.h"
#include "table_json.h"

#include "common/arena.h"
#include "common/buf.h"
#include "common/cutoff.h"
#include "common/json.h"

#include <errno.h>
#include <string.h>

enum {
  NUMBER_LEN_MAX = WIDE_SUM_DIGITS,
  NUMBERS_LEN_MAX = 3 * NUMBER_LEN_MAX + 64, /* and their keys */
};

struct part {
  size_t start, len; /* 0: not written yet */
};

struct nodes {
  const struct view_tree *tree;
  struct part *parts; /* of each function */
  struct buf texts;   /* of the functions met so far */
};

/* `{"name":...,"line":...`, open: the node's part follows. */
static struct part write_function(struct nodes *nodes, const struct view_function *function) {
  struct json json;
  struct part part = {.start = nodes->texts.len};
  json_init(&json, &nodes->texts, SIZE_MAX);
  json_open(&json, '{');
  table_json_function(&json, function);
  part.len = nodes->texts.len - part.start;
  return part;
}

static uint8_t *put(uint8_t *to, const char *text, size_t len) {
  memcpy(to, text, len);
  return to + len;
}

/* Up to NUMBER_LEN_MAX digits. */
static uint8_t *put_number(uint8_t *to, wide_sum number) {
  char all[WIDE_SUM_DIGITS + 1];
  uint8_t digits[NUMBER_LEN_MAX];
  size_t at = sizeof digits;
  uint64_t value = (uint64_t)number;
  if (wide_sum_is_long(number)) return put(to, all, wide_sum_print(number, all));
  do digits[--at] = (uint8_t)('0' + value % 10);
  while ((value /= 10) > 0);
  memcpy(to, digits + at, sizeof digits - at);
  return to + sizeof digits - at;
}

#define PUT(to, text) put(to, text, sizeof text - 1)

/* The numbers after the function, NUMBERS_LEN_MAX bytes at most. */
static uint8_t *put_numbers(uint8_t *to, const struct view_node *node, const uint32_t *index) {
  to = PUT(to, ",\"parent\":");
  to = node->parent == UINT32_MAX ? PUT(to, "-1") : put_number(to, index[node->parent]);
  to = PUT(to, ",\"self\":");
  to = put_number(to, node->self_weight);
  to = PUT(to, ",\"total\":");
  to = put_number(to, node->total_weight);
  return node->is_inlined ? PUT(to, ",\"inlined\":true}") : PUT(to, "}");
}

/* Written in place: an answer may hold a million nodes. */
static void write_node(struct nodes *nodes, uint32_t at, const uint32_t *index, struct json *json) {
  const struct view_node *node = &nodes->tree->nodes[at];
  struct part *part = &nodes->parts[node->function];
  if (part->len == 0) *part = write_function(nodes, &nodes->tree->functions[node->function]);
  if (nodes->texts.failed) return;
  uint8_t *start = json_raw_begin(json, part->len + NUMBERS_LEN_MAX);
  if (start == NULL) return;
  uint8_t *end = put(start, (const char *)nodes->texts.data + part->start, part->len);
  json_raw_end(json, (size_t)(put_numbers(end, node, index) - start));
}

int tree_json_nodes(struct json *json, const struct view_tree *tree, const uint32_t *index,
                    struct arena *arena) {
  struct nodes nodes = {.tree = tree};
  nodes.parts = arena_array(arena, tree->function_count, sizeof *nodes.parts);
  if (nodes.parts == NULL) return -ENOMEM;
  json_key(json, "nodes");
  json_open(json, '[');
  int error = 0;
  for (uint32_t i = 0; i < tree->node_count && !json->is_full && error == 0; i++) {
    if (index[i] != UINT32_MAX) write_node(&nodes, i, index, json);
    if (cutoff_is_at(tree->cutoff, i)) error = -ETIMEDOUT;
  }
  json_close(json, ']');
  if (nodes.texts.failed) error = -ENOMEM;
  buf_fini(&nodes.texts);
  return error;
}

/* The value of NODE in a column. */
typedef wide_sum column(const struct view_node *node, const uint32_t *numbers);

static wide_sum function_of(const struct view_node *node, const uint32_t *numbers) {
  return numbers[node->function];
}

static wide_sum self_of(const struct view_node *node, const uint32_t *numbers) {
  (void)numbers;
  return node->self_weight;
}

static wide_sum total_of(const struct view_node *node, const uint32_t *numbers) {
  (void)numbers;
  return node->total_weight;
}

static void write_column(struct json *json, const char *key, column *of,
                         const struct view_tree *tree, const uint32_t *index,
                         const uint32_t *numbers) {
  json_key(json, key);
  json_open(json, '[');
  for (uint32_t i = 0; i < tree->node_count && !json->is_full; i++) {
    if (index[i] == UINT32_MAX) continue;
    uint8_t *start = json_raw_begin(json, NUMBER_LEN_MAX);
    if (start == NULL) break;
    json_raw_end(json, (size_t)(put_number(start, of(&tree->nodes[i], numbers)) - start));
  }
  json_close(json, ']');
}

/* Parents come first, and the root has none. */
static void write_parents(struct json *json, const struct view_tree *tree, const uint32_t *index) {
  json_key(json, "parent");
  json_open(json, '[');
  for (uint32_t i = 0; i < tree->node_count && !json->is_full; i++) {
    uint32_t parent = tree->nodes[i].parent;
    if (index[i] != UINT32_MAX) json_int(json, parent == UINT32_MAX ? -1 : (int64_t)index[parent]);
  }
  json_close(json, ']');
}

/* Writes the functions that occur in nodes, and numbers them. */
static void write_functions(struct json *json, const struct view_tree *tree, const uint32_t *index,
                            uint32_t *numbers) {
  uint32_t next = 0;
  for (uint32_t i = 0; i < tree->function_count; i++) numbers[i] = UINT32_MAX;
  json_key(json, "functions");
  json_open(json, '[');
  for (uint32_t i = 0; i < tree->node_count && !json->is_full; i++) {
    uint32_t function = tree->nodes[i].function;
    if (index[i] == UINT32_MAX || numbers[function] != UINT32_MAX) continue;
    numbers[function] = next++;
    json_open(json, '{');
    table_json_function(json, &tree->functions[function]);
    json_close(json, '}');
  }
  json_close(json, ']');
}

int tree_json_columns(struct json *json, const struct view_tree *tree, const uint32_t *index,
                      struct arena *arena) {
  uint32_t *numbers = arena_array(arena, tree->function_count, sizeof *numbers);
  if (numbers == NULL) return -ENOMEM;
  write_functions(json, tree, index, numbers);
  if (cutoff_is_past(tree->cutoff)) return -ETIMEDOUT;
  json_key(json, "nodes");
  json_open(json, '{');
  write_column(json, "function", function_of, tree, index, numbers);
  write_parents(json, tree, index);
  if (cutoff_is_past(tree->cutoff)) return -ETIMEDOUT;
  write_column(json, "self", self_of, tree, index, numbers);
  write_column(json, "total", total_of, tree, index, numbers);
  json_close(json, '}');
  json_key(json, "inlined");
  json_open(json, '[');
  for (uint32_t i = 0; i < tree->node_count && !json->is_full; i++)
    if (index[i] != UINT32_MAX && tree->nodes[i].is_inlined) json_uint(json, index[i]);
  json_close(json, ']');
  return 0;
}
