/* SPDX-License-Identifier: Apache-2.0 */
/* Selects and calls the format of `report`.  The formats themselves are in view/ and report/.  The
   JSON written here has the file's facts beside its tree. */
#include "report_print.h"
#include "common/arena.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/json.h"
#include "diff_gate.h"
#include "report/diff_text.h"
#include "report/flame_text.h"
#include "report/top_text.h"
#include "terminal_style.h"
#include "view/export.h"
#include "view/table_json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { SUM_NAME_BYTES = 1100 };

static void print_samplers(const struct profile *profile, struct json *json) {
  struct buf names = {0};
  sampler_list_print(&profile->samplers, &names);
  json_key_string(json, "sampler", names.failed ? "" : buf_text(&names));
  json_key_string(json, "why", profile->why);
  buf_fini(&names);
}

static int print_json(const struct report_settings *settings, const struct report_side *side,
                      struct arena *arena, struct buf *ret) {
  struct json json;
  json_init(&json, ret, SIZE_MAX);
  json_open(&json, '{');
  table_json_summary(&json, &side->tree, view_basis(&side->tree), side->profile.start_walltime_ns,
                     side->profile.end_walltime_ns);
  print_samplers(&side->profile, &json);
  int error = table_json_stacks(&json, &side->tree, arena);
  if (error == 0)
    error = table_json_functions(&json, &side->tree, TABLE_BY_SELF,
                                 (uint32_t)settings->options.limit, arena);
  json_close(&json, '}');
  buf_append_byte(ret, '\n');
  return error == 0 && ret->failed ? -ENOMEM : error;
}

static struct view_origin origin_of(const struct profile *profile) {
  struct view_origin origin = {.title = profile->exe,
                               .start_ns = profile->start_walltime_ns,
                               .end_ns = profile->end_walltime_ns};
  if (profile->main_module != BATCH_NONE)
    origin.main_module = profile_module_name(&profile->modules[profile->main_module]);
  if (profile->asked_mhz > 0) origin.period_ns = 1000 * NS_PER_SECOND / profile->asked_mhz;
  return origin;
}

/* Names the sum of COUNT files of a side, of which FIRST is the first. */
static const char *name_sum(const char *first, unsigned count, char ret[SUM_NAME_BYTES]) {
  if (count == 1) return first;
  snprintf(ret, SUM_NAME_BYTES, "%.1000s and %u more", first, count - 1);
  return ret;
}

/* Returns the program's displayed name if it has two file names, else NULL. */
static const char *find_pair(const struct profile *profile) {
  if (profile->main_module == BATCH_NONE) return NULL;
  const struct profile_module *module = &profile->modules[profile->main_module];
  bool has_two = module->shown != NULL && strcmp(module->shown, profile_module_name(module)) != 0;
  return has_two ? module->shown : NULL;
}

static int print_diff(const struct report_settings *settings, const struct report_side sides[2],
                      const struct report_difference *difference, struct buf *ret) {
  const struct option_list *files = &settings->options.diff;
  char a_sum[SUM_NAME_BYTES], b_sum[SUM_NAME_BYTES];
  const struct diff_sides both = {
      .a = &sides[0].tree,
      .b = &sides[1].tree,
      .a_name = name_sum(settings->files[0], (unsigned)settings->file_count, a_sum),
      .b_name = name_sum(files->values[0], files->count, b_sum),
      .pair = find_pair(&sides[0].profile)};
  const struct top_text style = terminal_style(settings->options.limit, settings->options.output);
  const struct diff_gate *gate = difference->gate;
  if (settings->format == REPORT_JSON) {
    struct json json;
    json_init(&json, ret, SIZE_MAX);
    json_open(&json, '{');
    diff_text_write_json(&both, difference->diff, style.limit, &json);
    if (gate != NULL) diff_gate_write(gate, &json);
    json_close(&json, '}');
    buf_append_byte(ret, '\n');
    return ret->failed ? -ENOMEM : 0;
  }
  int error = diff_text_print(&both, difference->diff, &style, ret);
  if (error == 0 && gate != NULL) diff_gate_print(gate, ret);
  terminal_style_letters(&style, ret);
  return error;
}

static int print_top(const struct report_settings *settings, const struct report_side *side,
                     struct arena *arena, struct buf *ret) {
  const struct top_text style = terminal_style(settings->options.limit, settings->options.output);
  int error = top_text_print(&side->profile, &side->tree, &style, arena, ret);
  terminal_style_letters(&style, ret);
  return error;
}

static int print_flame(const struct report_settings *settings, const struct report_side *side,
                       struct arena *arena, struct buf *ret) {
  const struct view_tree *tree = &side->tree;
  const struct top_text style = terminal_style(settings->options.limit, settings->options.output);
  struct flame_node *nodes = arena_array(arena, tree->node_count, sizeof *nodes);
  if (nodes == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < tree->node_count; i++) {
    const struct view_node *node = &tree->nodes[i];
    const struct view_function *function = &tree->functions[node->function];
    nodes[i] =
        (struct flame_node){function->name, function->module, node->parent,
                            wide_sum_cut(node->self_weight), wide_sum_cut(node->total_weight)};
  }
  const struct flame flame = {
      .nodes = nodes, .count = tree->node_count, .depth = (uint32_t)settings->options.depth};
  int error = top_text_print_head(&side->profile, tree, arena, ret);
  return error != 0 ? error : flame_text_print(&flame, &style, ret);
}

int report_print(const struct report_settings *settings, const struct report_side sides[2],
                 const struct report_difference *difference, struct arena *arena, struct buf *ret) {
  const struct report_side *side = &sides[0];
  const struct view_origin origin = origin_of(&side->profile);
  if (settings->options.diff.count > 0) return print_diff(settings, sides, difference, ret);
  switch (settings->format) {
  case REPORT_FLAME:
    return print_flame(settings, side, arena, ret);
  case REPORT_JSON:
    return print_json(settings, side, arena, ret);
  case REPORT_FOLDED:
    return view_folded(&side->tree, arena, ret);
  case REPORT_PPROF:
    return view_pprof(&side->tree, &origin, arena, ret);
  case REPORT_SPEEDSCOPE:
    return view_speedscope(&side->tree, &origin, arena, ret);
  case REPORT_CALLGRIND:
    return view_callgrind(&side->tree, &origin, arena, ret);
  case REPORT_PERF_SCRIPT:
    return view_perf_script(&side->tree, &origin, arena, ret);
  default:
    return print_top(settings, side, arena, ret);
  }
}
