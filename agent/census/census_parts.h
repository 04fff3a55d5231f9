/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by census.c, census_slot.c and census_look.c. */
#ifndef CENSUS_CENSUS_PARTS_H
#define CENSUS_CENSUS_PARTS_H

#include "census.h"
#include "lock_step.h"

#include "proc/proc_thread.h"
#include "targets/targets.h"

enum { CENSUS_ROWS_STEP = 8 /* arrays start small: most programs have few threads */ };

struct census_slot {
  uint64_t owner;
  uint64_t signals;
  struct lock_step_tally tally;
};

struct census_thread {
  pid_t pid, tid;
  uint64_t cpu_ns, sleeps, read_ns; /* as of the last look */
  uint64_t signals;
  uint64_t spent_ns; /* between the last two looks */
  uint64_t quiet_ns;
  uint32_t look;
  uint32_t marks;
  uint8_t locked_looks;
  bool was_blocked;
  enum unsampled_reason reason;
};

/* A list of threads in progress. */
struct census_list {
  pid_t (*ids)[2]; /* pid, tid */
  uint32_t count, at;
};

struct census {
  struct census_thread *threads;
  uint32_t thread_count, thread_cap;
  struct census_slot *slots;
  uint32_t slot_count;
  uint64_t shared_signals; /* of threads without their own slot (histogram) */
  uint64_t missed;         /* missed turns of the drain, at the beginning of the look */
  bool is_deaf; /* some were missed since the previous look: signals may wait in the ring */
  struct census_list list;
  struct proc_timers *timers; /* of timers_pid, read during this look; NULL: not needed yet */
  pid_t timers_pid;
  bool is_replaced;     /* the process runs another program than the registered one */
  const char *obstacle; /* the reason why that cannot load the agent, or NULL */
  uint32_t look;
  uint64_t looked_ns, looked_cpu_ns; /* of its processes, as far as their clocks are readable */
  uint64_t period_ns;                /* of the tallies */
  uint32_t window_marks;
  struct unsampled_looks looks;
  struct census_figures figures;
};

/* Makes TARGET's census if there is none. NULL if memory is short. */
struct census *census_of(struct target *target);

/* The data of a thread's slot, or NULL if it has none. */
const struct census_slot *census_find_slot(const struct census *census, pid_t pid, pid_t tid);

/* Compares thread TID of PID with its state at the last look, and classifies it. */
void census_look_at(struct target *target, pid_t pid, pid_t tid);

#endif
