/* SPDX-License-Identifier: Apache-2.0 */
/* A batch carries the run's counters as they will be after it is spooled, so the collector can
   always determine the missing records. The order is: append, then count as shipped. If a worker is
   killed in between, its successor detects it: the spool has a seq that the counters lack. Then the
   open records are exactly those of that batch (nothing is drained between closing a window and
   counting it). If the spool lacks the batch, it was in memory and is lost: counted as
   worker_killed.

   Records of a histogram in the window are still in its counters, and are not yet counted. They are
   recorded as produced right before the batch is appended, and count if the spool has that batch.
   If it has not, they are treated as never read.

   A target that ends has its window closed at once. But a build or a script ends hundreds of
   targets per second, and a batch costs as much as draining one of them. So ends within
   ENDS_TOGETHER_NS share a batch. Facts that are known only at a target's end are put into the
   window then: achieved rate, marks, sampler and why. After that the target is forgotten.

   The last batch of a run is marked final. A run with a killed supervisor has none: the next run on
   this state finds its page and closes its counters, in the page first. If a worker is killed
   before it has removed the page, the next worker repeats that, under the next seq. */
#include "shipper.h"

#include "census/census.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/sums.h"
#include "drain/histogram_drain.h"
#include "drain/target_state.h"
#include "intake/cpu_list.h"
#include "proto/batch_codec.h"
#include "proto/compress.h"
#include "proto/limits.h"
#include "ring/wide.h"
#include "targets/image.h"
#include "targets/perf_threads.h"
#include "targets/rate.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>

enum {
  ZSTD_LEVEL = 1, /* level 3 saves 4 % of the bytes and takes twice the time */
  FIRST_SEQ = 1,
  TAKEN_FACTOR = 2, /* a collector accepts this multiple of CPUs times (window + slack) */
};
#define TAKEN_SLACK_NS (60 * NS_PER_SECOND)
#define ENDS_TOGETHER_NS NS_PER_SECOND

/* A series keeps its target's initial values; these are the current ones. */
static void tell_target(void *context, uint32_t id, struct window_told *ret) {
  const struct drain *drain = context;
  struct target *target = targets_find(drain->targets, id);
  ret->marks = drain->has_gone_on ? MARK_WENT_ON : 0;
  if (target == NULL) return;
  ret->achieved_mhz = target_achieved_mhz(target);
  ret->asked_mhz = rate_wish_mhz(target);
  ret->marks |= census_take_marks(target) | target_unsampled_marks(target);
  if (rate_take_stale(target)) ret->marks |= MARK_STALE_RATE;
  if (image_bin_bytes(target) > HISTOGRAM_BIN_BYTES_DEFAULT) ret->marks |= MARK_COARSE_BINS;
  if (histogram_drain_is_full(target)) ret->marks |= MARK_FULL_COUNTERS;
  if (target_take_pause(target)) ret->marks |= MARK_PAUSED;
  if (perf_threads_are_short(target)) ret->marks |= MARK_SHORT_LIVES;
  if (target->has_strays) ret->marks |= MARK_UNREACHED;
  target->has_strays = false;
  ret->sampler = target_sampler(target);
  target_explain(target, ret->why, sizeof ret->why);
}

/* Returns the least length of BATCH's window. A window begins with its first sample, or earlier if
   a collector would reject its weight (WIRE.md). All targets together use no more time than all
   CPUs have. So samples drained late, or time billed at the end of a process, are from before the
   first sample. The window is not extended further, since it is shared by all targets. */
static uint64_t least_window_ns(const struct batch *batch) {
  uint64_t weight_ns = 0;
  for (uint32_t i = 0; i < batch->sample_count; i++)
    weight_ns = sum_of(weight_ns, batch->samples[i].weight);
  uint64_t least_ns = weight_ns / (batch->cpus * TAKEN_FACTOR) + 1;
  return least_ns > TAKEN_SLACK_NS ? least_ns - TAKEN_SLACK_NS : 0;
}

/* Limits the window's weight to the CPU time that the board can have had since boot. Programs
   report the content of their rings. Each report is limited to the CPU time that the program can
   have used (timer_drain.c), but hundreds of lying programs together can exceed the board's;
   and one can exceed what a collector accepts in a batch. */
static void hold_to_boot(struct window *window) {
  uint64_t cpus = cpu_list_possible(), boot_ns = sum_of(clock_boottime_ns(), TAKEN_SLACK_NS);
  if (cpus == 0) return;
  uint64_t cut = window_limit_weight(window, boot_ns, cpus * TAKEN_FACTOR);
  if (cut > 0)
    log_warn("window: %llu programs claim more CPU time than this board had: theirs is left out",
             (unsigned long long)cut);
}

