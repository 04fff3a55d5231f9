/* SPDX-License-Identifier: Apache-2.0 */
/* The slots of a target's ring, each read once, copied, decoded from the copy and accounted for. A
   slot's owner is the target's claim (targets/claim.h). If the claim is rejected, the samples go to
   the registered process. Numbers of lost records are the target's claim, too. Only their growth is
   counted, up to a bound that no real loss can reach between two drains. */
#include "drain_parts.h"
#include "unloads.h"

#include "census/census.h"
#include "census/lock_step.h"
#include "common/clock.h"
#include "common/sums.h"
#include "intake/unwind_choice.h"
#include "targets/claim.h"
#include "targets/process_clock.h"
#include "targets/process_maps.h"

#include <string.h>

/* 100 000 signals between two drains of 100 ms would be a megahertz. */
enum {
  LOST_AT_ONCE_MAX = 100000,
  CLAIMS_A_SECOND = 64, /* of unknown processes; others go to the registered one */
  RECORDS_A_LOOK = 16,  /* between two checks of the quota */
};

#define BELIEVED_NS (10 * NS_PER_SECOND) /* of one sample, without reading the clock */
/* Tolerance of the sum beyond the time of the CPUs: a collector has the same
   (collector/ingest/plausible.h). */
#define BELIEVED_ALL_NS (60 * NS_PER_SECOND)

static uint64_t growth(uint64_t now, uint64_t counted) {
  uint64_t more = now - counted;
  return more <= LOST_AT_ONCE_MAX ? more : 0;
}

static bool may_claim(struct target *target) {
  uint64_t now = clock_monotonic_ns();
  if (now - target->turn.claims_ns >= NS_PER_SECOND) {
    target->turn.claims_ns = now;
    target->turn.claims = 0;
  }
  return target->turn.claims++ < CLAIMS_A_SECOND;
}

/* A process in another target belongs to that one: a new registration would have announced itself
   first. */
static bool is_of_another(const struct drain *drain, const struct process *process) {
  return process != NULL && !process->has_ended &&
         targets_find(drain->targets, process->target) != NULL;
}

/* The process that owns a slot: the registered one, or a forked child. A child in its own pid
   namespace writes a number that is another process here, mostly an old one. */
static struct process *slot_process(struct drain *drain, struct target *target,
                                    const struct ring_view *view) {
  const struct hold_target *held = &target->held;
  int maps_fd = held->fd_count > 1 ? target->fds[1] : -1;
  pid_t pid = (pid_t)view->pid;
  struct process *process = processes_find(drain->processes, pid);
  if (process != NULL && process->target == held->id) return process;
  struct process *first = processes_get(drain->processes, held->pid, held->id, maps_fd);
  if (first == NULL) return NULL;
  first->is_root = true;
  if (pid == held->pid || is_of_another(drain, processes_find(drain->processes, pid)) ||
      !may_claim(target))
    return first;
  struct claim seen = {0};
  if (claim_stands(target, pid, &seen)) {
    process = processes_get(drain->processes, pid, held->id, -1);
    if (process != NULL && process->map_count == 0)
      process_copy_maps(process, first); /* a zombie */
    if (process != NULL) process_inherit_steady(process, first);
    return process;
  }
  return first; /* a child that is gone had the same code, and needs no copy of its list */
}

/* A period is at most a second; thinned samples, or those merged by a late expiry, are longer. */
static bool is_beyond_belief(const struct target *target, uint64_t weight_ns) {
  return weight_ns > BELIEVED_NS && (weight_ns > target_cpu_ns_max(target) ||
                                     target->weight_ns > target_cpu_ns_max(target) - weight_ns);
}

/* Small samples may also exceed the available time. The collector would reject the whole batch,
   with the data of all programs. Up to the amount found possible, the clock is not read again. */
static bool is_over_all(struct target *target, uint64_t weight_ns) {
  uint64_t all_ns = sum_of(target->weight_ns, weight_ns);
  if (all_ns <= target->turn.believed_ns) return false;
  target->turn.believed_ns = target_cpu_ns_max(target) + BELIEVED_ALL_NS;
  return all_ns > target->turn.believed_ns;
}

/* A frame-pointer walk reports that it was truncated, or misled by code without frame pointers, but
   not that it was complete. If stacks are walked by tables, it means that there were none yet. */
static enum stack_end end_of(const struct target *target, const struct ring_sample *sample) {
  unsigned end = sample->flags >> RING_RECORD_END_SHIFT;
  bool is_cut = (sample->flags & RING_RECORD_TRUNCATED) != 0;
  if (target->held.unwind == UNWIND_CHOICE_NONE) return STACK_UNTOLD;
  if (end != 0) return end <= UNWIND_ENDS ? drain_walk_end((enum unwind_end)(end - 1)) : STACK_BAD;
  if (is_cut) return sample->depth >= RING_DEPTH_MAX ? STACK_TRUNCATED : STACK_NO_TABLE;
  return target->regions.map != NULL ? STACK_NO_TABLE : STACK_UNTOLD;
}

