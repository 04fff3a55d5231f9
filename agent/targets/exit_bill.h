/* SPDX-License-Identifier: Apache-2.0 */
/* What a timer target's ended processes have spent and no sample shows, billed to their service. */
#ifndef TARGETS_EXIT_BILL_H
#define TARGETS_EXIT_BILL_H

#include <stdbool.h>
#include <stdint.h>

enum { EXIT_DEBTS_MAX = 64 /* services that are owed at a time; the smallest debt is forgiven */ };

/* One target's account. */
struct exit_bill {
  uint64_t begun_ns;  /* CLOCK_MONOTONIC: registered; 0: by a worker that is dead */
  uint64_t said_ns;   /* by processes at their end, as it was before the last drain */
  uint64_t execed_ns; /* of processes that went on as another program */
  uint64_t billed_ns;
  uint64_t perf_ns; /* of billed_ns: what a perf target of the same run answers for */
};

/* What a service's samples came to beyond the time that its ended processes had spent. */
struct exit_debt {
  uint64_t key; /* 0: free */
  uint64_t ns;
};

struct exit_debts {
  struct exit_debt rows[EXIT_DEBTS_MAX];
};

/* The key of SERVICE in the run of that serial. */
uint64_t exit_debt_key(const char *service, uint32_t run);

/* KEY's samples came to NS more than its time. */
void exit_debts_owe(struct exit_debts *debts, uint64_t key, uint64_t ns);
/* KEY has NS without samples.  Returns what of that its debt pays. */
uint64_t exit_debts_pay(struct exit_debts *debts, uint64_t key, uint64_t ns);

struct exit_claim {
  uint64_t now_ns;
  uint32_t cpus;
  uint64_t sampled_ns; /* of all its processes */
  uint64_t period_ns;
  uint64_t key;
  bool is_final;
};

/* What is to be billed now.  Books it.  Pure. */
uint64_t exit_bill_next(struct exit_bill *bill, struct exit_debts *debts,
                        const struct exit_claim *claim);

/* What a program that registers now, in a process that has spent CPU_NS, is not to answer for; all
   of it when WAS_KNOWN: another target answers.  Pure. */
uint64_t exit_bill_begin_ns(uint64_t cpu_ns, bool was_known);

#endif
