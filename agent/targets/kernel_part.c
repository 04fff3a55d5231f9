/* SPDX-License-Identifier: Apache-2.0 */
/* Computes kernel time, for events that sample user mode only.

   The kernel derives a process's system time from its tick. A program synchronized with the tick is
   never hit, or always at the same place. Bursts of 0.2 ms that begin with a tick spent 8 % of
   their time in the kernel (sleeping and waking), and /proc reported 0.

   The events are more accurate. A user-only event continues while its thread is in the kernel, and
   its expirations there make no sample: it is a clock that synchronizes with nothing. So counted
   time without a sample was in the kernel, unless another known cause can have hidden it:

     a thread's last part of a period     on each CPU that it may have run on
     samples without room in a window     known to the nanosecond
     time stolen by the hypervisor        the events run on; if the clocks do not prove how long
                                          (steal_time.c), the target's part of the board's by its
                                          part of the busy time
     records lost, events paused,         an unknown amount: all time without a sample at the next
     throttled, exchanged or broken       check stays doubtful for ever

   This is less than the truth if threads are short; then the value from /proc is used. */
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
