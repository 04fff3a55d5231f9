/* SPDX-License-Identifier: Apache-2.0 */
/* All metrics are from one call tree of the last minutes. If functions are watched, its outermost
   frames are the releases, the values of one label. A release with less than a hundredth of the
   time has no line, so each function has at most a hundred.

   A function's time includes its callees, and each stack counts once even in recursion, so that the
   metric also grows if a callee gets slower. */
#include "profile_metrics.h"

#include "board_metrics.h"
#include "common/arena.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/cutoff.h"
#include "common/options.h"
#include "http.h"
#include "proto/batch.h"
#include "query/query.h"

#include <errno.h>
#include <string.h>

enum { RELEASE_SHARE_MIN = 100 /* the least share of a release is 1/100 */ };

static void print_nameless(const struct view_tree *tree, struct buf *ret) {
  uint64_t all = 0, nameless = 0;
  for (uint32_t i = 0; i < tree->node_count; i++) {
    const char *quality = tree->functions[tree->nodes[i].function].quality;
    if (quality == NULL) continue; /* not code of a file: needs no name */
    all += tree->nodes[i].self_count;
    if (strcmp(quality, "none") == 0) nameless += tree->nodes[i].self_count;
  }
  if (all == 0) return;
  buf_printf(ret,
             "# HELP fleetprof_unsymbolized_samples_ratio Samples in files of code whose function "
             "has no name, of the last %d seconds.\n"
             "# TYPE fleetprof_unsymbolized_samples_ratio gauge\n"
             "fleetprof_unsymbolized_samples_ratio %.6f\n",
             PROFILE_METRICS_RANGE_S, (double)nameless / (double)all);
}

struct watch {
  const struct view_tree *tree;
  uint32_t *release; /* of each node: the outermost frame above it */
  wide_sum *weight;  /* of each release, for the current function */
  bool *is_inside;   /* of each node: the current function is the node or above it */
};

/* Parents precede their children. */
static int begin_watch(const struct view_tree *tree, struct arena *arena, struct watch *ret) {
  struct watch watch = {tree, arena_array(arena, tree->node_count, sizeof(uint32_t)),
                        arena_array(arena, tree->node_count, sizeof(wide_sum)),
                        arena_array(arena, tree->node_count, sizeof(bool))};
  if (watch.release == NULL || watch.weight == NULL || watch.is_inside == NULL) return -1;
  for (uint32_t i = 0; i < tree->node_count; i++) {
    uint32_t parent = tree->nodes[i].parent;
    watch.release[i] = i == 0 || parent == 0 ? i : watch.release[parent];
  }
  *ret = watch;
  return 0;
}

static void weigh(struct watch *watch, const char *function) {
  const struct view_tree *tree = watch->tree;
  memset(watch->weight, 0, tree->node_count * sizeof *watch->weight);
  for (uint32_t i = 0; i < tree->node_count; i++) {
    const struct view_node *node = &tree->nodes[i];
    bool is_release = watch->release[i] == i;
    bool was_inside = !is_release && watch->is_inside[node->parent];
    bool is_it = !is_release && strcmp(tree->functions[node->function].name, function) == 0;
    if (is_it && !was_inside) watch->weight[watch->release[i]] += node->total_weight;
    watch->is_inside[i] = was_inside || is_it;
  }
}

static void print_watched(struct watch *watch, const char *function, struct buf *ret) {
  const struct view_tree *tree = watch->tree;
  weigh(watch, function);
  for (uint32_t i = 1; i < tree->node_count; i++) {
    const struct view_node *node = &tree->nodes[i];
    bool is_small = node->total_weight < tree->total_weight / RELEASE_SHARE_MIN;
    if (watch->release[i] != i || is_small || node->total_weight == 0) continue;
    buf_append_string(ret, "fleetprof_function_cpu_ratio{release=\"");
    metrics_print_label(ret, tree->functions[node->function].name);
    buf_append_string(ret, "\",function=\"");
    metrics_print_label(ret, function);
    buf_printf(ret, "\"} %.6f\n", (double)watch->weight[i] / (double)node->total_weight);
  }
}

static int print_all(const struct view_tree *tree, const struct option_list *watched,
                     struct arena *arena, struct buf *ret) {
  struct watch watch;
  print_nameless(tree, ret);
  if (watched == NULL || watched->count == 0) return 0;
  if (begin_watch(tree, arena, &watch) != 0) return -ENOMEM;
  buf_printf(ret,
             "# HELP fleetprof_function_cpu_ratio Share of a release's CPU time in a watched "
             "function and below it, of the last %d seconds.\n"
             "# TYPE fleetprof_function_cpu_ratio gauge\n",
             PROFILE_METRICS_RANGE_S);
  for (unsigned i = 0; i < watched->count; i++) print_watched(&watch, watched->values[i], ret);
  return 0;
}

int profile_metrics_print(const struct http_parts *parts, struct arena *arena, struct buf *ret) {
  if (parts->store == NULL) return 0;
  const struct query_source source = {parts->store, parts->symbolizer};
  bool is_watching = parts->watched != NULL && parts->watched->count > 0;
  uint64_t to_ms = clock_judged_ns() / NS_PER_MS;
  const struct cutoff cutoff = {.deadline_ns = clock_monotonic_ns() +
                                               PROFILE_METRICS_DEADLINE_S * NS_PER_SECOND};
  const struct query_range range = {
      .from_ms = to_ms - PROFILE_METRICS_RANGE_S * 1000ULL,
      .to_ms = to_ms,
      .types = SAMPLE_SET_CPU,
      .by = is_watching ? parts->watched_by : NULL,
      .is_of_settled = true, /* cheaper with a backlog, when the other counters matter most */
      .without_intervals = true,
      .cutoff = &cutoff};
  struct view_tree tree = {0};
  int error = query_tree(&source, &range, arena, &tree);
  return error != 0 ? error : print_all(&tree, parts->watched, arena, ret);
}
