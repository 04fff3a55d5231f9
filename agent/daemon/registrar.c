/* SPDX-License-Identifier: Apache-2.0 */
/* New targets.  Each request is checked as a stranger's: the sender's pid and uid are the kernel's
   word, descriptors are looked at before they are used (maps_file.c, perf_admission.c), and there
   is a limit on targets and on ring memory, of which one user of a system daemon gets three
   quarters at most.  What is refused gets one line that says why; the program runs on unprofiled.

   Before the answer goes out the keeper holds a copy of every descriptor, so from the first sample
   on nothing depends on this worker's life.

   A process of another pid namespace is refused a ring: the numbers that it writes into slots would
   mean other processes here. */
#include "registrar.h"
#include "kept_files.h"
#include "ladder.h"
#include "run_note.h"
#include "sweep.h"
#include "switchboard.h"

#include "common/clock.h"
#include "common/log.h"
#include "drain/recorder.h"
#include "proc/maps_file.h"
#include "proc/proc_status.h"
#include "ring/histogram_format.h"
#include "ring/recorder_format.h"
#include "ring/ring_clock.h"
#include "targets/children.h"
#include "targets/image.h"
#include "targets/timer_ring.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
  /* Of targets and of ring memory, what one user may have in a daemon for all: */
  SHARE_OF_USER_NUMERATOR = 3,
  SHARE_OF_USER_DENOMINATOR = 4,
};

const char registrar_covered_reason[] =
    "sampled by perf already, as a part of the program that started it";
const char registrar_kill_reason[] = "a kill-switch file turns sampling off (fleetprof doctor)";

static bool is_same_namespace(pid_t pid) {
  char path[64], ours[64], theirs[64];
  snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)pid);
  ssize_t our_len = readlink("/proc/self/ns/pid", ours, sizeof ours);
  ssize_t their_len = readlink(path, theirs, sizeof theirs);
  if (our_len <= 0 || their_len <= 0) return true; /* a kernel without namespaces */
  return our_len == their_len && memcmp(ours, theirs, (size_t)our_len) == 0;
}

static uint64_t share_of_user(uint64_t all) {
  return all / SHARE_OF_USER_DENOMINATOR * SHARE_OF_USER_NUMERATOR;
}

/* One more target with RING_BYTES of ring is within the limits of all and of UID's share. */
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

/* Programs that come and go faster than targets are swept must not fill the house. */
bool registrar_has_room(struct worker *worker, uint32_t uid, uint64_t ring_bytes) {
  if (fits(worker, uid, ring_bytes)) return true;
  sweep_targets(worker);
  return fits(worker, uid, ring_bytes);
}

static const char *check_wish(const struct worker *worker, const struct intake_request *request,
                              uint32_t *ret_mhz) {
  uint32_t mhz = request->asked_mhz;
  if (mhz == 0) mhz = (uint32_t)worker->settings->hz * 1000;
  if (mhz < INTAKE_RATE_MHZ_MIN || mhz > INTAKE_RATE_MHZ_MAX)
    return "the rate must be 0.1 to 10000 Hz";
  if (request->clock >= RING_CLOCKS) return "there is no such clock";
  if (request->collect > RING_RECORDER) return "there is no such collect mode";
  *ret_mhz = mhz;
  return NULL;
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
  ret->collect = request->collect;
  ret->period_ns = 1000 * NS_PER_SECOND / mhz;
  memcpy(ret->service, request->service, sizeof ret->service);
  memcpy(ret->labels, request->labels, sizeof ret->labels);
  memcpy(ret->exe, request->exe, sizeof ret->exe);
  memcpy(ret->why, request->why, sizeof ret->why);
  memcpy(ret->argv, request->argv, sizeof ret->argv);
  ret->argv_quality = request->argv_quality;
  return NULL;
}

struct target *registrar_take(struct worker *worker, const struct hold_target *held,
                              const int *fds) {
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
  worker_hurry(worker);
  return target;
}

static bool is_of(const struct target *target, pid_t pid) {
  struct proc_stat stat;
  if (target->held.kind != HOLD_TIMER || target->held.pid != pid) return false;
  return proc_stat_read(pid, &stat) == 0 && stat.start_ticks == target->held.start_ticks;
}

/* The target that PID was part of until its exec: as the program that registered, or as a child
   that was sampled. */
static struct target *find_before_exec(const struct worker *worker, pid_t pid) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target != NULL && is_of(target, pid)) return target;
  }
  const struct process *child = processes_find(worker->processes, pid);
  struct target *parents = child ? targets_find(&worker->targets, child->target) : NULL;
  bool is_child = parents != NULL && parents->held.kind == HOLD_TIMER && parents->held.pid != pid;
  return is_child ? parents : NULL;
}

