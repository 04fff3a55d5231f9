/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram is never emptied: what is shipped is how far each counter has moved from what stands
   for it in `taken`.  A pass compares the two block by block and takes the blocks that differ:

     1. redo[] = the counters of the block as they are now; window and tally get the differences
     2. the books are written down as they will be (counter_page.h), with taken_serial + 1
     3. taken[] = redo[]                 4. taken_serial + 1            5. the books are switched

   Killed before 2, nothing was taken.  Killed after it, the next worker does 3 to 5 again, which
   comes to the same however far they had come: what was in the dead worker's window is in the books
   and lost, and known to be.

   `outside` has no address: it is [unknown].  `saturated` and `contended` are known as time and not
   as place: [unsampled].  Bins that no region claims (image.c) are [unknown], too.  So the sum of
   what is shipped is the handler's own `samples`.

   Counters are the target's to write.  A growth that no number of CPUs could have made since the
   process began is one bad record and no weight. */
#include "histogram_drain.h"

#include "common/clock.h"
#include "ring/histogram_reader.h"
#include "targets/image.h"
#include "targets/process_maps.h"
#include "targets/timer_ring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PASS_INTERVAL_NS NS_PER_SECOND
#define ALLOWED_EXTRA 10000 /* expiries, beyond what the clock says */

enum { SLOT_OF_ALL = 0 };

/* One pass over one target. */
struct pass {
  struct drain *drain;
  struct target *target;
  struct histogram_header *header;
  struct histogram_reader reader;
  uint8_t *taken;
  uint64_t allowed;                    /* units that may still come */
  uint32_t modules[IMAGE_MODULES_MAX]; /* of the image -> of the daemon; MODULE_NONE: not asked */
  uint32_t order[IMAGE_REGIONS_MAX];   /* regions by first_bin */
  uint32_t region_count;
};

static struct histogram_header *header_of(const struct target *target) {
  return (struct histogram_header *)(void *)(target->ring.base + HISTOGRAM_OFFSET);
}

static uint32_t load_counter(const uint8_t *counters, uint32_t counter_bytes, uint32_t index) {
  const volatile uint8_t *at = counters + (uint64_t)index * counter_bytes;
  if (counter_bytes == 1) return *at;
  if (counter_bytes == 2) return *(const volatile uint16_t *)(const volatile void *)at;
  return *(const volatile uint32_t *)(const volatile void *)at;
}

static void store_counter(uint8_t *counters, uint32_t counter_bytes, uint32_t index,
                          uint32_t value) {
  volatile uint8_t *at = counters + (uint64_t)index * counter_bytes;
  if (counter_bytes == 1)
    *at = (uint8_t)value;
  else if (counter_bytes == 2)
    *(volatile uint16_t *)(volatile void *)at = (uint16_t)value;
  else
    *(volatile uint32_t *)(volatile void *)at = value;
}

static uint8_t *taken_of(const struct target *target) {
  const struct hold_target *held = &target->held;
  uint64_t counters = (uint64_t)held->bin_count * held->counter_bytes;
  return target->ring.base + HISTOGRAM_OFFSET + HISTOGRAM_HEADER_BYTES + counters;
}

/* Steps 3 and 4, from what stands in redo; sizes are the daemon's own. */
static void redo(const struct target *target, uint64_t serial) {
  struct histogram_header *header = header_of(target);
  const struct hold_target *held = &target->held;
  uint8_t *taken = taken_of(target);
  uint32_t first = header->redo_first, count = header->redo_count;
  if (count > HISTOGRAM_REDO_BINS || first > held->bin_count || count > held->bin_count - first)
    count = 0;
  for (uint32_t i = 0; i < count; i++)
    store_counter(taken, held->counter_bytes, first + i, header->redo[i]);
  for (unsigned i = 0; i < HISTOGRAM_RESTS; i++) header->taken_rest[i] = header->redo_rest[i];
  atomic_thread_fence(memory_order_release); /* a kill sees stores in program order */
  *(volatile uint64_t *)&header->taken_serial = serial;
}

bool histogram_drain_recover(const struct target *target, uint64_t serial) {
  uint64_t now = header_of(target)->taken_serial;
  if (now != serial && now + 1 != serial) return false;
  redo(target, serial);
  return true;
}

static void sum_taken(struct target *target) {
  const struct hold_target *held = &target->held;
  const struct histogram_header *header = header_of(target);
  const uint8_t *taken = taken_of(target);
  for (uint32_t i = 0; i < held->bin_count; i++)
    target->taken_units += load_counter(taken, held->counter_bytes, i);
  for (unsigned i = 0; i < HISTOGRAM_RESTS; i++) target->taken_units += header->taken_rest[i];
}