static void set_times(struct batch *batch, uint64_t start_boottime_ns) {
  uint64_t now = clock_boottime_ns(), wall = clock_walltime_ns();
  if (start_boottime_ns == 0 || start_boottime_ns > now) start_boottime_ns = now;
  batch->cpus = cpu_list_possible();
  uint64_t least_ns = batch->cpus > 0 ? least_window_ns(batch) : 0;
  if (now - start_boottime_ns < least_ns) start_boottime_ns = now > least_ns ? now - least_ns : 0;
  clock_boot_id(batch->boot_id);
  batch->end_boottime_ns = now;
  batch->start_boottime_ns = start_boottime_ns;
  batch->end_walltime_ns = wall;
  batch->start_walltime_ns = wall - (now - start_boottime_ns);
}

static int append(struct shipper *shipper, const struct batch *batch, uint64_t seq) {
  struct buf raw = {0}, packed = {0};
  int error = batch_encode(batch, &raw);
  if (!error) error = compress(buf_span(&raw), ZSTD_LEVEL, &packed);
  if (!error && packed.len > LIMIT_BATCH_ZSTD_BYTES) error = -EOVERFLOW;
  if (!error) {
    struct spool_item item = {.run = batch->counters.run,
                              .seq = seq,
                              .records = batch_record_count(batch),
                              .raw_len = (uint32_t)raw.len,
                              .zstd = buf_span(&packed)};
    error = shipper->file != NULL ? profile_file_append(shipper->file, &item)
                                  : spool_append(shipper->spool, &item);
  }
  buf_fini(&raw);
  buf_fini(&packed);
  return error;
}

/* The newest seq of RUN that is known to have been appended; 0 if none. */
static uint64_t last_seq_of(const struct shipper *shipper, uint64_t run) {
  return shipper->file != NULL ? profile_file_last_seq(shipper->file, run)
                               : spool_last_seq(shipper->spool, run);
}

/* A batch that belongs to no ring is recorded before it is spooled: the spool shows which batches
   were completed. */
static void recover_apart(struct shipper *shipper, struct counter_page *page) {
  struct counter_drain pending;
  if (!counter_page_has_pending(page, &pending) || pending.ring != DRAIN_RING_SPOOL) return;
  if (last_seq_of(shipper, counter_page_books(page)->run) >= pending.tail)
    counter_page_commit(page);
  else
    counter_page_forget(page);
}

/* Accounts for records that only the killed worker's memory had. */
static void recover_unsaved(struct counter_page *page) {
  uint64_t unsaved = wide_load(&page->unsaved);
  if (unsaved > 0) counter_page_unship(page, LOSS_WORKER_KILLED, unsaved);
  wide_store(&page->unsaved, 0);
}

static void recover_page(struct shipper *shipper, struct counter_page *page) {
  recover_apart(shipper, page);
  recover_unsaved(page);
  const struct counters *books = counter_page_books(page);
  uint64_t open = counters_open(books);
  uint64_t last_seq = last_seq_of(shipper, books->run);
  if (last_seq >= wide_load(&page->next_seq)) {
    counter_page_ship(page, open);
    wide_store(&page->next_seq, last_seq + 1);
  } else if (open > 0) {
    counter_page_drop(page, LOSS_WORKER_KILLED, open);
  }
}

bool shipper_has_spooled(const struct shipper *shipper, uint64_t run, uint64_t seq) {
  const struct counter_page *page = shipper->drain->page;
  if (run == 0) return false;
  if (last_seq_of(shipper, run) >= seq) return true;
  return run == counter_page_books(page)->run && wide_load(&page->next_seq) > seq;
}

static void recover_histograms(struct shipper *shipper) {
  const struct targets *targets = shipper->drain->targets;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    if (targets->rows[row] == NULL) continue;
    struct histogram_note note = histogram_drain_note(targets->rows[row]);
    histogram_drain_recover(targets->rows[row], shipper_has_spooled(shipper, note.run, note.seq));
  }
}

void shipper_recover(struct shipper *shipper) {
  recover_page(shipper, shipper->drain->page);
  recover_histograms(shipper);
}

void shipper_note_unsaved(const struct shipper *shipper) {
  struct counter_page *page = shipper->drain->page;
  uint64_t unsaved = spool_unsaved_of(shipper->spool, counter_page_books(page)->run);
  if (unsaved != wide_load(&page->unsaved)) wide_store(&page->unsaved, unsaved);
}

/* Counts new modules, which the collector may request soon. */
static void note_modules(struct shipper *shipper, const struct batch *batch) {
  for (uint32_t i = 0; i < batch->module_count; i++) {
    const struct batch_module *m = &batch->modules[i];
    if (m->kind != MODULE_ELF) continue;
    uint64_t hash = table_hash(m->id.data, m->id.len, 0);
    uint8_t *byte = &shipper->seen_modules[hash / 8 % sizeof shipper->seen_modules];
    uint8_t bit = (uint8_t)(1U << (hash & 7));
    if (!(*byte & bit)) shipper->new_modules++;
    *byte |= bit;
  }
}

static void sweep(struct shipper *shipper) {
  struct drain *drain = shipper->drain;
  if (!modules_is_full(drain->modules)) {
    processes_sweep(drain->processes);
    return;
  }
  modules_unmark(drain->modules);
  processes_sweep(drain->processes);
  kernel_frames_mark(&drain->kernel);
  modules_sweep(drain->modules);
}

