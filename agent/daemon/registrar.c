/* SPDX-License-Identifier: Apache-2.0 */
/* New targets.  Each request is checked as a stranger's: the sender's pid and uid are the kernel's
   word, descriptors are looked at before they are used (a maps descriptor must be a file of procfs,
   a perf descriptor a perf event), and there is a limit on targets and on ring memory.  What is
   refused gets one line that says why; the program runs on unprofiled.

   Before the answer goes out the keeper holds a copy of every descriptor, so from the first sample
   on nothing depends on this worker's life.

   A process of another pid namespace is refused a ring: the numbers that it writes into slots would
   mean other processes here. */
#include "intake.h"
#include "timer_ring.h"
#include "worker.h"

#include "common/clock.h"
#include "common/log.h"

#include <errno.h>
#include <event2/event.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
  RATE_MHZ_MAX = 10000 * 1000,
  RATE_MHZ_MIN = 100,
  ANCESTORS_MAX = 32, /* how far up a tree a note is looked for */
};

static bool is_same_namespace(pid_t pid) {
  char path[64], ours[64], theirs[64];
  snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)pid);
  ssize_t our_len = readlink("/proc/self/ns/pid", ours, sizeof ours);
  ssize_t their_len = readlink(path, theirs, sizeof theirs);
  if (our_len <= 0 || their_len <= 0) return true; /* a kernel without namespaces */
  return our_len == their_len && memcmp(ours, theirs, (size_t)our_len) == 0;
}

static bool is_procfs_file(int fd) {
  struct statfs found;
  return fstatfs(fd, &found) == 0 && found.f_type == PROC_SUPER_MAGIC;
}

/* Programs that come and go faster than targets are swept must not fill the house. */
static bool has_room(struct worker *worker, uint64_t ring_bytes) {
  const struct targets *targets = &worker->targets;
  bool is_full = targets->count >= HOLD_TARGETS_MAX ||
                 targets->ring_bytes + ring_bytes > TARGETS_RING_BYTES_MAX;
  if (is_full) worker_sweep_targets(worker);
  return targets->count < HOLD_TARGETS_MAX &&
         targets->ring_bytes + ring_bytes <= TARGETS_RING_BYTES_MAX;
}

/* The part of a target that both kinds take from the request. */
static const char *describe(struct worker *worker, const struct intake_packet *packet,
                            struct hold_target *ret) {
  const struct intake_request *request = packet->request;
  struct proc_stat stat;
  uint32_t mhz = request->asked_mhz;
  if (mhz == 0) mhz = (uint32_t)worker->settings->hz * 1000;
  if (mhz < RATE_MHZ_MIN || mhz > RATE_MHZ_MAX) return "the rate must be 0.1 to 10000 Hz";
  if (proc_stat_read(ret->pid, &stat) < 0) return "no such process";
  ret->start_ticks = stat.start_ticks;
  ret->id = worker->targets.next_id++;
  ret->uid = packet->uid;
  ret->asked_mhz = mhz;
  ret->period_ns = 1000 * NS_PER_SECOND / mhz;
  memcpy(ret->service, request->service, sizeof ret->service);
  memcpy(ret->labels, request->labels, sizeof ret->labels);
  memcpy(ret->exe, request->exe, sizeof ret->exe);
  memcpy(ret->why, request->why, sizeof ret->why);
  return NULL;
}

/* Gives copies of FDS to the keeper and takes them over.  Returns the target or NULL. */
static struct target *take(struct worker *worker, const struct hold_target *held, const int *fds) {
  int error = hold_send_keep(worker->keeper->worker_socket, held, fds);
  if (error) {
    log_warn("target %d: the keeper cannot hold it: %s", (int)held->pid, strerror(-error));
    return NULL;
  }
  struct target *target = targets_add_take(&worker->targets, held, fds);
  if (target == NULL) {
    hold_send_drop(worker->keeper->worker_socket, held->id);
    return NULL;
  }
  worker->targets_seen++;
  worker->live_ns = clock_monotonic_ns();
  /* The loop may be ticking slowly. */
  struct timeval soon = {0, 1000};
  event_add(worker->tick, &soon);
  return target;
}

/* The note for PID or the nearest of its ancestors. */
static const struct worker_note *find_note(const struct worker *worker, pid_t pid) {
  struct proc_stat stat;
  for (unsigned up = 0; pid > 1 && up < ANCESTORS_MAX; up++) {
    for (unsigned i = 0; i < WORKER_NOTES_MAX; i++)
      if (worker->notes[i].pid == pid) return &worker->notes[i];
    if (proc_stat_read(pid, &stat) < 0) return NULL;
    pid = stat.parent;
  }
  return NULL;
}