/* Bills the CPU time of PID so far, while it waits for us, to the program that it was before.
   Returns how much of it the new one need not answer for. */
static uint64_t bill_before_exec(const struct worker *worker, pid_t pid) {
  uint64_t cpu_ns = proc_cpu_ns(pid);
  struct target *before = find_before_exec(worker, pid);
  if (before != NULL) {
    uint64_t begin_ns = before->held.pid == pid ? before->held.begin_cpu_ns : 0;
    before->exit.execed_ns += cpu_ns > begin_ns ? cpu_ns - begin_ns : 0;
  }
  return exit_bill_begin_ns(cpu_ns, before != NULL);
}

/* The ring of the program before goes; perf goes on, and knows of the exec. */
static uint64_t end_behind(struct worker *worker, pid_t pid) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target == NULL || target->held.behind == 0 || target->held.pid != pid) continue;
    bool is_unused = drain_reclaim_slots(target, pid) == 0;
    children_forget(target, pid);
    if (is_unused && !children_live(target)) sweep_end_target(worker, target);
  }
  return proc_cpu_ns(pid);
}

/* The same process registers again after an exec: its slots elsewhere are of a program that is no
   more.  Returns the CPU time that is theirs. */
static uint64_t end_before_exec(struct worker *worker, pid_t pid) {
  drain_run(&worker->drain);
  if (ladder_cover(worker, pid) != NULL) return end_behind(worker, pid);
  uint64_t begin_cpu_ns = bill_before_exec(worker, pid);
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target == NULL || target->held.kind != HOLD_TIMER) continue;
    bool is_unused = target->held.collect != RING_RECORDER ? drain_reclaim_slots(target, pid) == 0
                                                           : recorder_reclaim(target, pid) == 0;
    children_forget(target, pid);
    if (is_unused && target->held.pid == pid && !children_live(target))
      sweep_end_target(worker, target);
  }
  processes_forget_pid(worker->processes, pid);
  return begin_cpu_ns;
}

static const char *check_target(struct worker *worker, const struct intake_packet *packet) {
  /* None: the program sees no /proc. */
  if (packet->fd_count > 1 ||
      (packet->fd_count == 1 && !maps_file_take(packet->fds[0], packet->pid)))
    return "a ring needs the descriptor of /proc/self/maps";
  if (!is_same_namespace(packet->pid)) return "the process is in another pid namespace";
  if (worker->stop_by_ns != 0) return "the daemon is ending";
  return switchboard_kill_path(worker) ? registrar_kill_reason : NULL;
}

/* The sandbox that a program was started in has let it set its timers. */
static uint32_t filters_of(pid_t pid) {
  struct proc_status status;
  return proc_status_read(pid, pid, &status) == 0 ? status.filters : PROC_FILTERS_UNKNOWN;
}

static int maps_fd_of(const struct intake_packet *packet) {
  return packet->fd_count > 0 ? packet->fds[0] : -1;
}

