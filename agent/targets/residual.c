/* SPDX-License-Identifier: Apache-2.0 */
/* A user-only event skips the expirations in kernel code, and each thread's last partial period. A
   thread shorter than one period is never sampled. The event's count includes all of that. So

     rest = total - sampled
     kernel part = min(rest, kernel time of the tree - samples in the kernel)

   An event that samples the kernel too omits only the partial periods and the short threads. The
   rest is reported cumulatively: the time due minus the time already reported. Kernel time is the
   system time from /proc, or the value from the events (kernel_part.c), if that is larger. All
   terms change while the program runs. So a part is held back: one period for each thread and CPU
   that may still fire. If the rest falls below the reported value, nothing is reported until it
   exceeds that again. Weights are never negative.

   The total is the CPU time that the kernel bills: the events' count without stolen time
   (steal_time.c), or the value from the clocks, if that is larger.

   A `fleetprof run` within the tree has its own target, and the events here count its time too.
   That part of the total is reported by the other target. */
#include "residual.h"

static uint64_t minus(uint64_t a, uint64_t b) {
  return a > b ? a - b : 0;
}

uint64_t residual_kept_ns(const struct residual *residual) {
  return minus(residual->counted_ns, residual->steal.stolen_ns);
}

/* It falls when more of the counted time is found to be stolen. */
static void settle_total(struct residual *residual) {
  uint64_t kept = minus(residual->most_ns, residual->steal.stolen_ns);
  residual->total_ns = kept > residual->heard_ns ? kept : residual->heard_ns;
}

void residual_count(struct residual *residual, uint64_t ns) {
  residual->counted_ns = ns;
  if (ns > residual->most_ns) residual->most_ns = ns;
  settle_total(residual);
}

void residual_hear(struct residual *residual, uint64_t ns) {
  if (ns > residual->heard_ns) residual->heard_ns = ns;
  settle_total(residual);
}

uint64_t residual_own_ns(const struct residual *residual) {
  return minus(residual->total_ns, residual->base_total_ns + residual->elsewhere_ns);
}

void residual_rebase(struct residual *residual) {
  residual->base_total_ns = minus(residual->total_ns, residual->elsewhere_ns);
  residual->base_kernel_ns = residual->kernel_ns;
  residual->spread_ns = minus(residual->total_ns, residual_kept_ns(residual));
  residual->sampled_ns = residual->sampled_kernel_ns = 0;
  residual->reported_kernel_ns = 0;
  residual->reported_rest_ns = 0;
  kernel_part_begin(&residual->kernel, minus(residual_kept_ns(residual), residual->elsewhere_ns));
}

uint64_t residual_due_ns(const struct residual *residual) {
  return minus(minus(residual_own_ns(residual), residual->sampled_ns),
               residual->reported_kernel_ns + residual->reported_rest_ns);
}

static uint64_t kernel_not_shown(const struct residual *residual) {
  return minus(residual->kernel_ns, residual->base_kernel_ns + residual->left_kernel_ns +
                                        residual->sampled_kernel_ns + residual->reported_kernel_ns);
}

void residual_look(struct residual *residual, const struct steal_look *look) {
  steal_time_look(&residual->steal, look);
  settle_total(residual);
}

uint64_t residual_pay(struct residual *residual, uint64_t weight_ns, uint64_t part_ns) {
  uint64_t shown = residual->sampled_ns + residual->reported_kernel_ns + residual->reported_rest_ns;
  uint64_t claimed = shown + kernel_not_shown(residual) + weight_ns;
  uint64_t expected = steal_time_expected_ns(&residual->steal, residual->most_ns);
  struct steal_sample sample = {.weight_ns = weight_ns,
                                .over_ns = minus(claimed + expected, residual_own_ns(residual)),
                                .expected_ns = expected,
                                .part_ns = part_ns};
  return steal_time_pay(&residual->steal, &sample);
}

static void book(struct residual *residual, uint64_t now, uint64_t kernel,
                 struct residual_step *ret) {
  ret->kernel_ns = now < kernel ? now : kernel;
  ret->rest_ns = now - ret->kernel_ns;
  residual->reported_kernel_ns += ret->kernel_ns;
  residual->reported_rest_ns += ret->rest_ns;
}

void residual_next(struct residual *residual, uint64_t held_ns, struct residual_step *ret) {
  book(residual, minus(residual_due_ns(residual), held_ns), kernel_not_shown(residual), ret);
}

void residual_bill(struct residual *residual, const struct residual_claim *claim,
                   struct residual_step *ret) {
  uint64_t due = residual_due_ns(residual);
  uint64_t now = claim->wanted_ns < due ? claim->wanted_ns : due;
  uint64_t kernel = claim->kernel_ns;
  if (!claim->is_kernel_known && due > 0)
    kernel = (uint64_t)((double)now * (double)kernel_not_shown(residual) / (double)due);
  book(residual, now, kernel, ret);
}
