/* SPDX-License-Identifier: Apache-2.0 */
/* speedscope's JSON (speedscope.app/file-format-schema.json): a table of frames and one "sampled"
   profile, which is a list of stacks (frame indices, root first) and one of weights, equally long.

   A frame is a function of the tree; the root of the tree is none, so indices are one less.  Our
   stacks are sums over time and stand in no order of time: speedscope's "left heavy" and "sandwich"
   views are the meaningful ones. */
#include "export.h"

#include "common/arena.h"
#include "common/buf.h"
#include "common/cutoff.h"
#include "common/json.h"

#include <errno.h>

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

static void write_frames(struct json *json, const struct view_tree *tree) {
  json_key(json, "shared");
  json_open(json, '{');
  json_key(json, "frames");
  json_open(json, '[');
  for (uint32_t i = 1; i < tree->function_count; i++) {
    const struct view_function *function = &tree->functions[i];
    json_open(json, '{');
    json_key_string(json, "name", function->name);
    json_key_string(json, "file", function->file != NULL ? function->file : function->module);
    if (function->line > 0) json_key_uint(json, "line", function->line);
    json_close(json, '}');
  }
  json_close(json, ']');
  json_close(json, '}');
}

static int write_stacks(struct json *json, const struct view_tree *tree, uint32_t *path) {
  json_key(json, "samples");
  json_open(json, '[');
  for (uint32_t i = 1; i < tree->node_count; i++) {
    uint32_t depth = 0;
    if (cutoff_is_at(tree->cutoff, i)) return -ETIMEDOUT;
    if (tree->nodes[i].self_weight == 0) continue;
    for (uint32_t at = i; at != 0; at = tree->nodes[at].parent) path[depth++] = at;
    json_open(json, '[');
    while (depth > 0) json_uint(json, tree->nodes[path[--depth]].function - 1);
    json_close(json, ']');
  }
  json_close(json, ']');
  json_key(json, "weights");
  json_open(json, '[');
  for (uint32_t i = 1; i < tree->node_count; i++)
    if (tree->nodes[i].self_weight > 0) json_wide(json, tree->nodes[i].self_weight);
  json_close(json, ']');
  return 0;
}

static wide_sum weight_of(const struct view_tree *tree) {
  wide_sum weight = 0;
  for (uint32_t i = 1; i < tree->node_count; i++) weight += tree->nodes[i].self_weight;
  return weight;
}

int view_speedscope(const struct view_tree *tree, const struct view_origin *origin,
                    struct arena *arena, struct buf *ret) {
  struct json json;
  const char *title = origin->title != NULL ? origin->title : "";
  uint32_t *path = arena_array(arena, tree->node_count, sizeof *path);
  if (path == NULL) return -ENOMEM;
  json_init(&json, ret, SIZE_MAX);
  json_open(&json, '{');
  json_key_string(&json, "$schema", SCHEMA);
  json_key_string(&json, "exporter", "fleetprof@" FLEETPROF_VERSION);
  json_key_string(&json, "name", title);
  json_key_uint(&json, "activeProfileIndex", 0);
  write_frames(&json, tree);
  json_key(&json, "profiles");
  json_open(&json, '[');
  json_open(&json, '{');
  json_key_string(&json, "type", "sampled");
  json_key_string(&json, "name", title);
  json_key_string(&json, "unit", "nanoseconds");
  json_key_uint(&json, "startValue", 0);
  json_key(&json, "endValue");
  json_wide(&json, weight_of(tree));
  int error = write_stacks(&json, tree, path);
  json_close(&json, '}');
  json_close(&json, ']');
  json_close(&json, '}');
  return ret->failed ? -ENOMEM : error;
}
