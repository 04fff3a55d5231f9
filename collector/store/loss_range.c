/* SPDX-License-Identifier: Apache-2.0 */
/* Records lost in a range of time, by reason. Sums of changes, because records that were given
   up may still arrive. */
#include "common/sums.h"
#include "day_reader.h"
#include "day_visit.h"
#include "store_read.h"

struct loss_sum {
  const struct store_names *boards;
  uint64_t from_ms, to_ms;
  int64_t records[LOSS_REASON_COUNT];
};

/* A window's losses are counted at its time, unless the day's earlier ones were deleted with
   their file. */
static int sum_day(void *context, uint32_t day, struct day_files *files) {
  struct loss_sum *sum = context;
  (void)day;
  struct day_losses losses = {.from_ms = sum->from_ms, .to_ms = sum->to_ms, .boards = sum->boards};
  struct day_reader *hours = files->readers[DAY_HOURS], *windows = files->readers[DAY_WINDOWS];
  bool is_whole = windows != NULL && !files->state.hours.has_others;
  int error = 0;
  files->failed = DAY_HOURS;
  if (hours != NULL && !is_whole) {
    error = day_reader_loss(hours, &losses, sum->records);
    if (error == 0)
      error = day_reader_rolled_loss(hours, files->state.windows.source, &losses.after_id);
  }
  if (error != 0 || windows == NULL) return error;
  files->failed = DAY_WINDOWS;
  return day_reader_loss(windows, &losses, sum->records);
}

int store_loss_in_range(struct store *store, const struct store_names *boards, uint64_t from_ms,
                        uint64_t to_ms, const struct cutoff *cutoff, uint64_t *loss) {
  struct loss_sum sum = {.boards = boards, .from_ms = from_ms, .to_ms = to_ms};
  const uint64_t range_ms[2] = {from_ms, to_ms};
  struct day_visitor visitor = {.on_day = sum_day, .context = &sum, .cutoff = cutoff};
  int error = day_visit(store, range_ms, &visitor);
  if (error != 0) return error;
  /* A correction may lie outside the range of its loss: a late batch closed a gap. */
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++)
    if (sum.records[i] > 0) loss[i] = sum_of(loss[i], (uint64_t)sum.records[i]);
  return 0;
}