static void take_sample(struct drain *drain, struct target *target, const struct ring_view *view,
                        const struct ring_sample *sample, struct counters *tally) {
  struct process *process = slot_process(drain, target, view);
  if (process == NULL) {
    tally->produced++;
    tally->dropped[LOSS_WINDOW_FULL]++;
    return;
  }
  bool is_pair = target->held.collect == RING_PC_LR;
  uint64_t weight_ns = sample->weight * target->held.unit_ns;
  if (is_beyond_belief(target, weight_ns)) {
    drain_add_bad(drain, tally);
    return;
  }
  if (target->held.clock != RING_CLOCK_THREAD)
    weight_ns = process_clock_take(target, process, weight_ns);
  if (is_over_all(target, weight_ns)) {
    drain_add_bad(drain, tally);
    return;
  }
  bool is_first = process->pid == target->held.pid && target->held.fd_count > 1;
  int maps_fd = is_first ? target->fds[1] : -1;
  struct slot_mark *mark = slot_marks_of(target, view);
  const struct unloads_sample unloads = {mark, process, maps_fd};
  unloads_prepare(target, drain->processes, drain->modules, &unloads);
  enum stack_end end = end_of(target, sample);
  process->has_other_stacks |= end == STACK_OTHER;
  if (!process_has_code(process, sample->pc[0]) || end == STACK_NO_TABLE || end == STACK_OTHER)
    process_refresh(drain->processes, process, maps_fd); /* a library or a stack may be new */
  region_state_note(&target->regions, process);
  if (end == STACK_NO_TABLE) process_maps_need(drain->modules, process, sample->pc, sample->depth);
  struct drain_stack stack = {.target = target,
                              .process = process,
                              .thread = mark != NULL ? mark->name : view->name,
                              .pc = sample->pc,
                              .depth = sample->depth,
                              .type = is_pair ? SAMPLE_CPU_LR : SAMPLE_CPU,
                              .end = end,
                              .weight_ns = weight_ns};
  drain_add(drain, &stack, tally);
}

typedef long decode_fn(const uint8_t *, size_t, struct ring_sample *);

static decode_fn *decoder_of(const struct target *target) {
  return target->held.collect == RING_PC_LR ? ring_pair_decode : ring_record_decode;
}

/* Too late for a last drain: the sample counts as produced, and its time goes to the rest. */
static void skip_sample(struct counters *tally) {
  tally->produced++;
  tally->dropped[LOSS_RING_FULL]++;
}

/* Returns the number of bytes taken: fewer than LEN if the turn ends before, unless it is the
   last. */
static size_t take_records(struct drain *drain, struct target *target, const struct ring_view *view,
                           size_t len, struct counters *tally) {
  unsigned taken = 0;
  struct ring_sample sample;
  decode_fn *decode = decoder_of(target);
  struct slot_mark *mark = slot_marks_of(target, view);
  bool is_late = drain->is_last && toll_is_over(&target->toll);
  for (size_t at = 0; at < len;) {
    long size = decode(drain->scratch + at, len - at, &sample);
    if (size <= 0) { /* the next record cannot be found */
      drain_add_bad(drain, tally);
      return len;
    }
    if (sample.mark_part != RING_MARK_NONE && mark != NULL) {
      slot_marks_take(mark, &sample);
    } else if (sample.depth > 0 && is_late) {
      skip_sample(tally);
    } else if (sample.depth > 0) {
      take_sample(drain, target, view, &sample, tally);
      census_record(target, view->slot, sample.weight);
    }
    at += (size_t)size;
    if (is_late || ++taken % RECORDS_A_LOOK != 0 || !toll_is_over(&target->toll)) continue;
    if (!drain->is_last) return at;
    is_late = true;
  }
  return len;
}

static bool has_mark(const struct drain *drain, const struct target *target, size_t len) {
  struct ring_sample sample;
  for (size_t at = 0; at < len;) {
    long size = decoder_of(target)(drain->scratch + at, len - at, &sample);
    if (size <= 0) return false;
    if (sample.mark_part != RING_MARK_NONE) return true;
    at += (size_t)size;
  }
  return false;
}

static void note_fill(struct drain *drain, const struct ring_reader *ring, size_t len) {
  unsigned percent = (unsigned)(len * 100 / ring->slot_bytes);
  if (percent > drain->figures.fill_percent) drain->figures.fill_percent = percent;
}

