/* SPDX-License-Identifier: Apache-2.0 */
/* There is one kernel ring for each CPU, but a process runs on all of them: its FORK may be in one
   ring and its first sample in another. So all rings are copied and their records taken in order of
   time.

   Only records up to a horizon are taken, before which none can be missing. The heads of all CPUs
   are read, then once more while copying. A record written before one that the first reading saw is
   seen by the second, so the newest time within the first heads is safe. A ring with more than its
   share of the scratch buffer ends the horizon at the end of its copy. Later records stay in their
   ring for the next round.

     cpu 0  |====first====|==second==|      horizon = newest time in the first parts
     cpu 1  |==first==|=second=|

   Then each CPU is accounted for separately (drain.c), with the counts of its records. */
#include "drain_parts.h"
#include "perf_owner.h"

#include "perf/perf_record.h"
#include "proto/limits.h"
#include "targets/process_maps.h"
#include "targets/stride.h"
#include "targets/throttle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
  PIECE_BYTES_MIN = 24 << 10, /* fits any record: the deepest chain and the largest copy */
  PIECE_BYTES_MAX = 64 << 10,
  ROUNDS_MAX = 64, /* a drain ends even if targets write as fast as it reads */
};

struct perf_piece {
  struct perf_ring *ring;
  uint8_t *bytes; /* in the scratch buffer */
  uint64_t tail, first_head;
  size_t len, at;
  uint64_t next_time; /* of the record at `at` */
  uint64_t last_time; /* of the last record taken, or 0 */
  bool is_partial;    /* the ring holds more than was copied */
  struct counters tally;
};

static size_t piece_bytes(const struct drain *drain) {
  size_t share = DRAIN_SCRATCH_BYTES / (drain->perf->count ? drain->perf->count : 1);
  if (share > PIECE_BYTES_MAX) share = PIECE_BYTES_MAX;
  return share < PIECE_BYTES_MIN ? PIECE_BYTES_MIN : share & ~(size_t)7;
}

int perf_drain_init(struct drain *drain) {
  unsigned count = drain->perf->count;
  drain->pieces = calloc(count + 1, sizeof *drain->pieces);
  size_t bytes = piece_bytes(drain) * count;
  if (bytes > DRAIN_SCRATCH_BYTES) { /* more than 10 CPUs */
    free(drain->scratch);
    drain->scratch = malloc(bytes);
  }
  if (drain->pieces == NULL || drain->scratch == NULL) return -ENOMEM;
  for (unsigned i = 0; i < count; i++) {
    drain->pieces[i].ring = &drain->perf->cpus[i];
    drain->pieces[i].bytes = drain->scratch + i * piece_bytes(drain);
  }
  return 0;
}

static struct span rest_of(const struct perf_piece *piece) {
  return span_of(piece->bytes + piece->at, piece->len - piece->at);
}

static struct span next_record(const struct perf_piece *piece) {
  struct span rest = rest_of(piece);
  return span_of(rest.data, perf_record_size(rest));
}

static void set_next_time(struct perf_piece *piece) {
  if (piece->at < piece->len) piece->next_time = perf_record_time(next_record(piece));
}

/* Measures the copied records: cuts off an incomplete last one, and finds the newest time within
   the first head and within the whole copy. */
static void measure(struct perf_piece *piece, uint64_t *ret_first, uint64_t *ret_last) {
  size_t first_bytes = (size_t)(piece->first_head - piece->tail), at = 0;
  *ret_first = *ret_last = 0;
  while (at < piece->len) {
    struct span rest = span_of(piece->bytes + at, piece->len - at);
    size_t size = perf_record_size(rest);
    if (size == 0) break;
    uint64_t time = perf_record_time(span_of(rest.data, size));
    if (time > *ret_last) *ret_last = time;
    if (at < first_bytes && time > *ret_first) *ret_first = time;
    at += size;
  }
  /* After an invalid record the next one cannot be found: take_until counts it and skips the rest.
     A last record cut by the copy waits for the next round. */
  if (piece->is_partial && at > 0) piece->len = at;
}

