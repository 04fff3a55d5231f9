/* SPDX-License-Identifier: Apache-2.0 */
/* Why a thread that spends CPU time has no samples: pure. */
#ifndef CENSUS_UNSAMPLED_H
#define CENSUS_UNSAMPLED_H

#include <stdbool.h>
#include <stdint.h>

enum unsampled_reason {
  UNSAMPLED_NOT = 0,      /* it is sampled, or it is too early to say */
  UNSAMPLED_RAW,          /* no timer: made past the agent, or before it came */
  UNSAMPLED_LIMIT,        /* no timer: the agent had no slot left or the kernel refused one */
  UNSAMPLED_SECCOMP,      /* no timer: the program is in a sandbox, where none may be made */
  UNSAMPLED_BLOCKED,      /* it blocks the signal */
  UNSAMPLED_HANDLER_LOST, /* the program took the signal's handler away */
  UNSAMPLED_EXEC,         /* the process runs another program now, which did not load the agent */
  UNSAMPLED_DELETED,      /* no timer: it had one, and the program deleted that */
  UNSAMPLED_UNMET,        /* the ring was ready when the agent had waited long enough for it */
  UNSAMPLED_CRAMPED,      /* its stack, or the alternate one, has no room for a signal */
  UNSAMPLED_REASONS,
};

enum unsampled_timer { UNSAMPLED_TIMER_UNKNOWN = 0, UNSAMPLED_TIMER_NO, UNSAMPLED_TIMER_YES };

/* What is known of one thread. */
struct unsampled_evidence {
  uint64_t quiet_ns; /* CPU time that it has had since its last signal was seen */
  uint64_t period_ns, tick_ns;
  bool is_cramped;       /* its process left because a stack has no room for a signal */
  bool is_caught;        /* the process has a handler for the signal */
  bool is_unmet;         /* no agent has ever taken the ring into use */
  bool is_replaced;      /* it runs another program than the one that registered */
  bool is_blocked;       /* the thread blocks the signal, and did at the last look too */
  bool is_sandboxed;     /* it has a seccomp filter */
  bool is_process_clock; /* one clock for all threads (itimer) */
  bool is_bursty;        /* its bursts are so short that ticks may pass it by */
  bool had_timer;        /* as its slot in the ring says, or the count of its process */
  enum unsampled_timer timer;
};

/* Judges on the side of innocence: a thread must have spent CPU time that would have made several
   signals, and where the reason can only be inferred, many.  Pure. */
enum unsampled_reason unsampled_judge(const struct unsampled_evidence *evidence);

/* "raw", "limit", ...; and for a sentence: "made by raw clone", ... */
const char *unsampled_name(enum unsampled_reason reason);
const char *unsampled_meaning(enum unsampled_reason reason);

/* The sampler was taken away: waiting mends nothing. */
bool unsampled_is_for_good(enum unsampled_reason reason);

/* A look at all threads of a target. */
struct unsampled_sum {
  uint64_t all_ns;           /* CPU time since the look before */
  uint64_t dark_ns, lost_ns; /* of that by threads that are not sampled; for good */
  uint32_t threads, unsampled, lost;
};

/* How often in a row, at most UNSAMPLED_PATIENCE. */
struct unsampled_looks {
  uint32_t lost, dark, blind;
};
enum { UNSAMPLED_TWICE = 2, UNSAMPLED_PATIENCE = 5 };

/* With every look: the sampler has failed, and another is due; it reaches no thread at all.  Both
   count this look in LOOKS. */
bool unsampled_has_failed(struct unsampled_looks *looks, const struct unsampled_sum *sum);
bool unsampled_is_blind(struct unsampled_looks *looks, const struct unsampled_sum *sum);

#endif
