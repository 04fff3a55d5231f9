/* SPDX-License-Identifier: Apache-2.0 */
/* Of events that sample user mode only.

   The kernel tells the system time of a process by what its tick has met.  A program that keeps
   step with the tick is never met, or always at the same place: bursts of 0.2 ms that begin with a
   tick had 8 % of their time in the kernel (sleeping and waking), and /proc said 0.

   The events know better.  A user-only event runs on while its thread is in the kernel, and its
   expirations there make no sample: it is an honest clock that keeps step with nobody.  So what was
   counted and has no sample was in the kernel, unless something else is known that can have hidden
   it:

     a thread's last part of a period     on each CPU that it may have run on
     samples without room in a window     known to the nanosecond
     time that the hypervisor stole       the events run on; where the clocks do not prove how long
                                          (steal_time.c), the target's part of the board's by its
                                          part of the busy time
     records lost, events paused,         how much, nobody knows: all that was found without a
     throttled, exchanged or broken       sample at the next look is doubtful for ever

   This is less than the truth where threads are short; then /proc's word stands. */
#include "kernel_part.h"

static uint64_t minus(uint64_t a, uint64_t b) {
  return a > b ? a - b : 0;
}

void kernel_part_begin(struct kernel_part *part, uint64_t counted_ns) {
  *part = (struct kernel_part){.base_ns = counted_ns};
}

uint64_t kernel_part_look(struct kernel_part *part, const struct kernel_look *look) {
  uint64_t dark = minus(minus(look->counted_ns, part->base_ns), look->sampled_ns);
  uint64_t known = part->lost_ns + part->hidden_ns + look->held_ns + look->stolen_ns;
  uint64_t kernel = minus(dark, known);
  if (part->is_blind || look->is_blind)
    part->hidden_ns += minus(kernel, part->kernel_ns);
  else if (kernel > part->kernel_ns)
    part->kernel_ns = kernel;
  part->is_blind = look->is_blind;
  return part->kernel_ns;
}