static void copy_piece(struct drain *drain, struct perf_piece *piece) {
  uint64_t waiting = perf_ring_head(piece->ring) - piece->tail;
  size_t room = piece_bytes(drain);
  piece->at = 0;
  piece->len = waiting < room ? (size_t)waiting : room;
  piece->is_partial = waiting > room;
  memset(&piece->tally, 0, sizeof piece->tally);
  perf_ring_copy(piece->ring, piece->tail, piece->bytes, piece->len);
  unsigned percent = (unsigned)(waiting * 100 / piece->ring->data_bytes);
  if (percent > drain->figures.fill_percent) drain->figures.fill_percent = percent;
}

/* Copies the contents of all rings. Returns the horizon. */
static uint64_t copy_all(struct drain *drain) {
  uint64_t horizon = 0, limit = UINT64_MAX, first, last;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++)
    if (drain->targets->rows[row] != NULL) drain->targets->rows[row]->residual.is_fresh = false;
  for (unsigned i = 0; i < drain->perf->count; i++) {
    struct perf_piece *piece = &drain->pieces[i];
    piece->tail = perf_ring_tail(piece->ring);
    piece->first_head = perf_ring_head(piece->ring);
  }
  for (unsigned i = 0; i < drain->perf->count; i++) {
    struct perf_piece *piece = &drain->pieces[i];
    copy_piece(drain, piece);
    measure(piece, &first, &last);
    if (first > horizon) horizon = first;
    if (piece->is_partial && last < limit) limit = last;
    set_next_time(piece);
  }
  return horizon < limit ? horizon : limit;
}

/* The event determines the content of its samples, and events of all kinds write into one ring. */
struct perf_form perf_drain_form(const struct target *target) {
  enum perf_content content = PERF_CONTENT_CHAIN;
  if (target != NULL) content = (enum perf_content)target->held.content;
  return (struct perf_form){content, &perf_regs, &perf_walk_regs};
}

/* The program's PC, or 0 if it is not in the sample. */
static uint64_t user_pc(const struct perf_sample *sample) {
  if (sample->copy.word != PERF_WORD_NONE) return sample->copy.pc;
  return sample->kernel_depth < sample->depth ? sample->pc[sample->kernel_depth] : 0;
}

/* During an exec the registers are still those of the previous program. */
static void forget_other_program(struct drain *drain, struct process *process,
                                 struct perf_sample *sample) {
  uint64_t pc = user_pc(sample);
  if (pc == 0 || process_has_code(process, pc)) return;
  bool is_in_exec = sample->kernel_depth > 0 && process->is_exec_open;
  if (!is_in_exec) process_refresh(drain->processes, process, -1);
  if (sample->kernel_depth == 0 || process_has_code(process, pc)) return;
  sample->copy.word = PERF_WORD_NONE;
  sample->depth = sample->kernel_depth;
}

/* Appends the callers from the copy of the stack to the kernel's own frames. The kernel unwinds
   itself by tables to its entry: a stack without a program's part is complete there. */
enum stack_end perf_drain_walk(struct drain *drain, struct process *process,
                               struct perf_record *record) {
  struct perf_sample *sample = &record->sample;
  forget_other_program(drain, process, sample);
  if (sample->depth == sample->kernel_depth && sample->copy.word == PERF_WORD_NONE)
    return STACK_COMPLETE;
  if (sample->copy.word == PERF_WORD_NONE) return drain_chain_end(sample->depth);
  uint32_t kernel =
      sample->kernel_depth < LIMIT_STACK_DEPTH ? sample->kernel_depth : LIMIT_STACK_DEPTH - 1;
  uint64_t pcs[LIMIT_STACK_DEPTH]; /* the path replaces the chain */
  struct walker_chain chain = {.pcs = pcs, .depth = sample->depth - kernel};
  memcpy(pcs, sample->pc + kernel, chain.depth * sizeof *pcs);
  struct unwind_path path = {.pcs = sample->pc + kernel, .room = LIMIT_STACK_DEPTH - kernel};
  walker_walk(&drain->walker, process, &sample->copy, &chain, &path);
  sample->depth = kernel + path.depth;
  return drain_walk_end(path.end);
}