/* What all CPUs together can have spent in the process and its children since it began. */
static uint64_t allowance(struct target *target) {
  if (!target->is_summed) sum_taken(target);
  target->is_summed = true;
  uint64_t start = proc_ticks_to_ns(target->held.start_ticks), now = clock_boottime_ns();
  uint64_t age = now > start ? now - start : 0;
  long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  uint64_t units = age / target->held.unit_ns * (uint64_t)(cpus > 0 ? cpus : 1);
  units += units / 10 + ALLOWED_EXTRA;
  return units > target->taken_units ? units - target->taken_units : 0;
}

static int by_first_bin(const void *left, const void *right, void *context) {
  const struct image_region *regions = context;
  const struct image_region *a = &regions[*(const uint32_t *)left];
  const struct image_region *b = &regions[*(const uint32_t *)right];
  return a->first_bin < b->first_bin ? -1 : a->first_bin > b->first_bin;
}

static void sort_regions(struct pass *pass) {
  struct image_table *image = &pass->reader.image;
  pass->region_count = image->region_count + image->retired_count;
  for (uint32_t i = 0; i < pass->region_count; i++) pass->order[i] = i;
  qsort_r(pass->order, pass->region_count, sizeof pass->order[0], by_first_bin, image->regions);
  memset(pass->modules, 0xff, sizeof pass->modules);
}

/* The region that BIN is of, or NULL. */
static const struct image_region *find_region(const struct pass *pass, uint32_t bin) {
  const struct image_region *regions = pass->reader.image.regions, *found = NULL;
  uint32_t low = 0, high = pass->region_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (regions[pass->order[middle]].first_bin <= bin)
      low = middle + 1;
    else
      high = middle;
  }
  if (low > 0) found = &regions[pass->order[low - 1]];
  if (found == NULL) return NULL;
  uint64_t offset = (uint64_t)(bin - found->first_bin) * pass->reader.bin_bytes;
  return offset < found->end - found->start ? found : NULL;
}

static uint32_t find_module(struct pass *pass, uint32_t index) {
  if (pass->modules[index] == MODULE_NONE) {
    const struct image_module *module = &pass->reader.image.modules[index];
    struct batch_module known = {.id = span_of(module->id, module->id_len),
                                 .path = module->path,
                                 .size_bytes = module->size_bytes,
                                 .kind = module->id_len > 0 ? MODULE_ELF : MODULE_PSEUDO};
    pass->modules[index] = modules_adopt(pass->drain->modules, &known);
  }
  return pass->modules[index];
}

/* COUNT units in one frame, unless they are more than there can be. */
static void add_units(struct pass *pass, const struct code_frame *frame, uint64_t count,
                      struct counters *tally) {
  struct target *target = pass->target;
  bool is_place = frame->module != MODULE_UNSAMPLED && frame->module != MODULE_UNKNOWN;
  if (count == 0) return;
  if (count > pass->allowed) {
    drain_add_bad(pass->drain, tally);
    return;
  }
  pass->allowed -= count;
  target->taken_units += count;
  struct drain_frame of = {.frame = *frame,
                           .type = is_place ? SAMPLE_CPU_LR : SAMPLE_CPU,
                           .count = count,
                           .weight_ns = count * target->held.unit_ns};
  drain_add_frame(pass->drain, target, &of, tally);
}

static void add_bin(struct pass *pass, uint32_t bin, uint32_t count, struct counters *tally) {
  struct code_frame frame = {.module = MODULE_UNKNOWN};
  const struct image_region *region = find_region(pass, bin);
  if (region != NULL) {
    frame.module = find_module(pass, region->module);
    if (pass->reader.image.modules[region->module].id_len > 0)
      frame.address =
          region->address + (uint64_t)(bin - region->first_bin) * pass->reader.bin_bytes;
  }
  add_units(pass, &frame, count, tally);
}

/* Steps 2 to 5.  Returns the records booked. */
static uint64_t book(struct pass *pass, const struct counters *tally) {
  struct drain *drain = pass->drain;
  struct counters after = drain_after(drain, tally);
  struct counter_drain step = {
      .ring = pass->target->held.id, .slot = SLOT_OF_ALL, .tail = pass->header->taken_serial + 1};
  counter_page_prepare(drain->page, &step, &after);
  redo(pass->target, step.tail);
  counter_page_commit(drain->page);
  return tally->produced;
}

static void keep_rests(struct histogram_header *header) {
  for (unsigned i = 0; i < HISTOGRAM_RESTS; i++) header->redo_rest[i] = header->taken_rest[i];
}

static uint64_t take_block(struct pass *pass, uint32_t first, uint32_t count) {
  struct histogram_header *header = pass->header;
  struct counters tally = {0};
  uint32_t width = pass->reader.counter_bytes;
  header->redo_first = first;
  header->redo_count = count;
  keep_rests(header);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t before = load_counter(pass->taken, width, first + i);
    uint32_t now = histogram_reader_count(&pass->reader, first + i);
    header->redo[i] = now > before ? now : before;
    if (now > before) add_bin(pass, first + i, now - before, &tally);
  }
  return book(pass, &tally);
}

