/* SPDX-License-Identifier: Apache-2.0 */
/* TARGET: a program with the agent requests a ring.  Its size follows from the collection mode and
   the rate.  A program that perf samples also gets one, paused, as a standby for when perf stops
   (ladder.h).

   A process of another pid namespace gets no ring: the tids that it writes into slots would mean
   other threads here.  A program without a ring, for this reason or for lack of room, is sampled by
   perf if possible. */
#include "before_exec.h"
#include "kept_files.h"
#include "ladder.h"
#include "regions.h"
#include "registrar.h"
#include "run_note.h"
#include "sweep.h"
#include "switchboard.h"

#include "common/clock.h"
#include "intake/unwind_choice.h"
#include "proc/maps_file.h"
#include "proc/proc_status.h"
#include "ring/histogram_format.h"
#include "ring/image_format.h"
#include "ring/recorder_format.h"
#include "targets/image.h"
#include "targets/region_map.h"
#include "targets/timer_ring.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char events_reason[] = "sampled by perf already: run has opened the events";

static const char *check_target(struct worker *worker, const struct intake_packet *packet) {
  /* No descriptor: the program has no /proc. */
  if (packet->fd_count > 1 ||
      (packet->fd_count == 1 && !maps_file_take(packet->fds[0], packet->pid)))
    return "a ring needs the descriptor of /proc/self/maps";
  if (!proc_shares_namespace(packet->pid, "pid")) return ladder_foreign_pids;
  if (worker->stop_by_ns != 0) return registrar_ending_reason;
  /* The clocks give the weight of their signals, sample by sample, as they are taken. */
  if (packet->request->clock != RING_CLOCK_THREAD && ring_has_image(packet->request->collect))
    return "an interval timer makes stacks and pairs, no histogram and no recorder";
  return switchboard_kill_path(worker) ? registrar_kill_reason : NULL;
}

/* The sandbox that the program was started in has permitted its timers. */
static uint32_t filters_of(pid_t pid) {
  struct proc_status status;
  return proc_status_read(pid, pid, &status) == 0 ? status.filters : PROC_FILTERS_UNKNOWN;
}

static int maps_fd_of(const struct intake_packet *packet) {
  return packet->fd_count > 0 ? packet->fds[0] : -1;
}

/* The number of counters of a histogram follows from the code, which is mapped by now. */
static const char *size_histogram(struct worker *worker, const struct intake_packet *packet,
                                  struct hold_target *held) {
  struct image_code code = {0, 0};
  const struct process *process =
      processes_get(worker->processes, held->pid, held->id, maps_fd_of(packet));
  if (process != NULL) image_measure(process, &code);
  held->bin_bytes = packet->request->bin_bytes;
  held->counter_bytes = packet->request->counter_bytes;
  int error = timer_ring_size_histogram(held, code.bytes, code.regions);
  if (error == -EINVAL) return "a bin has 2 to 4096 bytes, a counter 1, 2 or 4";
  if (error) return strerror(-error);
  struct histogram_shape shape = timer_ring_shape(held);
  size_t len = strlen(held->why);
  if (histogram_shape_is_tight(&shape, code.bytes))
    snprintf(held->why + len, sizeof held->why - len,
             "%sthe largest libraries have wider bins: of %u bytes all would take more than %d MiB",
             len ? "; " : "", held->bin_bytes, HISTOGRAM_BYTES_MAX >> 20);
  return NULL;
}

static const char *size_ring(struct worker *worker, const struct intake_packet *packet,
                             struct hold_target *held) {
  if (held->collect == RING_HISTOGRAM) return size_histogram(worker, packet, held);
  if (held->collect != RING_RECORDER)
    timer_ring_size(held, worker->targets.ring_bytes);
  else if (packet->request->last > RECORDER_VALUES_MAX)
    return "a recorder keeps 131070 values of a thread at most";
  else
    timer_ring_size_recorder(held, packet->request->last, worker->targets.ring_bytes);
  return NULL;
}

static void add_why(struct hold_target *held, const char *what, const char *why) {
  size_t len = strlen(held->why);
  snprintf(held->why + len, sizeof held->why - len, "%s%s: %s", len ? "; " : "", what, why);
}

/* A recorder or a histogram should survive daemon, program and machine: it is in a file if
   possible. */