/* The total is read once for all records copied together: they are older. */
static void freshen(struct target *target) {
  if (!target->residual.is_fresh) target_read_total(target);
  target->residual.is_fresh = true;
}

/* The clock of a CPU hits a program by chance, so its samples may exceed the program's CPU time.
   Samples beyond the remaining time, which is exact, are dropped. */
static bool is_too_much(struct target *target, uint64_t weight_ns) {
  if (!target->threads.is_wide || residual_due_ns(&target->residual) >= weight_ns) return false;
  freshen(target);
  if (residual_due_ns(&target->residual) >= weight_ns) return false;
  target->rate.thinned++;
  return true;
}

/* Returns WEIGHT_NS of a sample minus the stolen time that it pays for. */
static uint64_t pay(struct target *target, uint64_t weight_ns) {
  if (target->residual.steal.stolen_ns == 0) return weight_ns;
  freshen(target);
  return residual_pay(&target->residual, weight_ns, rate_part_ns(target));
}

static void take_sample(struct drain *drain, struct target *target, struct perf_record *record,
                        struct counters *tally) {
  if (is_too_much(target, record->sample.period_ns)) return;
  record->sample.period_ns = pay(target, record->sample.period_ns);
  struct process *process = processes_get(drain->processes, record->pid, target->held.id, -1);
  if (process == NULL) {
    tally->produced++;
    tally->dropped[LOSS_WINDOW_FULL]++;
    target->residual.kernel.lost_ns += record->sample.period_ns;
    return;
  }
  process->is_root = record->pid == target->held.pid;
  uint32_t in_kernel = record->sample.kernel_depth;
  enum perf_content callers = perf_content_callers(target->held.content);
  bool is_pair = callers == PERF_CONTENT_PAIR;
  enum stack_end end = perf_drain_walk(drain, process, record);
  struct drain_stack stack = {.target = target,
                              .process = process,
                              .thread = process_thread_name(process, record->tid, NULL),
                              .pc = record->sample.pc,
                              .depth = record->sample.depth,
                              .kernel_depth = in_kernel,
                              .type = is_pair ? SAMPLE_CPU_LR : SAMPLE_CPU,
                              .end = callers == PERF_CONTENT_PC ? STACK_UNTOLD : end,
                              .weight_ns = record->sample.period_ns};
  uint64_t dropped = tally->dropped[LOSS_WINDOW_FULL];
  drain_add(drain, &stack, tally);
  /* A sample without room in the window is not in the batch: its time goes to the rest. */
  if (tally->dropped[LOSS_WINDOW_FULL] != dropped) {
    target->residual.kernel.lost_ns += record->sample.period_ns;
    return;
  }
  uint64_t kernel_ns = in_kernel > 0 ? record->sample.period_ns : 0;
  target->residual.sampled_ns += record->sample.period_ns;
  target->residual.sampled_kernel_ns += kernel_ns;
  process->time.sampled_ns += record->sample.period_ns;
  process->time.sampled_kernel_ns += kernel_ns;
}

/* Sets the sample's period to its weight. Returns false if it is thinned out. */
static bool weigh(struct target *target, uint32_t event, struct perf_record *record,
                  uint64_t position) {
  struct stride_sample sample = {.event = event,
                                 .is_inherited = record->sample.stream_id != record->id,
                                 .period_ns = record->sample.period_ns,
                                 .position = position};
  record->sample.period_ns = rate_weigh(target, &sample);
  return record->sample.period_ns != 0;
}

static void add_ownerless(struct drain *drain, struct counters *tally) {
  if (drain->targets->has_been_wide) return; /* of other programs, from closed events */
  if (!perf_owner_may_have_died(drain)) {
    drain_add_bad(drain, tally);
    return;
  }
  tally->produced++;
  tally->dropped[LOSS_WORKER_KILLED]++;
}

/* The lost records may include a process that the clocks then lack. */
static void blind_all(const struct targets *targets) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    if (targets->rows[row] == NULL) continue;
    targets->rows[row]->residual.kernel.is_blind = true;
    targets->rows[row]->residual.steal.is_open = false;
  }
}