/* A histogram has as many counters as there is code, which is mapped by now. */
static const char *size_histogram(struct worker *worker, const struct intake_packet *packet,
                                  struct hold_target *held) {
  struct image_code code = {0, 0};
  const struct process *process =
      processes_get(worker->processes, held->pid, held->id, maps_fd_of(packet));
  if (process != NULL) image_measure(process, &code);
  held->bin_bytes = packet->request->bin_bytes;
  held->counter_bytes = packet->request->counter_bytes;
  uint32_t asked = held->bin_bytes ? held->bin_bytes : HISTOGRAM_BIN_BYTES_DEFAULT;
  int error = timer_ring_size_histogram(held, code.bytes, code.regions);
  if (error == -EINVAL) return "a bin has 2 to 4096 bytes, a counter 1, 2 or 4";
  if (error) return "more code than a histogram can count";
  size_t len = strlen(held->why);
  if (held->bin_bytes > asked)
    snprintf(held->why + len, sizeof held->why - len,
             "%sbins of %u bytes: of %u they would take more than %d MiB", len ? "; " : "",
             held->bin_bytes, asked, HISTOGRAM_BYTES_MAX >> 20);
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

/* A recorder or a histogram is to be there after daemon, program and machine have gone down: a file
   where one can be had. */
static int make_ring(const struct worker *worker, struct hold_target *held) {
  bool is_kept = held->collect == RING_RECORDER || held->collect == RING_HISTOGRAM;
  if (is_kept) {
    int fd = kept_files_make(worker->settings->state_dir, worker->keeper->run, held);
    held->is_file = fd >= 0;
    if (fd >= 0) return fd;
    add_why(held, "kept in memory, not in a file", kept_files_explain(fd));
  }
  return timer_ring_make(held);
}

/* Its settings are those that perf was opened with, so perf may go on. */
static bool is_as_before(const struct target *cover, const struct hold_target *held) {
  return cover->held.adopted_ns == 0 ||
         (strcmp(cover->held.service, held->service) == 0 && cover->held.collect == held->collect &&
          strcmp(cover->held.labels, held->labels) == 0 &&
          cover->held.asked_mhz == held->asked_mhz);
}

/* Perf where it is wanted and can be had, the ring then stands behind it (ladder.h). */
static const char *choose_rung(struct worker *worker, const struct intake_packet *packet,
                               struct hold_target *held) {
  struct target *cover = ladder_cover(worker, packet->pid);
  bool is_wanted = ladder_wants_perf(worker, packet->request);
  if (cover != NULL && cover->held.pid != packet->pid) return registrar_covered_reason;
  if (cover != NULL && cover->held.adopted_ns == 0 && !is_wanted)
    return "sampled by perf already: run has opened the events";
  if (cover != NULL && !(is_wanted && is_as_before(cover, held))) {
    sweep_end_target(worker, cover);
    cover = NULL;
  }
  if (cover == NULL && is_wanted) cover = ladder_begin(worker, held);
  if (cover == NULL) return NULL;
  held->behind = cover->held.id;
  held->control = packet->request->is_dormant ? RING_OFF : RING_PAUSE;
  return NULL;
}

static const char *make_target(struct worker *worker, struct intake_packet *packet,
                               struct hold_target *held) {
  const struct worker_note *note = run_note_find(worker, packet->pid);
  held->kind = HOLD_TIMER;
  held->pid = packet->pid;
  held->clock = packet->request->clock;
  held->start_cpu_ns = proc_cpu_ns(packet->pid);
  held->fd_count = 1 + packet->fd_count; /* the ring's, and that of the maps */
  const char *fault = registrar_describe(worker, packet, held);
  if (fault != NULL) return fault;
  if (note != NULL && held->why[0] == '\0') memcpy(held->why, note->why, sizeof held->why);
  bool is_named = strcmp(packet->request->sampler, "timer") == 0;
  if (is_named && held->why[0] == '\0')
    snprintf(held->why, sizeof held->why, "timer: asked for by name");
  held->filters = filters_of(packet->pid);
  bool is_dormant = packet->request->is_dormant || worker->settings->is_dormant;
  held->control = is_dormant ? RING_PAUSE : RING_RUN;
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

void registrar_on_target(struct worker *worker, struct intake_packet *packet) {
  struct hold_target held = {0};
  struct intake_reply reply = {.kind = INTAKE_RING};
  const char *fault = check_target(worker, packet);
  if (fault == NULL) held.begin_cpu_ns = end_before_exec(worker, packet->pid);
  if (fault == NULL) fault = make_target(worker, packet, &held);
  int ring = fault ? -1 : make_ring(worker, &held);
  if (fault == NULL && ring < 0) fault = "no memory for a ring";
  if (fault != NULL) {
    intake_refuse(packet->connection, fault);
    return;
  }
  int fds[2] = {ring, maps_fd_of(packet)};
  struct target *target = registrar_take(worker, &held, fds);
  if (target == NULL) {
    close(ring);
    if (held.is_file) kept_files_remove(worker->settings->state_dir, worker->keeper->run, &held);
    intake_refuse(packet->connection, "the ring could not be set up");
    return;
  }
  if (packet->fd_count > 0) packet->fds[0] = -1;
  target->exit.begun_ns = clock_monotonic_ns();
  run_note_join(worker, target);
  /* All libraries that a program is linked with are mapped by now. */
  struct process *process = processes_get(worker->processes, held.pid, held.id, fds[1]);
  bool has_image = held.collect == RING_HISTOGRAM || held.collect == RING_RECORDER;
  if (has_image) image_begin(target, process);
  intake_answer(packet->connection, &reply, ring);
  /* The program need not wait until all its files were looked at. */
  if (has_image && process != NULL) begin_image(worker, target, process);
}

static const char *check_note(struct worker *worker, const struct intake_packet *packet,
                              uint32_t *ret_mhz) {
  const struct intake_request *request = packet->request;
  long owner = proc_owner(request->pid);
  bool is_known = strcmp(request->sampler, "none") == 0 || ring_clock_parse(request->sampler) >= 0;
  if (owner < 0 || (packet->uid != 0 && owner != (long)packet->uid))
    return "the program is not yours";
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
  if (fault != NULL)
    intake_refuse(packet->connection, fault);
  else
    intake_accept(packet->connection);
}
