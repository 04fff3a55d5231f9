/* SPDX-License-Identifier: Apache-2.0 */
/* What drain.c, perf_drain.c and timer_drain.c share. */
#ifndef DRAIN_DRAIN_PARTS_H
#define DRAIN_DRAIN_PARTS_H

#include "drain.h"

#include "unwind/unwind_walk.h"

/* One stack as a ring gave it. */
struct drain_stack {
  struct target *target;
  struct process *process;
  const char *thread;
  const uint64_t *pc; /* leaf first; of SAMPLE_CPU_LR pc and link register */
  uint32_t depth;
  uint32_t kernel_depth; /* of those, first: in the kernel */
  enum sample_type type;
  enum stack_end end; /* of a SAMPLE_CPU, as far as its walker knows */
  uint64_t weight_ns;
};

/* How a walk by tables and frame pointers ended. */
static inline enum stack_end drain_walk_end(enum unwind_end end) {
  _Static_assert(STACK_TRUNCATED == STACK_COMPLETE + UNWIND_TRUNCATED &&
                     STACK_NO_TABLE == STACK_COMPLETE + UNWIND_UNKNOWN &&
                     STACK_BAD == STACK_COMPLETE + UNWIND_BAD &&
                     STACK_OTHER == STACK_COMPLETE + UNWIND_OTHER,
                 "the ends of a walk are those of stacks, in the same order");
  return (enum stack_end)((unsigned)STACK_COMPLETE + (unsigned)end);
}

/* How the kernel's own chain in a sample ended: along frame pointers, which tell that it was cut
   and not that it was whole. */
static inline enum stack_end drain_chain_end(uint32_t depth) {
  return depth >= LIMIT_STACK_DEPTH - 1 ? STACK_TRUNCATED : STACK_UNTOLD;
}

/* Puts STACK into the window and one record into TALLY: produced, or dropped as well. */
void drain_add(struct drain *drain, const struct drain_stack *stack, struct counters *tally);
void drain_add_bad(struct drain *drain, struct counters *tally);

/* The program that TARGET was started with; when it is gone, what is remembered of it, in STUB.
   Borrows TARGET, which need not be registered. */
struct process *drain_root(const struct drain *drain, const struct target *target,
                           struct process *stub);

/* Units of time in one place, of no thread in particular. */
struct drain_frame {
  struct code_frame frame;
  enum sample_type type;
  uint64_t count; /* records */
  uint64_t weight_ns;
};

/* Puts FRAME into TARGET's part of the window, unbooked.  Returns 0, or -errno: it is not there. */
int drain_add_frame(struct drain *drain, const struct target *target, const struct drain_frame *of);

/* The books as they will be with TALLY. */
struct counters drain_after(const struct drain *drain, const struct counters *tally);

/* What the samples of PROCESS in TARGET have in common; borrows both. */
void drain_describe(struct drain *drain, const struct target *target, struct process *process,
                    struct window_series *ret);

/* One record of a board's events (board_drain.c). */
struct perf_record;
void board_drain_record(struct drain *drain, struct target *board, struct perf_record *record,
                        struct counters *tally);

uint64_t perf_drain_run(struct drain *drain);
uint64_t timer_drain_run(struct drain *drain, struct target *target);

/* perf_drain.c's scratch: one piece a CPU. */
int perf_drain_init(struct drain *drain);

/* perf_wait.c: a run begins; whether the whole record BYTES is to stay in its ring until the next
   run, and with it all that come after it. */
void perf_wait_begin(struct drain *drain);
bool perf_wait_for(struct drain *drain, struct span bytes);

struct perf_owner;

/* RECORD came by an event of OWNER's target on a whole CPU, and is of a process that is not known
   to be of its tree: nothing more may be done with it. */
bool perf_drain_is_foreign(const struct drain *drain, const struct perf_owner *owner,
                           const struct perf_record *record);

/* What TARGET's samples hold; NULL: nobody's. */
struct perf_form perf_drain_form(const struct target *target);
/* Fills in the program's part of the stack of RECORD, a sample of PROCESS, where it has a copy of
   that. Returns how it ended. */
struct perf_record;
enum stack_end perf_drain_walk(struct drain *drain, struct process *process,
                               struct perf_record *record);

/* The part of perf_drain.c that follows processes: one decoded record of TARGET. */
struct perf_record;
void perf_process_record(struct drain *drain, struct target *target,
                         const struct perf_record *record);
/* RECORD, of TARGET, is of a process that has a target of its own within TARGET's tree. */
bool perf_process_is_inner(const struct drain *drain, const struct target *target,
                           const struct perf_record *record);
/* A mapping of PROCESS, as RECORD says. */
void perf_process_map(struct drain *drain, struct process *process,
                      const struct perf_record *record);
/* Before a drain and after it: the ends of tasks that were known at its beginning. */
void perf_process_mark_ends(struct drain *drain);
void perf_process_take_ends(struct drain *drain);

/* Settles the accounts of what has ended and forgets it, when there is much of that. */
void drain_settle_crowd(struct drain *drain);

#endif
