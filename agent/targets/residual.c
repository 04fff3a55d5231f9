/* SPDX-License-Identifier: Apache-2.0 */
/* A user-only event skips the expirations that fall into kernel code, and each thread's last
   partial period; a thread that lives shorter than one period is never sampled at all.  The event's
   count misses none of that.  So

     rest = total - sampled
     kernel part = min(rest, kernel time of the tree - samples in the kernel)

   An event that samples the kernel too leaves only the partial periods and the short threads.
   is reported cumulatively: what is due less what has been reported.  Kernel time is the system
   time that /proc says, or what the events say (kernel_part.c), if that is more.  All terms move
   while the program runs, so a part is held back (one period for each thread and CPU that may yet
   fire), and a dip below what was reported is waited out: weights are never negative.

   The total is the kernel's bill: the events' count without stolen time (steal_time.c), or what
   clocks say, if that is more.

   A `fleetprof run` within the tree makes a target of its own, and the events count its time here
   as well: that much of the total is somebody else's account. */
#include "residual.h"

static uint64_t minus(uint64_t a, uint64_t b) {
  return a > b ? a - b : 0;
}

uint64_t residual_kept_ns(const struct residual *residual) {
  return minus(residual->counted_ns, residual->steal.stolen_ns);
}

/* It falls when more of what the events counted is found stolen. */
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