static uint64_t drain_slot(struct drain *drain, struct target *target, uint32_t slot) {
  struct ring_reader *ring = &target->ring;
  struct ring_view view;
  struct counters tally = {0};
  uint32_t unloads = unloads_now(target);
  ring_reader_look(ring, slot, &view);
  uint64_t full = growth(view.dropped_full, view.counted_full);
  uint64_t reentry = growth(view.dropped_reentry, view.counted_reentry);
  if (view.head == view.tail && full + reentry == 0 && !view.is_broken) {
    unloads_settle(slot_marks_of(target, &view), unloads);
    if (view.is_released && view.pid != 0) ring_reader_free_slot(ring, slot);
    return 0;
  }
  size_t len = ring_reader_copy(ring, slot, &view, drain->scratch);
  note_fill(drain, ring, len);
  if (view.is_broken) drain_add_bad(drain, &tally);
  census_signals(target, &view, view.head - view.tail + full + reentry);
  struct slot_mark *mark = slot_marks_of(target, &view);
  if (mark != NULL) slot_marks_begin(mark, mark->is_first && has_mark(drain, target, len));
  size_t taken = take_records(drain, target, &view, len, &tally);
  if (taken == len) unloads_settle(mark, unloads);
  if (mark != NULL) slot_marks_end(mark);
  tally.produced += full + reentry;
  tally.dropped[LOSS_RING_FULL] += full;
  tally.dropped[LOSS_REENTRY] += reentry;

  struct counters after = drain_after(drain, &tally);
  struct counter_drain step = {target->held.id, slot, view.tail + taken, view.dropped_full,
                               view.dropped_reentry};
  counter_page_prepare(drain->page, &step, &after);
  ring_reader_count(ring, slot, step.counted_full, step.counted_reentry);
  if (view.is_broken)
    ring_reader_mend(ring, slot, step.tail);
  else
    ring_reader_release(ring, slot, step.tail);
  counter_page_commit(drain->page);
  if (view.is_released && taken == len) ring_reader_free_slot(ring, slot);
  return tally.produced;
}

/* Sums the weights waiting in a slot, without taking them; 0 if it is invalid. */
static uint64_t waiting_ns(const struct drain *drain, const struct target *target, uint32_t slot,
                           struct ring_view *ret_view) {
  struct ring_sample sample;
  uint64_t sum = 0;
  ring_reader_look(&target->ring, slot, ret_view);
  if (ret_view->head == ret_view->tail || ret_view->is_broken) return 0;
  size_t len = ring_reader_copy(&target->ring, slot, ret_view, drain->scratch);
  for (size_t at = 0; at < len;) {
    long size = decoder_of(target)(drain->scratch + at, len - at, &sample);
    if (size <= 0) return 0;
    if (sample.depth > 0) sum += sample.weight * target->held.unit_ns;
    at += (size_t)size;
  }
  return sum;
}

/* The total weight of a process's records must be known before the first is taken. */
static void weigh(struct drain *drain, struct target *target) {
  uint8_t is_waiting[RING_SLOTS_MAX] = {0};
  uint32_t claimed = ring_reader_claimed(&target->ring);
  struct ring_view view;
  for (uint32_t slot = 0; slot < claimed; slot++) {
    uint64_t weight_ns = waiting_ns(drain, target, slot, &view);
    struct process *process = weight_ns ? slot_process(drain, target, &view) : NULL;
    if (process == NULL) continue;
    process_clock_expect(process, weight_ns);
    is_waiting[slot] = 1;
  }
  for (uint32_t slot = 0; slot < claimed; slot++) {
    if (!is_waiting[slot]) continue;
    ring_reader_look(&target->ring, slot, &view);
    struct process *process = slot_process(drain, target, &view);
    if (process != NULL) process_clock_settle(target, process, lock_step_tick_ns());
  }
}

/* A turn ends only after some work: most drains find most slots empty. */
static bool is_turn_over(const struct target *target, uint64_t records) {
  return records >= RECORDS_A_LOOK && toll_is_over(&target->toll);
}

uint64_t timer_drain_run(struct drain *drain, struct target *target) {
  uint64_t records = 0;
  if (target->held.clock != RING_CLOCK_THREAD) weigh(drain, target);
  uint32_t count = ring_reader_claimed(&target->ring);
  uint32_t first = count != 0 ? target->turn.slot % count : 0;
  for (uint32_t i = 0; i < count && (drain->is_last || !is_turn_over(target, records)); i++) {
    target->turn.slot = (first + i) % count;
    records += drain_slot(drain, target, target->turn.slot);
  }
  return records;
}

/* A slot is freed only if it is found empty after its thread was found gone: otherwise its records
   wait for the next drain. */
uint32_t drain_reclaim_slots(struct target *target, pid_t pid) {
  uint32_t owned = 0, claimed = ring_reader_claimed(&target->ring);
  struct claim seen = {0}; /* most threads are of one process */
  struct ring_view view;
  for (uint32_t slot = 0; slot < claimed; slot++) {
    ring_reader_look(&target->ring, slot, &view);
    if (view.pid == 0) continue;
    bool is_gone = (pid_t)view.pid == pid || !proc_has_thread((pid_t)view.pid, (pid_t)view.tid);
    ring_reader_look(&target->ring, slot, &view);
    if (is_gone && view.head == view.tail && !view.is_broken)
      ring_reader_free_slot(&target->ring, slot);
    else if (is_gone || claim_stands(target, (pid_t)view.pid, &seen))
      owned++;
  }
  return owned;
}
