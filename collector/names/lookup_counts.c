/* SPDX-License-Identifier: Apache-2.0 */
/* Counts each distinct address of a query once, not each sample: it measures work and its results.
   Each counter is independent: relaxed. */
#include "lookup_counts.h"

#include "common/buf.h"

#include <inttypes.h>
#include <stdatomic.h>

static _Atomic uint64_t translated;
static _Atomic uint64_t of_quality[DEBUG_DWARF + 1 - DEBUG_NONE];

void lookup_counts_add(enum debug_quality quality, bool is_translated) {
  if (quality < DEBUG_NONE || quality > DEBUG_DWARF) return;
  atomic_fetch_add_explicit(is_translated ? &translated : &of_quality[quality - DEBUG_NONE], 1,
                            memory_order_relaxed);
}

static void print_one(struct buf *ret, const char *result, _Atomic uint64_t *count) {
  buf_printf(ret, "fleetprof_names_lookups_total{result=\"%s\"} %" PRIu64 "\n", result,
             atomic_load_explicit(count, memory_order_relaxed));
}

void lookup_counts_print(struct buf *ret) {
  buf_append_string(ret, "# HELP fleetprof_names_lookups_total Addresses that questions looked up, "
                         "by what named them.\n"
                         "# TYPE fleetprof_names_lookups_total counter\n");
  for (int quality = DEBUG_NONE; quality <= DEBUG_DWARF; quality++)
    print_one(ret, debug_quality_name((enum debug_quality)quality),
              &of_quality[quality - DEBUG_NONE]);
  print_one(ret, "translator", &translated);
}
