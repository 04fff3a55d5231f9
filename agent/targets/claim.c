/* SPDX-License-Identifier: Apache-2.0 */
/* A target lives as long as one of its processes does, and only its untrusted ring lists them.
   Accepted unchecked, a dead program could stay for ever by naming process 1, or -1, or a reused
   pid. A child, even an orphaned one, is never older than the registered program and has the same
   user. A program of root may have dropped its privileges, so claims of root are accepted.

   This does not distinguish a program's child from another young process of the same user. That lie
   gains nothing: a user who keeps a process for it could as well keep a target. */
#include "claim.h"

#include "proc/proc_stat.h"
#include "proc/proc_status.h"

static bool is_of_user(pid_t pid, uint32_t uid) {
  struct proc_status status;
  return uid == 0 || (proc_status_read(pid, pid, &status) == 0 && status.uid == uid);
}

bool claim_stands(const struct target *target, pid_t pid, struct claim *seen) {
  struct proc_stat stat;
  if (pid <= 0) return false;
  if (pid == seen->pid && seen->start_ticks == 0) return false;
  if (proc_stat_read(pid, &stat) != 0) return false;
  if (pid == seen->pid) return stat.start_ticks == seen->start_ticks;
  bool is_ours = stat.start_ticks >= target->held.start_ticks && is_of_user(pid, target->held.uid);
  *seen = (struct claim){.pid = pid, .start_ticks = is_ours ? stat.start_ticks : 0};
  return is_ours;
}
