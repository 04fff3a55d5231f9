/* SPDX-License-Identifier: Apache-2.0 */
/* The reason why a thread with CPU time has no samples: pure. */
#ifndef CENSUS_UNSAMPLED_H
#define CENSUS_UNSAMPLED_H

#include <stdbool.h>
#include <stdint.h>

enum unsampled_reason {
  UNSAMPLED_NOT = 0,      /* it is sampled, or it is too early to decide */
  UNSAMPLED_RAW,          /* no timer: made bypassing the agent, or before it */
  UNSAMPLED_LIMIT,        /* no timer: the agent had no slot left or the kernel refused one */
  UNSAMPLED_SECCOMP,      /* no timer: the program is in a sandbox that forbids timers */
  UNSAMPLED_BLOCKED,      /* it blocks the signal */
  UNSAMPLED_HANDLER_LOST, /* the program replaced the signal's handler */
  UNSAMPLED_EXEC,         /* the process now runs another program, which did not load the agent */
  UNSAMPLED_DELETED,      /* no timer: the program deleted it */
  UNSAMPLED_UNMET,        /* the ring was ready only after the agent's timeout */
  UNSAMPLED_CRAMPED,      /* its stack, or the alternate one, has no room for a signal frame */
  UNSAMPLED_REASONS,
};

enum unsampled_timer { UNSAMPLED_TIMER_UNKNOWN = 0, UNSAMPLED_TIMER_NO, UNSAMPLED_TIMER_YES };

/* The observations of one thread. */
struct unsampled_evidence {
  uint64_t quiet_ns; /* CPU time since its last signal */
  uint64_t period_ns, tick_ns;
  bool is_cramped;       /* its process left because a stack lacks room for a signal frame */
  bool is_caught;        /* the process has a handler for the signal */
  bool is_unmet;         /* no agent has ever used the ring */
  bool is_replaced;      /* it runs another program than the registered one */
  bool is_blocked;       /* the thread blocks the signal, also at the last look */
  bool is_sandboxed;     /* it has a seccomp filter */
  bool is_process_clock; /* one clock for all threads (itimer) */
  bool is_bursty;        /* its bursts are so short that ticks may miss it */
  bool had_timer;        /* by its slot in the ring, or its process's count */
  enum unsampled_timer timer;
};

/* The reason for a thread. In doubt it counts as sampled: it must have spent CPU time for several
   signals, and for many if the reason can only be inferred. Pure. */
enum unsampled_reason unsampled_judge(const struct unsampled_evidence *evidence);

/* "raw", "limit", ...; and as part of a sentence: "made by raw clone", ... */
const char *unsampled_name(enum unsampled_reason reason);
const char *unsampled_meaning(enum unsampled_reason reason);

/* True if the sampler was removed: waiting does not help. */
bool unsampled_is_for_good(enum unsampled_reason reason);

/* The sums of a look at all threads of a target. */
struct unsampled_sum {
  uint64_t all_ns;           /* CPU time since the previous look */
  uint64_t dark_ns, lost_ns; /* the part of unsampled threads; of those without return */
  uint32_t threads, unsampled, lost;
};

/* Numbers of looks in a row, at most UNSAMPLED_PATIENCE. */
struct unsampled_looks {
  uint32_t lost, dark, blind;
};
enum { UNSAMPLED_TWICE = 2, UNSAMPLED_PATIENCE = 5 };

/* With every look: has_failed is true if the sampler has failed and a fallback is due, is_blind if
   it reaches no thread at all. Both count this look in LOOKS. */
bool unsampled_has_failed(struct unsampled_looks *looks, const struct unsampled_sum *sum);
bool unsampled_is_blind(struct unsampled_looks *looks, const struct unsampled_sum *sum);

#endif