/* The same process registers again after an exec: its slots elsewhere are of a program that is no
   more. */
static void end_before_exec(struct worker *worker, pid_t pid) {
  drain_run(&worker->drain);
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target == NULL || target->held.kind != HOLD_TIMER) continue;
    if (drain_reclaim_slots(target, pid) == 0 && target->held.pid == pid)
      worker_forget_target(worker, target);
  }
  processes_forget_pid(worker->processes, pid);
}

static const char *check_target(struct worker *worker, const struct intake_packet *packet) {
  if (packet->fd_count != 1 || !is_procfs_file(packet->fds[0]))
    return "a ring needs the descriptor of /proc/self/maps";
  if (!is_same_namespace(packet->pid)) return "the process is in another pid namespace";
  if (worker->stop_by_ns != 0) return "the daemon is ending";
  return NULL;
}

static const char *make_target(struct worker *worker, struct intake_packet *packet,
                               struct hold_target *held) {
  const struct worker_note *note = find_note(worker, packet->pid);
  held->kind = HOLD_TIMER;
  held->pid = packet->pid;
  held->fd_count = 2;
  const char *fault = describe(worker, packet, held);
  if (fault != NULL) return fault;
  if (note != NULL && held->why[0] == '\0') memcpy(held->why, note->why, sizeof held->why);
  timer_ring_size(held);
  if (!has_room(worker, timer_ring_bytes(held)))
    return "256 targets, or 64 MiB of rings, are in use already";
  return NULL;
}

void registrar_on_target(struct worker *worker, struct intake_packet *packet) {
  struct hold_target held = {0};
  struct intake_reply reply = {.kind = INTAKE_RING};
  const char *fault = check_target(worker, packet);
  if (fault == NULL) end_before_exec(worker, packet->pid);
  if (fault == NULL) fault = make_target(worker, packet, &held);
  int ring = fault ? -1 : timer_ring_make(&held);
  if (fault == NULL && ring < 0) fault = "no memory for a ring";
  if (fault != NULL) {
    intake_refuse(packet->connection, fault);
    return;
  }
  int fds[2] = {ring, packet->fds[0]};
  struct target *target = take(worker, &held, fds);
  if (target == NULL) {
    close(ring);
    intake_refuse(packet->connection, "the ring could not be set up");
    return;
  }
  packet->fds[0] = -1;
  /* All libraries that a program is linked with are mapped by now. */
  processes_get(worker->processes, held.pid, held.id, fds[1]);
  intake_answer(packet->connection, &reply, ring);
}

/* Redirects each event into its CPU's ring. */
static const char *redirect(struct worker *worker, const struct intake_packet *packet) {
  const struct perf_rings *perf = &worker->keeper->perf;
  uint64_t id;
  if (perf->count == 0) return perf->why;
  if (packet->fd_count != perf->count) return "one perf event for each online CPU is needed";
  for (unsigned i = 0; i < packet->fd_count; i++)
    if (!perf_event_id(packet->fds[i], &id)) return "a descriptor is no perf event";
  for (unsigned i = 0; i < packet->fd_count; i++)
    if (perf_ring_redirect(&perf->cpus[i], packet->fds[i]) < 0)
      return "a perf event cannot be redirected: another CPU or clock";
  return NULL;
}

void registrar_on_perf(struct worker *worker, struct intake_packet *packet) {
  struct hold_target held = {
      .kind = HOLD_PERF, .pid = packet->request->pid, .fd_count = packet->fd_count};
  const char *fault = worker->stop_by_ns != 0 ? "the daemon is ending" : NULL;
  long owner = proc_owner(held.pid);
  if (fault == NULL && (owner < 0 || (packet->uid != 0 && owner != (long)packet->uid)))
    fault = "the program is not yours";
  if (fault == NULL && !has_room(worker, 0)) fault = "256 targets are profiled already";
  if (fault == NULL) fault = describe(worker, packet, &held);
  if (fault == NULL) fault = redirect(worker, packet);
  if (fault == NULL && take(worker, &held, packet->fds) == NULL)
    fault = "the perf events could not be taken over";
  if (fault != NULL) {
    intake_refuse(packet->connection, fault);
    return;
  }
  for (unsigned i = 0; i < packet->fd_count; i++) packet->fds[i] = -1;
  intake_accept(packet->connection);
}

void registrar_on_note(struct worker *worker, struct intake_packet *packet) {
  const struct intake_request *request = packet->request;
  struct worker_note *note = &worker->notes[worker->next_note++ % WORKER_NOTES_MAX];
  note->pid = request->pid;
  memcpy(note->sampler, request->sampler, sizeof note->sampler);
  memcpy(note->why, request->why, sizeof note->why);
  intake_accept(packet->connection);
}
