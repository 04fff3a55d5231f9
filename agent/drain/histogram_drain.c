/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram is never emptied. Its growth beyond `taken` is shipped, and histogram_books.h makes
   sure that this happens exactly once. So there is no deadline for reading it. Counters are read
   (histogram_pass.c) only when a window is about to close, and are accounted for only when the
   window is spooled (shipper.c). A worker killed before that has lost none of it.

   Meanwhile a check each second updates the target's figures, which users and the budget need, and
   its image. Code mapped since the last check counts as outside until then. */
#include "histogram_drain.h"
#include "histogram_pass.h"

#include "census/census.h"
#include "common/clock.h"
#include "ring/histogram_reader.h"
#include "targets/image.h"
#include "targets/processes.h"
#include "targets/timer_ring.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define FOLLOW_INTERVAL_NS NS_PER_SECOND

static bool is_histogram(const struct target *target) {
  return target != NULL && target->held.kind == HOLD_TIMER &&
         target->held.collect == RING_HISTOGRAM;
}

static void open_books(const struct target *target, struct histogram_books *ret) {
  const struct histogram_shape shape = timer_ring_shape(&target->held);
  histogram_books_open(ret, target->ring.base, &shape);
}

static void add_sum(struct histogram_sum *sum, struct histogram_sum more) {
  sum->records += more.records;
  sum->units += more.units;
}

/* Reads the amount and time shipped by an earlier worker, which the target could have changed. */
static void begin(struct target *target, const struct histogram_books *books) {
  uint64_t start = proc_ticks_to_ns(target->held.start_ticks), now = clock_boottime_ns();
  uint64_t taken_ns = *(volatile uint64_t *)&books->header->taken_boottime_ns;
  target->kept.taken = target->kept.seen = histogram_books_sum(books);
  target->kept.unshipped_since_ns = taken_ns > start && taken_ns < now ? taken_ns : start;
  target->kept.is_summed = true;
}

/* Returns the number of new records, by the handler's own count. */
static uint64_t look(struct target *target, const struct histogram_totals *totals) {
  struct histogram_books books;
  uint64_t now = clock_boottime_ns();
  open_books(target, &books);
  if (!target->kept.is_summed) begin(target, &books);
  struct histogram_sum more = histogram_totals_since(totals, target->kept.seen);
  if (more.records == 0 && target->kept.seen.records <= target->kept.taken.records) {
    target->kept.unshipped_since_ns = now;
    *(volatile uint64_t *)&books.header->taken_boottime_ns = now;
  }
  if (totals->samples > totals->units || totals->units > histogram_pass_units_max(target)) return 0;
  add_sum(&target->kept.seen, more);
  census_signals_shared(target, more.records);
  target->records += more.records;
  target->weight_ns += more.units * target->held.unit_ns;
  return more.records;
}

static void follow_mappings(struct drain *drain, struct target *target, uint64_t outside) {
  if (outside == target->kept.seen_outside) return;
  struct process *process =
      processes_get(drain->processes, target->held.pid, target->held.id, target->fds[1]);
  if (process == NULL || !process_refresh(drain->processes, process, target->fds[1])) return;
  target->kept.seen_outside = outside;
  image_update(target, drain->modules, process);
}

uint64_t histogram_drain_run(struct drain *drain, struct target *target, bool is_whole) {
  struct histogram_totals totals;
  struct histogram_books books;
  uint64_t now = clock_monotonic_ns();
  if (!is_whole && now - target->kept.passed_ns < FOLLOW_INTERVAL_NS) return 0;
  target->kept.passed_ns = now;
  histogram_drain_totals(target, &totals);
  uint64_t records = look(target, &totals);
  follow_mappings(drain, target, totals.outside);
  if (!is_whole) return records;
  if (target->kept.is_waiting) return 0;
  open_books(target, &books);
  target->kept.waiting = histogram_pass_run(drain, target, &books);
  target->kept.is_waiting = true;
  add_sum(&target->kept.taken, target->kept.waiting);
  return target->kept.waiting.records;
}

uint64_t histogram_drain_unshipped(const struct target *target, uint64_t *ret_since_ns) {
  if (!is_histogram(target) || !target->kept.is_summed) return 0;
  if (target->kept.seen.records <= target->kept.taken.records) return 0;
  *ret_since_ns = target->kept.unshipped_since_ns;
  return target->kept.seen.records - target->kept.taken.records;
}

/* The journal of a shipped batch must survive a power cut: the disk would otherwise be older than
   the batch, and its counts would be sent again. For memory msync returns at once. */
static void sync_books(const struct target *target, const struct histogram_books *books) {
  uintptr_t begin = (uintptr_t)books->taken, end = (uintptr_t)(books->journal + 1);
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  if (!target->held.is_file) return;
  begin -= begin % page;
  msync((void *)begin, end - begin, MS_SYNC);
}

uint64_t histogram_drain_seal(struct drain *drain, struct histogram_note note, uint64_t *since_ns) {
  uint64_t records = 0;
  struct histogram_books books;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = drain->targets->rows[row];
    if (!is_histogram(target) || !target->kept.is_waiting) continue;
    if (target->kept.waiting.records == 0) continue;
    open_books(target, &books);
    histogram_books_seal(&books, note);
    sync_books(target, &books);
    if (target->kept.unshipped_since_ns < *since_ns) *since_ns = target->kept.unshipped_since_ns;
    records += target->kept.waiting.records;
  }
  return records;
}

static void take_back(struct target_kept *kept) {
  kept->taken.records -= kept->waiting.records;
  kept->taken.units -= kept->waiting.units;
}

void histogram_drain_settle(struct drain *drain, bool is_shipped) {
  struct histogram_books books;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = drain->targets->rows[row];
    if (!is_histogram(target) || !target->kept.is_waiting) continue;
    open_books(target, &books);
    histogram_books_settle(&books, is_shipped);
    if (is_shipped)
      target->kept.unshipped_since_ns = clock_boottime_ns();
    else
      take_back(&target->kept);
    target->kept.is_waiting = false;
    target->kept.waiting = (struct histogram_sum){0, 0};
  }
}

struct histogram_note histogram_drain_note(const struct target *target) {
  struct histogram_books books;
  if (!is_histogram(target)) return (struct histogram_note){0, 0};
  open_books(target, &books);
  return histogram_books_note(&books);
}

void histogram_drain_recover(struct target *target, bool is_shipped) {
  struct histogram_books books;
  if (!is_histogram(target)) return;
  open_books(target, &books);
  histogram_books_settle(&books, is_shipped);
}

void histogram_drain_totals(const struct target *target, struct histogram_totals *ret) {
  struct histogram_reader *reader = &(struct histogram_reader){.base = target->ring.base};
  histogram_reader_totals(reader, ret);
}

bool histogram_drain_is_full(const struct target *target) {
  struct histogram_totals totals;
  if (!is_histogram(target)) return false;
  histogram_drain_totals(target, &totals);
  return totals.saturated > 0;
}

void histogram_drain_explain(const struct target *target, char *why, size_t len) {
  struct histogram_totals totals;
  *why = '\0';
  if (!is_histogram(target)) return;
  histogram_drain_totals(target, &totals);
  if (totals.saturated > 0)
    snprintf(why, len, "%llu of %llu samples found their counter of %u bytes full",
             (unsigned long long)totals.saturated, (unsigned long long)totals.samples,
             target->held.counter_bytes);
}