static int make_ring(const struct worker *worker, struct hold_target *held) {
  if (ring_has_image(held->collect)) {
    int fd = kept_files_make(worker->settings->state_dir, worker->keeper->run, held);
    held->is_file = fd >= 0;
    if (fd >= 0) return fd;
    add_why(held, "kept in memory, not in a file", kept_files_explain(fd));
  }
  return timer_ring_make(held);
}

/* Creates the map with which HELD's handlers find tables.  Returns -1 if they follow frame
   pointers.  The program of a run waits for its tables, because its first samples would have no
   callers.  Its children do not wait. */
static int make_regions(struct worker *worker, struct hold_target *held) {
  bool is_wanted = held->unwind == UNWIND_CHOICE_AUTO || held->unwind == UNWIND_CHOICE_CFI;
  if (held->collect != RING_STACKS || !is_wanted) return -1;
  bool is_awaited = held->behind == 0 && held->control == RING_RUN &&
                    run_note_find_pid(worker, held->pid) != NULL;
  int fd = worker->keeper->tables.base != NULL ? region_map_make(is_awaited) : -1;
  held->region_fd_count = fd >= 0;
  if (fd < 0 && held->unwind == UNWIND_CHOICE_CFI)
    add_why(held, "unwind cfi", "no memory for tables; callers are found by frame pointers");
  return fd;
}

/* Sends RING, and the tables that TARGET unwinds with. */
static void answer(const struct worker *worker, const struct intake_packet *packet,
                   const struct target *target) {
  struct intake_reply reply = {.kind = INTAKE_RING};
  int fds[3] = {target->fds[0], -1, worker->keeper->tables.reader};
  bool has_regions = target->regions.map != NULL;
  if (has_regions) fds[1] = table_memory_reader(target->fds[target->held.fd_count]);
  intake_answer_fds(packet->connection, &reply, fds, fds[1] >= 0 ? 3 : 1);
  if (fds[1] >= 0) close(fds[1]);
}

/* perf was opened with the same settings, so it can continue. */
static bool is_as_before(const struct target *cover, const struct hold_target *held) {
  return cover->held.adopted_ns == 0 ||
         (strcmp(cover->held.service, held->service) == 0 && cover->held.collect == held->collect &&
          strcmp(cover->held.labels, held->labels) == 0 &&
          cover->held.asked_mhz == held->asked_mhz);
}

/* Chooses perf if it is wanted and possible; the ring is then its standby (ladder.h). */
static const char *choose_rung(struct worker *worker, const struct intake_packet *packet,
                               struct hold_target *held) {
  struct target *cover = ladder_cover(worker, packet->pid);
  const char *obstacle = ladder_perf_obstacle(worker, packet->request);
  bool is_wanted = obstacle == NULL;
  if (cover != NULL && cover->held.pid != packet->pid) return registrar_covered_reason;
  if (cover != NULL && cover->held.adopted_ns == 0 && !is_wanted) return events_reason;
  if (cover != NULL && !(is_wanted && is_as_before(cover, held))) {
    sweep_end_target(worker, cover);
    cover = NULL;
  }
  if (cover == NULL && is_wanted) cover = ladder_begin(worker, held);
  if (!is_wanted && held->why[0] == '\0') add_why(held, "perf", obstacle);
  if (cover == NULL) return NULL;
  held->behind = cover->held.id;
  held->control = packet->request->is_dormant ? RING_OFF : RING_PAUSE;
  return NULL;
}

/* No rate was given, neither here nor to the program's run. */
static void take_auto_rate(const struct worker_note *note, struct hold_target *held) {
  if (note == NULL || !note->is_auto_rate || held->collect > RING_PC_LR) return;
  held->is_auto_rate = true;
  held->asked_mhz = note->asked_mhz;
  held->period_ns = 1000 * NS_PER_SECOND / note->asked_mhz;
}

static const char *make_target(struct worker *worker, struct intake_packet *packet,
                               struct hold_target *held) {
  const struct worker_note *note = run_note_find(worker, packet->pid);
  held->kind = HOLD_TIMER;
  held->pid = packet->pid;
  held->clock = packet->request->clock;
  held->start_cpu_ns = proc_cpu_ns(packet->pid);
  held->fd_count = 1 + packet->fd_count; /* the ring's and the maps' */
  const char *fault = registrar_describe(worker, packet, held);
  if (fault != NULL) return fault;
  if (packet->request->asked_mhz == 0) take_auto_rate(note, held);
  if (note != NULL && held->why[0] == '\0') memcpy(held->why, note->why, sizeof held->why);
  bool is_named = strcmp(packet->request->sampler, "timer") == 0;
  if (is_named && held->why[0] == '\0')
    snprintf(held->why, sizeof held->why, "timer: asked for by name");
  held->filters = filters_of(packet->pid);
  bool is_dormant = packet->request->is_dormant || worker->settings->is_dormant;
  held->control = is_dormant ? RING_PAUSE : RING_RUN;
  held->has_paused = is_dormant;
  fault = size_ring(worker, packet, held);
  if (fault != NULL) return fault;
  if (!registrar_has_room(worker, held->uid, timer_ring_bytes(held)))
    return "256 targets or 64 MiB of rings, or three quarters of that by one user, are in use";
  return choose_rung(worker, packet, held);
}

