/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes CPU time of ended processes without samples. Samples are an estimate: of ten commands
   of a millisecond one may have a sample, which stands for all ten. So the amount is not each
   process's own difference: nine milliseconds plus the sample would be nearly twice the truth. It
   is computed from sums. A process with more samples than time leaves a debt, which the next ones
   of its service and run repay.

     due = said + execed - sampled - billed        of the target, while it lives
     due - debt of the service                     when it ends; a negative rest is the new debt

   A killed process has samples but has reported no time, so it leaves no debt. A debt is limited to
   the periods of DEBT_PERIODS threads, which is as much as chance can cause.

   The reported time is untrusted. It is limited to the time of all CPUs since the registration,
   plus the start.

   A worker that starts later does not know the earlier samples. So such targets are billed nothing
   (begun_ns is 0): less than the truth, never twice. */
#include "exit_bill.h"

enum { DEBT_PERIODS = 16 };
#define START_NS_MAX 50000000ULL /* CPU time between fork and constructor, on a slow board */

static uint64_t minus(uint64_t a, uint64_t b) {
  return a > b ? a - b : 0;
}

static uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

uint64_t exit_debt_key(const char *service, uint32_t run) {
  uint64_t key = 0xcbf29ce484222325ULL ^ run; /* FNV-1a */
  for (; *service != '\0'; service++) key = (key ^ (unsigned char)*service) * 0x100000001b3ULL;
  return key | 1;
}

/* KEY's row, or else the row with the smallest debt, reset to KEY. */
static struct exit_debt *find_debt(struct exit_debts *debts, uint64_t key) {
  struct exit_debt *smallest = &debts->rows[0];
  for (unsigned i = 0; i < EXIT_DEBTS_MAX; i++) {
    if (debts->rows[i].key == key) return &debts->rows[i];
    if (debts->rows[i].ns < smallest->ns) smallest = &debts->rows[i];
  }
  *smallest = (struct exit_debt){.key = key};
  return smallest;
}

void exit_debts_owe(struct exit_debts *debts, uint64_t key, uint64_t ns) {
  find_debt(debts, key)->ns += ns;
}

uint64_t exit_debts_pay(struct exit_debts *debts, uint64_t key, uint64_t ns) {
  struct exit_debt *debt = find_debt(debts, key);
  uint64_t paid = least(ns, debt->ns);
  debt->ns -= paid;
  return paid;
}

uint64_t exit_bill_next(struct exit_bill *bill, struct exit_debts *debts,
                        const struct exit_claim *claim) {
  if (bill->begun_ns == 0 || bill->said_ns + bill->execed_ns == 0) return 0;
  uint64_t possible = minus(claim->now_ns, bill->begun_ns) * claim->cpus + START_NS_MAX;
  uint64_t spent = least(bill->said_ns, possible) + bill->execed_ns;
  uint64_t shown = claim->sampled_ns + bill->billed_ns;
  uint64_t due = minus(spent, shown);
  if (claim->is_final) {
    struct exit_debt *debt = find_debt(debts, claim->key);
    uint64_t paid = least(due, debt->ns);
    due -= paid;
    debt->ns += least(minus(shown, spent), DEBT_PERIODS * claim->period_ns) - paid;
    debt->ns = least(debt->ns, DEBT_PERIODS * claim->period_ns);
  }
  bill->billed_ns += due;
  return due;
}

uint64_t exit_bill_begin_ns(uint64_t cpu_ns, bool was_known) {
  return was_known || cpu_ns > START_NS_MAX ? cpu_ns : 0;
}
