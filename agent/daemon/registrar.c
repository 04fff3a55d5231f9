/* SPDX-License-Identifier: Apache-2.0 */
/* Registers new targets.  Each request is untrusted: the kernel gives the sender's pid and uid, and
   descriptors are checked before use (maps_file.c, perf_admission.c).  The number of targets and
   the memory of rings are limited, and a user of a system daemon gets at most three quarters of
   each.  A rejection has one line with the reason; the program runs on unprofiled.  Before the
   answer is sent, the supervisor holds a copy of every descriptor, so that samples never depend on
   this worker's life.

   This file has the common parts, and NOTE; rings are in registrar_ring.c, perf events in
   registrar_perf.c. */
#include "registrar.h"
#include "budget.h"
#include "ladder.h"
#include "run_note.h"
#include "sweep.h"
#include "switchboard.h"

#include "common/clock.h"
#include "common/log.h"
#include "intake/perf_attr.h"
#include "intake/unwind_choice.h"
#include "proc/proc_stat.h"
#include "ring/ring_clock.h"
#include "targets/perf_admission.h"
#include "targets/timer_ring.h"

#include <stdio.h>
#include <string.h>

enum {
  /* One user's share of targets and ring memory in a daemon for all users: */
  SHARE_OF_USER_NUMERATOR = 3,
  SHARE_OF_USER_DENOMINATOR = 4,
};

const char registrar_covered_reason[] =
    "sampled by perf already, as a part of the program that started it";
const char registrar_ending_reason[] = "the daemon is ending: it was stopped";
const char registrar_kill_reason[] = "a kill-switch file turns sampling off (fleetprof doctor)";

static uint64_t share_of_user(uint64_t all) {
  return all / SHARE_OF_USER_DENOMINATOR * SHARE_OF_USER_NUMERATOR;
}

/* Whether another target with RING_BYTES of ring fits the total limits and UID's share. */
static bool fits(const struct worker *worker, uint32_t uid, uint64_t ring_bytes) {
  const struct targets *targets = &worker->targets;
  uint64_t count = 1, bytes = ring_bytes;
  if (targets->count >= HOLD_TARGETS_MAX ||
      targets->ring_bytes + ring_bytes > TARGETS_RING_BYTES_MAX)
    return false;
  if (!worker->settings->is_system || uid == 0) return true;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    const struct target *target = targets->rows[row];
    if (target == NULL || target->held.uid != uid) continue;
    count++;
    if (target->held.kind == HOLD_TIMER) bytes += timer_ring_bytes(&target->held);
  }
  return count <= share_of_user(HOLD_TARGETS_MAX) && bytes <= share_of_user(TARGETS_RING_BYTES_MAX);
}

/* If there is no room, ended targets are swept first: programs may start and end faster than sweeps
   run. */
bool registrar_has_room(struct worker *worker, uint32_t uid, uint64_t ring_bytes) {
  if (fits(worker, uid, ring_bytes)) return true;
  sweep_targets(worker);
  return fits(worker, uid, ring_bytes);
}

static const char *check_wish(const struct worker *worker, const struct intake_request *request,
                              uint32_t *ret_mhz) {
  uint32_t mhz = request->asked_mhz;
  if (mhz == 0 && request->kind != INTAKE_TARGET) mhz = INTAKE_RATE_MHZ_AUTO;
  if (mhz == 0) mhz = (uint32_t)worker->settings->hz * 1000;
  if (mhz < INTAKE_RATE_MHZ_MIN || mhz > INTAKE_RATE_MHZ_MAX)
    return "the rate must be 0.1 to 10000 Hz";
  if (request->clock >= RING_CLOCKS) return "there is no such clock";
  if (request->collect > RING_RECORDER) return "there is no such collect mode";
  if (request->unwind >= UNWIND_CHOICES) return "there is no such way to find callers";
  *ret_mhz = mhz;
  return NULL;
}

/* The requested stacks, and the resulting contents of perf samples. */
static void describe_stacks(const struct worker *worker, const struct intake_request *request,
                            struct hold_target *ret) {
  ret->collect = request->collect;
  ret->unwind = request->unwind;
  if (ret->unwind == UNWIND_CHOICE_AUTO) ret->unwind = worker->settings->unwind;
  if (ret->unwind == UNWIND_CHOICE_LR && ret->collect == RING_STACKS) ret->collect = RING_PC_LR;
  ret->content = perf_admission_content(ret->uid, ret->collect == RING_PC_LR, ret->unwind);
}

