/* SPDX-License-Identifier: Apache-2.0 */
#include "code_ranges.h"

#include <string.h>

/* The gap between range INDEX and the next one; 0 if they overlap. */
static uint64_t gap_behind(const struct code_range *ranges, uint32_t index) {
  const struct code_range *range = &ranges[index];
  return range[1].low > range->high ? range[1].low - range->high : 0;
}

static void join(struct code_range *ranges, uint32_t *count, uint32_t index) {
  struct code_range *range = &ranges[index];
  if (range[1].high > range->high) range->high = range[1].high;
  memmove(range + 1, range + 2, (*count - index - 2) * sizeof *range);
  --*count;
}

void code_ranges_add(struct code_ranges *ranges, uint64_t low, uint64_t high) {
  struct code_range all[CODE_RANGES_MAX + 1];
  uint32_t count = ranges->count, at = 0;
  if (low >= high) return;
  while (at < count && ranges->ranges[at].low <= low) at++;
  memcpy(all, ranges->ranges, at * sizeof *all);
  memcpy(all + at + 1, ranges->ranges + at, (count - at) * sizeof *all);
  all[at] = (struct code_range){low, high};
  count++;
  while (count > 1) {
    uint32_t nearest = 0;
    for (uint32_t i = 1; i + 1 < count; i++)
      if (gap_behind(all, i) < gap_behind(all, nearest)) nearest = i;
    if (count <= CODE_RANGES_MAX && gap_behind(all, nearest) >= CODE_RANGES_NEAR_BYTES) break;
    join(all, &count, nearest);
  }
  memcpy(ranges->ranges, all, count * sizeof *all);
  ranges->count = count;
}

const struct code_range *code_ranges_from(const struct code_ranges *ranges, uint64_t address) {
  for (uint32_t i = 0; i < ranges->count; i++)
    if (ranges->ranges[i].high > address) return &ranges->ranges[i];
  return NULL;
}
