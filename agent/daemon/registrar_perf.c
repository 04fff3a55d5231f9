/* SPDX-License-Identifier: Apache-2.0 */
/* Registers programs that perf samples.  Events from the daemon's own user are accepted as they
   are, because that user has full control of the daemon anyway.  From other users only the pid is
   accepted: events are then opened here (perf_admission.c), and the number of events per user is
   limited.  A rejected program falls back to the timer, and the status shows the reason.

   The program may be part of a tree that is already sampled: `run` in a shell with the agent, or
   below another `run`.  It is then a target inside that tree's, with its own service and rate.
   From then on its processes are its own, and the tree's events do not cover them (perf_process.c,
   residual.c). */
#include "ladder.h"
#include "registrar.h"
#include "run_note.h"
#include "switchboard.h"

#include "intake/perf_attr.h"
#include "proc/proc_stat.h"
#include "targets/perf_admission.h"

#include <string.h>
#include <unistd.h>

struct events {
  int fds[INTAKE_FDS_MAX];
  bool are_ours; /* to be closed if the registration fails */
};

/* Redirects each event to its CPU's ring; the last two may be those of perf_exits.h. */
static const char *redirect(const struct perf_rings *perf, const struct hold_target *held,
                            const int *fds) {
  uint64_t id;
  for (unsigned i = 0; i < hold_fds(held); i++)
    if (!perf_event_id(fds[i], &id)) return "a descriptor is no perf event";
  for (unsigned i = 0; i < perf->count; i++)
    if (perf_ring_redirect(&perf->cpus[i], fds[i]) < 0)
      return "a perf event cannot be redirected: another CPU or clock";
  return NULL;
}

static uint64_t events_of_user(const struct worker *worker, uint32_t uid) {
  uint64_t events = 0;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    const struct target *target = worker->targets.rows[row];
    if (target != NULL && target->held.kind == HOLD_PERF && target->held.uid == uid)
      events += hold_fds(&target->held);
  }
  return events;
}

const char *registrar_check_events(const struct worker *worker, uint32_t uid, uint64_t more) {
  if (uid == geteuid()) return NULL;
  bool is_full = events_of_user(worker, uid) + more > PERF_ADMISSION_EVENTS_OF_USER;
  return is_full ? "your programs have 8192 perf events already" : NULL;
}

static const char *open_events(const struct worker *worker, struct hold_target *held,
                               struct events *events) {
  const struct perf_rings *perf = &worker->keeper->perf;
  const char *fault = registrar_check_events(worker, held->uid, perf->count + 2);
  if (fault == NULL) fault = perf_admission_open(perf, held, events->fds);
  events->are_ours = fault == NULL;
  return fault;
}

static const char *accept_events(const struct worker *worker, const struct intake_packet *packet,
                                 struct hold_target *held, struct events *events) {
  const struct perf_rings *perf = &worker->keeper->perf;
  if (perf->count == 0) return perf->why;
  /* The daemon can only read samples of known contents.  If the daemon's default or its kernel
     differs from the caller's, it opens its own events. */
  uint32_t content = packet->request->content;
  bool is_as_held = perf_content_callers(content) == perf_content_callers(held->content);
  if (packet->uid != geteuid() || !is_as_held) return open_events(worker, held, events);
  held->content = content; /* the caller's privileges decided whether the kernel is sampled */
  held->fd_count = perf->count;
  held->exit_fd_count = packet->fd_count == perf->count + 2 ? 2 : 0;
  if (packet->fd_count != hold_fds(held)) return "one perf event for each online CPU is needed";
  memcpy(events->fds, packet->fds, sizeof *packet->fds * packet->fd_count);
  return NULL;
}

static const char *check_request(struct worker *worker, const struct intake_packet *packet) {
  long owner = proc_owner(packet->request->pid);
  if (worker->stop_by_ns != 0) return registrar_ending_reason;
  if (switchboard_kill_path(worker) != NULL) return registrar_kill_reason;
  if (owner < 0 || (packet->uid != 0 && owner != (long)packet->uid))
    return "the program is not yours";
  if (!registrar_has_room(worker, packet->uid, 0))
    return "256 targets, or 192 of one user, are profiled already";
  return NULL;
}

static const char *make_target(struct worker *worker, const struct intake_packet *packet,
                               struct hold_target *held, struct events *events) {
  const char *fault = check_request(worker, packet);
  if (fault == NULL) fault = registrar_describe(worker, packet, held);
  if (fault == NULL && held->collect > RING_PC_LR)
    fault = "a histogram or recorder is written inside the program, not by perf";
  if (fault == NULL) fault = accept_events(worker, packet, held, events);
  if (fault == NULL) fault = redirect(&worker->keeper->perf, held, events->fds);
  return fault;
}

/* Returns the id of the target with PID in its tree, or 0. */
static uint32_t find_outer(struct worker *worker, pid_t pid) {
  drain_run(&worker->drain);
  const struct target *outer = ladder_cover(worker, pid);
  return outer != NULL ? outer->held.id : 0;
}

static void claim_process(struct worker *worker, const struct target *target) {
  struct process *process = processes_get(worker->processes, target->held.pid, target->held.id, -1);
  if (process != NULL) process->is_root = true;
}

void registrar_on_perf(struct worker *worker, struct intake_packet *packet) {
  struct hold_target held = {.kind = HOLD_PERF, .pid = packet->request->pid};
  struct events events = {.are_ours = false};
  const char *fault = make_target(worker, packet, &held, &events);
  if (fault == NULL) held.inside = find_outer(worker, held.pid);
  struct target *target = fault == NULL ? registrar_take(worker, &held, events.fds) : NULL;
  if (fault == NULL && target == NULL) fault = "the perf events could not be taken over";
  if (fault != NULL) {
    if (events.are_ours) hold_close_fds(&held, events.fds);
    intake_refuse(packet->connection, fault);
    return;
  }
  if (held.inside != 0) claim_process(worker, target);
  for (unsigned i = 0; !events.are_ours && i < packet->fd_count; i++) packet->fds[i] = -1;
  run_note_join(worker, target);
  /* The status can then show the choice long after the program's end. */
  run_note_add(worker, packet, "perf", target->held.asked_mhz);
  run_note_begin_window(worker, packet->uid);
  intake_accept(packet->connection);
}