const char *registrar_describe(struct worker *worker, const struct intake_packet *packet,
                               struct hold_target *ret) {
  const struct intake_request *request = packet->request;
  struct proc_stat stat;
  uint32_t mhz;
  const char *fault = check_wish(worker, request, &mhz);
  if (fault != NULL) return fault;
  if (proc_stat_read(ret->pid, &stat) < 0) return "no such process";
  ret->start_ticks = stat.start_ticks;
  ret->id = worker->targets.next_id++;
  ret->uid = packet->uid;
  ret->asked_mhz = mhz;
  ret->is_auto_rate = request->asked_mhz == 0 && request->kind == INTAKE_PERF;
  describe_stacks(worker, request, ret);
  ret->period_ns = 1000 * NS_PER_SECOND / mhz;
  memcpy(ret->service, request->service, sizeof ret->service);
  memcpy(ret->labels, request->labels, sizeof ret->labels);
  memcpy(ret->exe, request->exe, sizeof ret->exe);
  memcpy(ret->why, request->why, sizeof ret->why);
  memcpy(ret->argv, request->argv, sizeof ret->argv);
  ret->argv_quality = request->argv_quality;
  return NULL;
}

/* Kernel samples without names still count its time; HELD gets the reason. */
static void open_kernel(struct worker *worker, struct hold_target *held) {
  struct kernel_frames *kernel = &worker->drain.kernel;
  if (held->kind != HOLD_PERF || !(held->content & PERF_CONTENT_KERNEL)) return;
  kernel_frames_open(kernel, worker->modules);
  if (kernel->layout.count == 0 && held->why[0] == '\0')
    snprintf(held->why, sizeof held->why, "perf: the kernel's functions have no names: %s",
             kernel->layout.why);
}

struct target *registrar_take(struct worker *worker, const struct hold_target *wanted,
                              const int *fds) {
  struct hold_target held = *wanted;
  open_kernel(worker, &held);
  int error = hold_send_keep(worker->keeper->worker_socket, &held, fds);
  if (error) {
    log_warn("target %d: the keeper cannot hold it: %s", (int)held.pid, strerror(-error));
    return NULL;
  }
  struct target *target = targets_add_take(&worker->targets, &held, fds);
  if (target == NULL) {
    hold_send_drop(worker->keeper->worker_socket, held.id);
    return NULL;
  }
  worker->targets_seen++;
  budget_begin_target(worker, target);
  worker->live_ns = clock_monotonic_ns();
  worker_hurry(worker);
  return target;
}

static const char *check_note(struct worker *worker, const struct intake_packet *packet,
                              uint32_t *ret_mhz) {
  const struct intake_request *request = packet->request;
  long owner = proc_owner(request->pid);
  bool is_known = strcmp(request->sampler, "none") == 0 || ring_clock_parse(request->sampler) >= 0;
  if (owner < 0 || (packet->uid != 0 && owner != (long)packet->uid))
    return "the program is not yours";
  if (worker->stop_by_ns != 0) return registrar_ending_reason;
  if (switchboard_kill_path(worker) != NULL) return registrar_kill_reason;
  if (!is_known) return "there is no such sampler";
  drain_run(&worker->drain);
  bool is_covered =
      ring_clock_parse(request->sampler) >= 0 && ladder_cover(worker, request->pid) != NULL;
  return is_covered ? registrar_covered_reason : check_wish(worker, request, ret_mhz);
}

void registrar_on_note(struct worker *worker, struct intake_packet *packet) {
  uint32_t mhz;
  const char *fault = check_note(worker, packet, &mhz);
  if (fault != NULL) {
    intake_refuse(packet->connection, fault);
    return;
  }
  fault = run_note_add(worker, packet, packet->request->sampler, mhz);
  if (fault != NULL) {
    intake_refuse(packet->connection, fault);
    return;
  }
  bool is_sampled = strcmp(packet->request->sampler, "none") != 0;
  if (is_sampled) run_note_begin_window(worker, packet->uid);
  intake_accept(packet->connection);
}
