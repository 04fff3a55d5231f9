/* SPDX-License-Identifier: Apache-2.0 */
/* A sample does not say when it was taken, and /proc tells of now.  What lies between is known only
   by a number that the program raises before and after it unloads a library:

     samples of a slot   taken after the slot was emptied last, when the number was `slot_unloads`
     mappings            read when it was `maps_unloads`
     now

   With all three the same, nothing was unloaded from the oldest sample to the mappings and to now.
   Else a library may be in the place of another, and the samples are believed only as far as they
   lie in what the program began with, which nothing unloads; the rest is [unknown].  At ten drains
   a second that is at most the tenth of a second around each unloading.  (Libraries that libc
   unloads by itself raise no number: for them the mappings are read once a window.)

   The number is the target's word: a liar gets [unknown], or wrong names for himself. */
#include "unloads.h"

#include <stdlib.h>

uint32_t unloads_now(const struct target *target) {
  return ring_reader_unloads(&target->ring);
}

void unloads_settle(struct target *target, uint32_t slot, uint32_t before) {
  if (before == 0) return;
  if (target->slot_unloads == NULL)
    target->slot_unloads = calloc(target->ring.slot_count, sizeof *target->slot_unloads);
  if (target->slot_unloads != NULL) target->slot_unloads[slot] = before;
}

void unloads_prepare(struct target *target, uint32_t slot, struct processes *processes,
                     struct process *process, int maps_fd) {
  uint32_t now = unloads_now(target);
  uint32_t emptied = target->slot_unloads != NULL ? target->slot_unloads[slot] : 0;
  if (process->maps_unloads != now || process->is_old)
    process_read_maps(processes, process, maps_fd, now);
  process->is_unsure = emptied != now || process->maps_unloads != now || unloads_now(target) != now;
}