/* The maximum number of samples of one clock in SPAN_NS on one CPU, at the shortest of its
   periods. */
static uint64_t expiries(uint64_t span_ns, uint64_t period_ns) {
  return span_ns / (period_ns - period_ns / STRIDE_PART) + 1;
}

/* On a CPU there is a clock for the running program, one for the board, and one for each target
   that samples whole CPUs. */
static uint64_t samples_at_most(const struct targets *targets, uint64_t span_ns) {
  enum { CLOCK_TREE, CLOCK_BOARD, CLOCK_WIDE, CLOCKS };
  uint64_t shortest[CLOCKS] = {RATE_PERIOD_NS_MAX, RATE_PERIOD_NS_MAX, RATE_PERIOD_NS_MAX};
  bool has_any = false;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    const struct target *target = targets->rows[row];
    if (target == NULL || target->held.kind == HOLD_TIMER) continue;
    uint64_t set_ns = rate_period_ns(target), asked_ns = target->held.period_ns;
    uint64_t period_ns = set_ns < asked_ns ? set_ns : asked_ns;
    unsigned clock = target->threads.is_wide ? CLOCK_WIDE : CLOCK_TREE;
    if (target->held.kind == HOLD_BOARD) clock = CLOCK_BOARD;
    uint64_t *least = &shortest[clock];
    if (period_ns != 0 && period_ns < *least) *least = period_ns;
    has_any = true;
  }
  if (!has_any) return expiries(span_ns, RATE_PERIOD_NS_MIN); /* the sampled programs have ended */
  uint64_t wide = targets_count_wide(targets) * expiries(span_ns, shortest[CLOCK_WIDE]);
  return expiries(span_ns, shortest[CLOCK_TREE]) + expiries(span_ns, shortest[CLOCK_BOARD]) + wide;
}

/* The kernel counts records of all kinds, and a program may map and unmap thousands of times
   between two samples. So the number of lost samples is limited by the elapsed time. */
static void take_lost(struct drain *drain, const struct perf_piece *piece, uint64_t count,
                      struct counters *tally) {
  uint64_t most = count;
  if (piece->last_time != 0 && piece->next_time > piece->last_time)
    most = samples_at_most(drain->targets, piece->next_time - piece->last_time);
  uint64_t lost = count < most ? count : most;
  blind_all(drain->targets);
  tally->produced += lost;
  tally->dropped[LOSS_RING_FULL] += lost;
}

bool perf_drain_is_foreign(const struct drain *drain, const struct perf_owner *owner,
                           const struct perf_record *record) {
  const struct target *target = owner->target;
  if (!target->threads.is_wide || owner->event >= target->threads.count) return false;
  if (record->kind == PERF_RECORD_KIND_THROTTLE) return false;
  bool is_fork = record->kind == PERF_RECORD_KIND_FORK;
  int32_t pid = is_fork ? record->task.parent_pid : record->pid;
  const struct process *process = processes_find(drain->processes, pid);
  return process == NULL || process->target != target->held.id || process->is_over;
}

/* RECORD, of a whole CPU, is of a program outside all trees. If it reports the start of a process,
   an entry with the same pid is of an ended one. */
static void forget_ended(struct drain *drain, const struct perf_record *record) {
  bool is_birth = record->kind == PERF_RECORD_KIND_FORK && record->pid != record->task.parent_pid;
  bool is_exec = record->kind == PERF_RECORD_KIND_COMM && record->comm.is_exec;
  if (!is_birth && !is_exec) return;
  const struct process *process = processes_find(drain->processes, record->pid);
  if (process == NULL || !(is_birth ? process->has_ended : process->is_over)) return;
  processes_forget_pid(drain->processes, record->pid);
}