static uint64_t take_rests(struct pass *pass, const struct histogram_totals *totals) {
  struct histogram_header *header = pass->header;
  const uint64_t now[HISTOGRAM_RESTS] = {totals->outside, totals->saturated, totals->contended};
  static const uint32_t shown[HISTOGRAM_RESTS] = {MODULE_UNKNOWN, MODULE_UNSAMPLED,
                                                  MODULE_UNSAMPLED};
  struct counters tally = {0};
  bool has_more = false;
  header->redo_count = 0;
  keep_rests(header);
  for (unsigned i = 0; i < HISTOGRAM_RESTS; i++) {
    uint64_t before = header->taken_rest[i];
    if (now[i] <= before) continue;
    struct code_frame frame = {.module = shown[i]};
    has_more = true;
    header->redo_rest[i] = now[i];
    add_units(pass, &frame, now[i] - before, &tally);
  }
  return has_more ? book(pass, &tally) : 0;
}

/* What a window has no room for waits where it is: the counters keep it. */
static uint64_t take_blocks(struct pass *pass) {
  uint64_t records = 0;
  uint32_t bins = pass->header->bins_used, width = pass->reader.counter_bytes;
  const uint8_t *counters = pass->reader.base + pass->reader.counters_offset;
  if (bins > pass->reader.bin_count) bins = pass->reader.bin_count;
  for (uint32_t first = 0; first < bins; first += HISTOGRAM_REDO_BINS) {
    uint32_t count = bins - first < HISTOGRAM_REDO_BINS ? bins - first : HISTOGRAM_REDO_BINS;
    size_t at = (size_t)first * width;
    if (memcmp(counters + at, pass->taken + at, (size_t)count * width) == 0) continue;
    if (window_is_nearly_full(pass->drain->window)) break;
    records += take_block(pass, first, count);
  }
  return records;
}

/* Code that was mapped since the last look: its samples are outside until then. */
static void follow_mappings(struct drain *drain, struct target *target, uint64_t outside) {
  if (outside == target->seen_outside) return;
  struct process *process =
      processes_get(drain->processes, target->held.pid, target->held.id, target->fds[1]);
  if (process == NULL || !process_refresh(drain->processes, process, target->fds[1])) return;
  target->seen_outside = outside;
  image_update(target, drain->modules, process);
}

static uint64_t run_pass(struct drain *drain, struct target *target) {
  struct pass *pass = calloc(1, sizeof *pass);
  struct histogram_totals totals;
  if (pass == NULL) return 0;
  uint64_t records = 0;
  *pass = (struct pass){.drain = drain, .target = target, .header = header_of(target)};
  int error = histogram_reader_open(&pass->reader, target->ring.base,
                                    timer_ring_bytes(&target->held), true);
  const struct hold_target *held = &target->held;
  bool is_ours = error == 0 && pass->reader.bin_count == held->bin_count &&
                 pass->reader.counter_bytes == held->counter_bytes &&
                 pass->reader.bin_bytes == held->bin_bytes;
  if (is_ours) {
    pass->taken = taken_of(target);
    pass->allowed = allowance(target);
    sort_regions(pass);
    histogram_reader_totals(&pass->reader, &totals);
    records = take_blocks(pass) + take_rests(pass, &totals);
  } else if (!target->is_bad) { /* headers that the target has spoilt */
    target->is_bad = true;
    drain->figures.bad_records++;
    counter_page_produce(drain->page, 1);
    counter_page_drop(drain->page, LOSS_BAD_RECORD, 1);
  }
  free(pass);
  return records;
}

uint64_t histogram_drain_run(struct drain *drain, struct target *target, bool is_last) {
  struct histogram_header *header = header_of(target);
  uint64_t now = clock_monotonic_ns();
  if (!is_last && now - target->passed_ns < PASS_INTERVAL_NS) return 0;
  target->passed_ns = now;
  follow_mappings(drain, target, atomic_load_explicit(&header->outside, memory_order_relaxed));
  return run_pass(drain, target);
}

void histogram_drain_totals(const struct target *target, struct histogram_totals *ret) {
  struct histogram_reader *reader = &(struct histogram_reader){.base = target->ring.base};
  histogram_reader_totals(reader, ret);
}

void histogram_drain_explain(const struct target *target, char *why, size_t len) {
  struct histogram_totals totals;
  *why = '\0';
  if (target->held.kind != HOLD_TIMER || target->held.collect != RING_HISTOGRAM) return;
  histogram_drain_totals(target, &totals);
  if (totals.saturated > 0)
    snprintf(why, len, "%llu of %llu samples found their counter of %u bytes full",
             (unsigned long long)totals.saturated, (unsigned long long)totals.samples,
             target->held.counter_bytes);
}
