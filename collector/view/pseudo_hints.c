/* SPDX-License-Identifier: Apache-2.0 */
/* [kernel] alone has two causes.  Without samples, its time comes from the clocks: the kernel was
   not sampled, because the right to do so was missing.  With samples, their addresses could not be
   read.

   [unsampled] of short threads and processes differs by sampler.  Where the samplers are not known,
   as in an answer about many boards, both causes are given.  Causes that a board has seen itself
   are marks (marks.c). */
#include "pseudo_hints.h"

#include "proto/batch.h"

#include <string.h>

#define BY_PERF                                                                                  \
  "by perf, a thread or process that ends before one period has no sample, and none has one of " \
  "its last part of a period; a higher --hz helps, and so does root, for whom whole CPUs are "   \
  "sampled"
#define BY_TIMER                                                                                 \
  "by timer, a thread or process that ends before a tick of the kernel has no sample (a higher " \
  "--hz does not help), nor has one that blocks SIGURG or cannot load the agent (fleetprof "     \
  "status); --sampler perf helps where the kernel allows it (fleetprof doctor)"

static const char closed[] =
    "the kernel's functions were not sampled: they are for root, CAP_PERFMON (CAP_SYS_ADMIN before "
    "Linux 5.8), or every user where kernel.perf_event_paranoid is 1 "
    "(sysctl kernel.perf_event_paranoid=1)";
static const char nameless[] =
    "the kernel's functions have no names: the daemon could not read their addresses; it needs "
    "CAP_SYSLOG and kernel.kptr_restrict 0 or 1 (sysctl kernel.kptr_restrict=1)";

static const char rest[] =
    "a board has more places in call trees than are read of each where several boards may be "
    "meant: "
    "its lightest ones, added up; an answer about one board ({board=\"NAME\"}) has all";

bool pseudo_is_placeless(const char *name) {
  static const char *const names[] = {PSEUDO_UNSAMPLED, "[unknown]", "[others]", PSEUDO_REST};
  for (unsigned i = 0; name[0] == '[' && i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

wide_sum pseudo_kernel_weight(const struct view_tree *tree) {
  wide_sum kernel = 0, without_samples = 0, others = 0;
  for (uint32_t i = 1; i < tree->node_count; i++) {
    const struct view_node *node = &tree->nodes[i];
    bool is_kernel = strcmp(tree->functions[node->function].name, PSEUDO_KERNEL) == 0;
    if (is_kernel) kernel += node->self_weight;
    if (node->self_count == 0) *(is_kernel ? &without_samples : &others) += node->self_weight;
  }
  if (!(tree->evidence.squares > 0)) return without_samples;
  wide_sum sampled = (wide_sum)tree->evidence.weight;
  wide_sum by_clocks = tree->total_weight > sampled ? tree->total_weight - sampled : 0;
  by_clocks = by_clocks > others ? by_clocks - others : 0;
  return by_clocks < kernel ? by_clocks : kernel;
}

const char *pseudo_hints_kernel(const struct view_tree *tree) {
  wide_sum weight = 0, named = 0;
  uint64_t count = 0;
  for (uint32_t i = 1; i < tree->node_count; i++) {
    const struct view_node *node = &tree->nodes[i];
    const struct view_function *function = &tree->functions[node->function];
    if (function->module == NULL || strcmp(function->module, PSEUDO_KERNEL) != 0) continue;
    bool is_named = strcmp(function->name, PSEUDO_KERNEL) != 0;
    named += is_named ? node->self_weight : 0;
    weight += is_named ? 0 : node->self_weight;
    count = sum_of(count, is_named ? 0 : node->self_count);
  }
  if ((double)weight < PSEUDO_TOLD_SHARE * (double)tree->total_weight || weight == 0) return NULL;
  if (named > 0) return NULL;
  return count > 0 ? nameless : closed;
}

const char *pseudo_hints_rest_meaning(void) {
  return rest;
}

const char *pseudo_hints_rest(const struct view_tree *tree) {
  return tree->has_rest ? rest : NULL;
}

const char *pseudo_hints_unsampled(const struct view_tree *tree, unsigned samplers) {
  static const char *const hints[] = {BY_PERF "; " BY_TIMER, BY_PERF, BY_TIMER,
                                      BY_PERF "; " BY_TIMER};
  wide_sum weight = 0;
  for (uint32_t i = 1; i < tree->node_count; i++) {
    const struct view_node *node = &tree->nodes[i];
    if (strcmp(tree->functions[node->function].name, PSEUDO_UNSAMPLED) == 0)
      weight += node->self_weight;
  }
  if (weight == 0 || (double)weight < PSEUDO_TOLD_SHARE * (double)tree->total_weight) return NULL;
  return hints[samplers % HINT_SAMPLERS];
}