static void begin_image(struct worker *worker, struct target *target, struct process *process) {
  if (!toll_begin(&target->toll, TOLL_FIRST_TURN_MS)) return;
  modules_set_payer(worker->modules, &target->toll, target->held.id);
  image_update(target, worker->modules, process);
  modules_set_payer(worker->modules, NULL, 0);
  toll_end(&target->toll);
}

/* True if perf samples PACKET's program, which gets no ring because of FAULT.  Otherwise RET_WHY
   has the obstacles to both. */
static bool goes_by_perf(struct worker *worker, struct intake_packet *packet, const char *fault,
                         char ret_why[INTAKE_WHY_BYTES]) {
  struct hold_target held = {
      .kind = HOLD_TIMER, .pid = packet->pid, .clock = packet->request->clock};
  snprintf(ret_why, INTAKE_WHY_BYTES, "timer: %s", fault);
  if (fault == registrar_kill_reason || fault == registrar_ending_reason) return false;
  bool is_dormant = packet->request->is_dormant || worker->settings->is_dormant;
  if (is_dormant || registrar_describe(worker, packet, &held) != NULL) return false;
  if (held.collect > RING_PC_LR) return false;
  held.begin_cpu_ns = before_exec_end(worker, packet->pid);
  if (ladder_cover(worker, packet->pid) != NULL) return true;
  if (ladder_begin_without_ring(worker, &held, fault) != NULL) return true;
  memcpy(ret_why, held.why, INTAKE_WHY_BYTES);
  return false;
}

/* A program that perf samples does not count as rejected. */
static void refuse(struct worker *worker, struct intake_packet *packet, const char *fault) {
  char why[INTAKE_WHY_BYTES];
  bool is_covered = fault == registrar_covered_reason || fault == events_reason;
  if (!is_covered && !goes_by_perf(worker, packet, fault, why)) {
    refusals_note(&worker->refusals, fault);
    run_note_refuse(worker, packet->pid, why);
  }
  intake_refuse(packet->connection, fault);
}

void registrar_on_target(struct worker *worker, struct intake_packet *packet) {
  struct hold_target held = {0};
  const char *fault = check_target(worker, packet);
  if (fault == NULL) held.begin_cpu_ns = before_exec_end(worker, packet->pid);
  if (fault == NULL) fault = make_target(worker, packet, &held);
  int ring = fault ? -1 : make_ring(worker, &held);
  if (fault == NULL && ring < 0) fault = "no memory for a ring";
  if (fault != NULL) {
    refuse(worker, packet, fault);
    return;
  }
  int maps = maps_fd_of(packet), regions = make_regions(worker, &held);
  int fds[3] = {ring, maps, -1};
  fds[held.fd_count] = regions;
  struct target *target = registrar_take(worker, &held, fds);
  if (target == NULL) {
    close(ring);
    if (regions >= 0) close(regions);
    if (held.is_file) kept_files_remove(worker->settings->state_dir, worker->keeper->run, &held);
    refuse(worker, packet, "the ring could not be set up");
    return;
  }
  if (packet->fd_count > 0) packet->fds[0] = -1;
  target->exit.begun_ns = clock_monotonic_ns();
  run_note_join(worker, target);
  /* All linked libraries of the program are mapped by now.  If perf samples it, its process belongs
     to that target. */
  struct process *process =
      held.behind == 0 ? processes_get(worker->processes, held.pid, held.id, maps) : NULL;
  if (process != NULL) process_has_begun(process);
  bool has_image = ring_has_image(held.collect);
  if (has_image) image_begin(target, process);
  answer(worker, packet, target);
  /* after the answer, so the program does not wait until all its files are examined */
  if (has_image && process != NULL) begin_image(worker, target, process);
  regions_step_target(worker, target);
}