/* Spools BATCH, with UNBOOKED records that are not yet counted.  Returns 0, or -errno: then the
   counters are unchanged. */
static int spool_batch(struct shipper *shipper, struct batch *batch, uint64_t unbooked) {
  struct counter_page *page = shipper->drain->page;
  uint64_t records = batch_record_count(batch), seq = wide_load(&page->next_seq);
  struct counters after = *counter_page_books(page);
  struct counter_drain step = {.ring = DRAIN_RING_SPOOL, .tail = seq};
  uint32_t is_final = batch->counters.final;
  after.produced += unbooked;
  if (unbooked > 0) counter_page_prepare(page, &step, &after);
  batch->counters = after;
  batch->counters.shipped += records;
  batch->counters.final = is_final;
  int error = append(shipper, batch, seq);
  if (error && unbooked > 0) counter_page_forget(page);
  if (error) return error;
  if (unbooked > 0) counter_page_commit(page);
  counter_page_ship(page, records);
  shipper_note_unsaved(shipper);
  note_modules(shipper, batch);
  shipper->batches++;
  return 0;
}

static void tell_batch(const struct shipper *shipper, uint64_t seq) {
  if (shipper->on_batch != NULL) shipper->on_batch(shipper->teller, seq);
}

void shipper_tell_batch(const struct shipper *shipper) {
  tell_batch(shipper, wide_load(&shipper->drain->page->next_seq) - 1);
}

static int spool_window(struct shipper *shipper, bool is_final) {
  struct drain *drain = shipper->drain;
  struct batch batch;
  uint64_t records = window_records(drain->window), start_ns = window_start_ns(drain->window);
  struct histogram_note note = {counter_page_books(drain->page)->run,
                                wide_load(&drain->page->next_seq)};
  uint64_t unbooked = histogram_drain_seal(drain, note, &start_ns);
  hold_to_boot(drain->window);
  int error = window_batch(drain->window, tell_target, drain, &batch);
  if (!error) {
    set_times(&batch, start_ns);
    batch.counters.final = is_final;
    /* The cost is not used in a file. */
    if (shipper->file == NULL && shipper->tell != NULL)
      shipper->tell(shipper->teller, &batch.effort);
    error = spool_batch(shipper, &batch, unbooked);
  }
  if (error) counter_page_drop(drain->page, LOSS_SPOOL_ERROR, records - unbooked);
  tell_batch(shipper, error ? 0 : note.seq);
  histogram_drain_settle(drain, error == 0);
  return error;
}

int shipper_close_window(struct shipper *shipper, bool is_final) {
  struct counter_page *page = shipper->drain->page;
  struct window *window = shipper->drain->window;
  bool has_begun = counter_page_books(page)->produced > 0 || wide_load(&page->next_seq) > FIRST_SEQ;
  if (shipper->ends > 0) shipper->ends_shipped_ns = clock_monotonic_ns();
  shipper->ends = 0;
  if (window_is_empty(window) && !(is_final && has_begun)) {
    histogram_drain_settle(shipper->drain, true); /* nothing, or rejected values */
    sweep(shipper);
    return 0;
  }
  int error = spool_window(shipper, is_final);
  if (error && error != shipper->last_error)
    log_warn("spool batch: not written: %s", strerror(-error));
  shipper->last_error = error;
  if (error) shipper->lost_error = error;
  if (is_final && !error) counter_page_end_run(page);
  window_clear(window);
  sweep(shipper);
  malloc_trim(0);
  return error;
}

void shipper_end_target(struct shipper *shipper, uint32_t target) {
  struct window_told told = {.sampler = NULL};
  tell_target(shipper->drain, target, &told);
  window_tell_target(shipper->drain->window, target, &told);
  shipper->ends++;
  if (window_is_nearly_full(shipper->drain->window)) shipper_close_window(shipper, false);
}

bool shipper_ship_ends(struct shipper *shipper) {
  uint64_t passed_ns = clock_monotonic_ns() - shipper->ends_shipped_ns;
  if (shipper->ends == 0 || passed_ns < ENDS_TOGETHER_NS) return false;
  shipper_close_window(shipper, false);
  return true;
}

int shipper_ship_apart(struct shipper *shipper, struct batch *batch) {
  return spool_batch(shipper, batch, batch_record_count(batch));
}

int shipper_close_old_run(struct shipper *shipper, struct counter_page *old) {
  struct batch batch = {.module_count = 0};
  recover_apart(shipper, old);
  counter_page_forget(old); /* a drain of a ring that no longer exists */
  recover_page(shipper, old);
  batch.counters = *counter_page_books(old);
  batch.counters.final = 1;
  set_times(&batch, 0);
  memcpy(batch.boot_id, old->boot_id, sizeof batch.boot_id);
  return append(shipper, &batch, wide_load(&old->next_seq));
}
