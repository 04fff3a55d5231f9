/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by drain.c, perf_drain.c and timer_drain.c. */
#ifndef DRAIN_DRAIN_PARTS_H
#define DRAIN_DRAIN_PARTS_H

#include "drain.h"

#include "unwind/unwind_walk.h"

/* A stack from a ring. */
struct drain_stack {
  struct target *target;
  struct process *process;
  const char *thread;
  const uint64_t *pc; /* leaf first; for SAMPLE_CPU_LR pc and link register */
  uint32_t depth;
  uint32_t kernel_depth; /* the first of them: in the kernel */
  enum sample_type type;
  enum stack_end end; /* of a SAMPLE_CPU, as far as known */
  uint64_t weight_ns;
};

/* The end of a walk by tables and frame pointers. */
static inline enum stack_end drain_walk_end(enum unwind_end end) {
  _Static_assert(STACK_TRUNCATED == STACK_COMPLETE + UNWIND_TRUNCATED &&
                     STACK_NO_TABLE == STACK_COMPLETE + UNWIND_UNKNOWN &&
                     STACK_BAD == STACK_COMPLETE + UNWIND_BAD &&
                     STACK_OTHER == STACK_COMPLETE + UNWIND_OTHER,
                 "the ends of a walk are those of stacks, in the same order");
  return (enum stack_end)((unsigned)STACK_COMPLETE + (unsigned)end);
}

/* The end of the kernel's own chain in a sample. It follows frame pointers, which show truncation
   but not completeness. */
static inline enum stack_end drain_chain_end(uint32_t depth) {
  return depth >= LIMIT_STACK_DEPTH - 1 ? STACK_TRUNCATED : STACK_UNTOLD;
}

/* Puts STACK into the window and one record into TALLY: as produced, and as dropped if the window
   is full. */
void drain_add(struct drain *drain, const struct drain_stack *stack, struct counters *tally);
void drain_add_bad(struct drain *drain, struct counters *tally);

/* The initial program of TARGET; if it is gone, its remembered data, in STUB. Borrows TARGET, which
   need not be registered. */
struct process *drain_root(const struct drain *drain, const struct target *target,
                           struct process *stub);

/* Time at one address, of no particular thread. */
struct drain_frame {
  struct code_frame frame;
  enum sample_type type;
  uint64_t count; /* records */
  uint64_t weight_ns;
};

/* Puts FRAME into TARGET's part of the window, without accounting. Returns 0, or -errno if it was
   not added. */
int drain_add_frame(struct drain *drain, const struct target *target, const struct drain_frame *of);

/* The accounts after adding TALLY. */
struct counters drain_after(const struct drain *drain, const struct counters *tally);

/* The common properties of PROCESS's samples in TARGET; borrows both. */
void drain_describe(struct drain *drain, const struct target *target, struct process *process,
                    struct window_series *ret);

/* Processes one record of a board's events (board_drain.c). */
struct perf_record;
void board_drain_record(struct drain *drain, struct target *board, struct perf_record *record,
                        struct counters *tally);

uint64_t perf_drain_run(struct drain *drain);
uint64_t timer_drain_run(struct drain *drain, struct target *target);

/* perf_drain.c's scratch: one piece for each CPU. */
int perf_drain_init(struct drain *drain);

/* perf_wait.c: begins a run. perf_wait_for: true if the whole record BYTES must stay in its ring
   until the next run, and all later records with it. */
void perf_wait_begin(struct drain *drain);
bool perf_wait_for(struct drain *drain, struct span bytes);

struct perf_owner;

/* True if RECORD must be ignored: it is from an event of OWNER's target on a whole CPU, and its
   process is not known to be in the target's tree. */
bool perf_drain_is_foreign(const struct drain *drain, const struct perf_owner *owner,
                           const struct perf_record *record);

/* The content of TARGET's samples; NULL: no target. */
struct perf_form perf_drain_form(const struct target *target);
/* Fills in the program's part of the stack of RECORD, a sample of PROCESS, if it has a copy of the
   stack. Returns its end. */
struct perf_record;
enum stack_end perf_drain_walk(struct drain *drain, struct process *process,
                               struct perf_record *record);

/* Follows processes, for perf_drain.c: handles one decoded record of TARGET. */
struct perf_record;
void perf_process_record(struct drain *drain, struct target *target,
                         const struct perf_record *record);
/* True if RECORD, of TARGET, is of a process with its own target within TARGET's tree. */
bool perf_process_is_inner(const struct drain *drain, const struct target *target,
                           const struct perf_record *record);
/* Adds the mapping in RECORD to PROCESS. */
void perf_process_map(struct drain *drain, struct process *process,
                      const struct perf_record *record);
/* Before a drain and after it: handles the exits of tasks known at its beginning. */
void perf_process_mark_ends(struct drain *drain);
void perf_process_take_ends(struct drain *drain);

/* If many processes have ended, closes their accounts and removes them. */
void drain_settle_crowd(struct drain *drain);

#endif
