/* SPDX-License-Identifier: Apache-2.0 */
/* A target with a ring on standby behind perf also has a map, which is filled when the ring becomes
   active.  The mappings of timer targets are combined separately from those that perf samples are
   unwound with (walk/walker.h), so that neither evicts the other's. */
#include "regions.h"
#include "worker.h"

#include "walk/target_regions.h"

#include <errno.h>
#include <stdlib.h>

struct regions {
  struct table_share share;
  struct process_codes codes;
};

int regions_open(struct worker *worker, struct regions **ret) {
  struct regions *regions = calloc(1, sizeof *regions);
  if (regions == NULL) return -ENOMEM;
  table_share_open(&regions->share, &worker->keeper->tables);
  process_codes_init(&regions->codes, worker->modules, worker->tables);
  *ret = regions;
  return 0;
}

void regions_close(struct regions *regions) {
  if (regions == NULL) return;
  process_codes_fini(&regions->codes);
  table_share_close(&regions->share);
  free(regions);
}

void regions_step_target(struct worker *worker, struct target *target) {
  const struct target_regions_parts parts = {.processes = worker->processes,
                                             .modules = worker->modules,
                                             .codes = &worker->regions->codes,
                                             .store = worker->tables,
                                             .share = &worker->regions->share,
                                             .is_for_all = worker->settings->is_system};
  target_regions_step(&parts, target);
}

void regions_step(struct worker *worker) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++)
    if (worker->targets.rows[row] != NULL) regions_step_target(worker, worker->targets.rows[row]);
}

void regions_figures(const struct regions *regions, struct regions_figures *ret) {
  const struct table_share *share = &regions->share;
  *ret = (struct regions_figures){.bytes = share->memory->bytes,
                                  .used_bytes = share->memory->bytes != 0 ? share->used : 0,
                                  .modules = share->count - share->left_out,
                                  .left_out = share->left_out};
}