static void take_record(struct drain *drain, struct perf_piece *piece, struct span bytes) {
  struct counters *tally = &piece->tally;
  struct perf_record record;
  struct perf_owner owner = {.target = NULL};
  bool is_sample = perf_owner_of_sample(drain, bytes, &owner);
  struct perf_form form = perf_drain_form(owner.target);
  if (perf_record_decode(bytes, &form, &record) < 0) {
    drain_add_bad(drain, tally);
    blind_all(drain->targets);
    return;
  }
  if (record.kind == PERF_RECORD_KIND_LOST) {
    take_lost(drain, piece, record.lost.count, tally);
    return;
  }
  if (!is_sample) perf_owner_of_record(drain, &record, &owner);
  struct target *target = owner.target;
  if (target == NULL) {
    if (is_sample) add_ownerless(drain, tally);
    if (drain->targets->has_been_wide) forget_ended(drain, &record);
    return;
  }
  if (perf_drain_is_foreign(drain, &owner, &record)) {
    target->rate.foreign += is_sample;
    forget_ended(drain, &record);
    return;
  }
  if (is_sample && !weigh(target, owner.event, &record, piece->tail + piece->at)) return;
  if (record.kind != PERF_RECORD_KIND_THROTTLE && perf_process_is_inner(drain, target, &record))
    return;
  if (target->held.kind == HOLD_BOARD && record.kind != PERF_RECORD_KIND_THROTTLE) {
    board_drain_record(drain, target, &record, tally);
  } else if (is_sample) {
    take_sample(drain, target, &record, tally);
  } else if (record.kind == PERF_RECORD_KIND_THROTTLE) {
    drain->figures.throttled++;
    throttle_note(target);
  } else {
    perf_process_record(drain, target, &record);
  }
}

static struct perf_piece *oldest_piece(struct drain *drain, uint64_t horizon) {
  struct perf_piece *oldest = NULL;
  for (unsigned i = 0; i < drain->perf->count; i++) {
    struct perf_piece *piece = &drain->pieces[i];
    if (piece->at >= piece->len || piece->next_time > horizon) continue;
    if (oldest == NULL || piece->next_time < oldest->next_time) oldest = piece;
  }
  return oldest;
}

static void take_until(struct drain *drain, uint64_t horizon) {
  for (struct perf_piece *piece; (piece = oldest_piece(drain, horizon)) != NULL;) {
    struct span record = next_record(piece);
    if (record.len == 0) {
      drain_add_bad(drain, &piece->tally);
      piece->at = piece->len;
      continue;
    }
    if (perf_wait_for(drain, record)) return;
    take_record(drain, piece, record);
    piece->last_time = piece->next_time;
    piece->at += record.len;
    set_next_time(piece);
  }
}

/* Returns the number of records accounted for; RET_TOOK is true if any bytes were taken. */
static uint64_t book_all(struct drain *drain, bool *ret_took) {
  uint64_t records = 0;
  *ret_took = false;
  for (unsigned i = 0; i < drain->perf->count; i++) {
    struct perf_piece *piece = &drain->pieces[i];
    if (piece->at == 0) continue;
    *ret_took = true;
    struct counters after = drain_after(drain, &piece->tally);
    struct counter_drain step = {
        .ring = DRAIN_RING_PERF, .slot = i, .tail = piece->tail + piece->at};
    counter_page_prepare(drain->page, &step, &after);
    perf_ring_release(piece->ring, step.tail);
    counter_page_commit(drain->page);
    records += piece->tally.produced;
  }
  return records;
}

uint64_t perf_drain_run(struct drain *drain) {
  uint64_t records = 0;
  bool took = true;
  perf_wait_begin(drain);
  perf_process_mark_ends(drain);
  for (unsigned round = 0; took && round < ROUNDS_MAX; round++) {
    uint64_t horizon = copy_all(drain);
    take_until(drain, horizon);
    records += book_all(drain, &took);
    if (drain->wait.is_on) return records; /* the exits of tasks wait, too */
    bool is_stuck = false;
    for (unsigned i = 0; !took && i < drain->perf->count; i++)
      is_stuck = is_stuck || drain->pieces[i].is_partial;
    if (!is_stuck) continue;
    /* Times run backwards: progress is more important than order. */
    take_until(drain, UINT64_MAX);
    records += book_all(drain, &took);
  }
  perf_process_take_ends(drain);
  processes_mark_over(drain->processes);
  /* Closed events on whole CPUs have no records left in the rings. */
  if (!took && targets_count_wide(drain->targets) == 0) drain->targets->has_been_wide = false;
  return records;
}
