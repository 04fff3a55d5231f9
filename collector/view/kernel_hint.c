/* SPDX-License-Identifier: Apache-2.0 */
/* [kernel] alone has two causes.  Without samples it is time that clocks told: the kernel was not
   sampled, for want of the right.  With samples it is addresses that could not be read. */
#include "kernel_hint.h"

#include <string.h>

#define KERNEL "[kernel]"

static const double worth_a_hint = 0.1;

static const char closed[] =
    "the kernel's functions were not sampled: they are for root, CAP_PERFMON (CAP_SYS_ADMIN before "
    "Linux 5.8), or every user where kernel.perf_event_paranoid is 1 "
    "(sysctl kernel.perf_event_paranoid=1)";
static const char nameless[] =
    "the kernel's functions have no names: the daemon could not read their addresses; it needs "
    "CAP_SYSLOG and kernel.kptr_restrict 0 or 1 (sysctl kernel.kptr_restrict=1)";

const char *kernel_hint(const struct view_tree *tree) {
  uint64_t weight = 0, count = 0, named = 0;
  for (uint32_t i = 1; i < tree->node_count; i++) {
    const struct view_node *node = &tree->nodes[i];
    const struct view_function *function = &tree->functions[node->function];
    if (function->module == NULL || strcmp(function->module, KERNEL) != 0) continue;
    bool is_named = strcmp(function->name, KERNEL) != 0;
    named += is_named ? node->self_weight : 0;
    weight += is_named ? 0 : node->self_weight;
    count += is_named ? 0 : node->self_count;
  }
  if ((double)weight < worth_a_hint * (double)tree->total_weight || weight == 0) return NULL;
  if (named > 0) return NULL;
  return count > 0 ? nameless : closed;
}
