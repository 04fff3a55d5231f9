/* SPDX-License-Identifier: Apache-2.0 */
/* A program that becomes a daemon ends before its child has spent a whole period. The child has no
   slot then, and only its row, which it adds at its start, shows that the ring is still in use.
   Between the fork and that row neither exists, so the parent counts its forks beforehand and each
   child decrements the count. A fork that failed, or a child that was killed at once, leaves the
   count raised. Callers wait for it, but not for ever. If there are more children at once than
   rows, the others are known from their first sample.

   A row is an untrusted claim (claim.c). A process that no longer catches the ring's signal does
   not count. It has executed another program or is a zombie, and gives no samples either way. */
#include "children.h"
#include "claim.h"
#include "timer_ring.h"

#include "proc/proc_status.h"
#include "ring/ring_switch.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

static bool catches_signal(const struct target *target, pid_t pid) {
  struct proc_status status;
  uint64_t ours = UINT64_C(1) << (timer_ring_signal(&target->held) - 1);
  return proc_status_read(pid, pid, &status) == 0 && (status.caught & ours) != 0;
}

static bool is_gone(pid_t pid) {
  return pid < 0 || (kill(pid, 0) != 0 && errno == ESRCH);
}

bool children_live(struct target *target) {
  struct ring_process_view view;
  bool is_one_alive = false;
  for (unsigned row = 0; row < RING_PROCESSES_MAX; row++) {
    ring_switch_look(&target->ring, row, &view);
    pid_t pid = (pid_t)view.pid;
    if (pid == 0 || pid == target->held.pid) continue;
    if (is_gone(pid)) {
      ring_switch_free(&target->ring, row, &view);
      continue;
    }
    if (is_one_alive) continue;
    if (target->row_claims == NULL)
      target->row_claims = calloc(RING_PROCESSES_MAX, sizeof *target->row_claims);
    if (target->row_claims == NULL) return true; /* checked again soon */
    is_one_alive =
        claim_stands(target, pid, &target->row_claims[row]) && catches_signal(target, pid);
  }
  return is_one_alive;
}

static bool has(const pid_t *pids, unsigned count, pid_t pid) {
  for (unsigned i = 0; i < count; i++)
    if (pids[i] == pid) return true;
  return false;
}

unsigned children_add(const struct target *target, pid_t *pids, unsigned count, unsigned most) {
  struct ring_process_view view;
  for (unsigned row = 0; row < RING_PROCESSES_MAX && count < most; row++) {
    struct claim claim = {0};
    ring_switch_look(&target->ring, row, &view);
    pid_t pid = (pid_t)view.pid;
    if (pid <= 0 || pid == target->held.pid || has(pids, count, pid)) continue;
    if (claim_stands(target, pid, &claim) && catches_signal(target, pid)) pids[count++] = pid;
  }
  return count;
}

bool children_are_awaited(const struct target *target) {
  return ring_switch_forks(&target->ring) > 0;
}

void children_forget(const struct target *target, pid_t pid) {
  struct ring_process_view view;
  for (unsigned row = 0; row < RING_PROCESSES_MAX; row++) {
    ring_switch_look(&target->ring, row, &view);
    if ((pid_t)view.pid == pid) ring_switch_free(&target->ring, row, &view);
  }
}
