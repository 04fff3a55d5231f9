/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time of a timer target's ended processes that no sample shows. It is billed to their
   service. */
#ifndef TARGETS_EXIT_BILL_H
#define TARGETS_EXIT_BILL_H

#include <stdbool.h>
#include <stdint.h>

enum { EXIT_DEBTS_MAX = 64 /* services in debt at once; the smallest debt is dropped */ };

/* The account of a target. */
struct exit_bill {
  uint64_t begun_ns;  /* CLOCK_MONOTONIC: registered; 0: by an earlier worker */
  uint64_t said_ns;   /* reported by ended processes, as of before the last drain */
  uint64_t execed_ns; /* of processes that executed another program */
  uint64_t billed_ns;
  uint64_t perf_ns; /* the part of billed_ns that a perf target of the same run reports */
};

/* A service's sampled time beyond the CPU time of its ended processes. */
struct exit_debt {
  uint64_t key; /* 0: free */
  uint64_t ns;
};

struct exit_debts {
  struct exit_debt rows[EXIT_DEBTS_MAX];
};

/* The key of SERVICE in the run with serial RUN. */
uint64_t exit_debt_key(const char *service, uint32_t run);

/* Adds NS to KEY's debt. */
void exit_debts_owe(struct exit_debts *debts, uint64_t key, uint64_t ns);
/* KEY has NS of unsampled time. Returns the part of it that its debt covers. */
uint64_t exit_debts_pay(struct exit_debts *debts, uint64_t key, uint64_t ns);

struct exit_claim {
  uint64_t now_ns;
  uint32_t cpus;
  uint64_t sampled_ns; /* for all its processes */
  uint64_t period_ns;
  uint64_t key;
  bool is_final;
};

/* The time to bill now, which is recorded as billed. Pure. */
uint64_t exit_bill_next(struct exit_bill *bill, struct exit_debts *debts,
                        const struct exit_claim *claim);

/* The part of CPU_NS, spent before this program registered, that is not billed to it. All of it if
   WAS_KNOWN, because another target reports it. Pure. */
uint64_t exit_bill_begin_ns(uint64_t cpu_ns, bool was_known);

#endif
