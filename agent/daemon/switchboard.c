/* SPDX-License-Identifier: Apache-2.0 */
/* A file, not a command, turns everything off, because it must work when nothing else does: in an
   image that is mounted elsewhere, by a deployment tool, before the daemon runs.  One file is for
   the whole machine, the other for this daemon's state directory.  While either exists, no target
   is accepted and every target is off: timers deleted, perf events disabled.  When it is removed,
   perf targets continue as before.  A timer program is set to OFF, which is final, so it is sampled
   again from its next start.

   A target's requested state (RUN or PAUSE) is kept apart from the kill switch, in the supervisor,
   so that a new worker gets both.

   CPU time during a pause has no samples.  If its total is known (a program under `run`), it is
   [unsampled] at the end, in an answer marked `paused`; otherwise it is in no total. */
#include "switchboard.h"
#include "registrar.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/text.h"
#include "intake/kill_switch.h"
#include "targets/image.h"
#include "targets/perf_threads.h"
#include "targets/rate.h"
#include "targets/service_name.h"
#include "targets/switch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOOK_INTERVAL_NS NS_PER_SECOND

enum { LIST_END_BYTES = sizeof ", 1024 more", PROGRAM_BYTES = INTAKE_SERVICE_BYTES + 24 };

/* Names for a reply, as many as fit. */
struct name_list {
  char text[INTAKE_WHY_BYTES];
  unsigned left; /* number of names that do not fit */
};

const char *switchboard_service(const struct worker *worker, const struct target *target) {
  const struct process *root = processes_find(worker->processes, target->held.pid);
  if (target->held.kind == HOLD_BOARD && target->held.service[0] == '\0') return "[board]";
  return service_name(&target->held, root);
}

const char *switchboard_state(const struct worker *worker, const struct target *target) {
  if (worker->is_killed || target->held.control == RING_OFF) return "off";
  return target->held.control == RING_PAUSE ? "paused" : "running";
}

static void tell_keeper(const struct worker *worker, const struct target *target) {
  int error = hold_send_update(worker->keeper->worker_socket, &target->held);
  if (error)
    log_debug("target %u: the keeper does not know of a switch: %s", target->held.id,
              strerror(-error));
}

/* TARGET is sampled from now on.  CPU time of the pause does not count for the achieved rate: the
   clocks are read before counting resumes. */
static int go_on(struct worker *worker, struct target *target, enum ring_control control) {
  bool is_perf = target->held.kind == HOLD_PERF;
  if (is_perf && control == RING_RUN) {
    drain_run(&worker->drain);
    drain_residual(&worker->drain, target, false);
  }
  if (is_perf && control == RING_PAUSE && target->threads.is_wide) {
    drain_run(&worker->drain);
    perf_threads_narrow(&worker->targets, target, false);
  }
  int error = switch_target(target, control);
  if (is_perf && control == RING_RUN) target_begin_achieved(target);
  return error;
}

/* Sets the requested state of TARGET to CONTROL; the kill switch takes precedence. */
static int wish(struct worker *worker, struct target *target, enum ring_control control) {
  int error = 0;
  if (target->held.control == RING_OFF) return -ENOENT;
  if (control == RING_PAUSE)
    pause_begin(target);
  else
    pause_end(target);
  if (worker->is_killed)
    target->held.control = control;
  else
    error = go_on(worker, target, control);
  if (error == 0) tell_keeper(worker, target);
  return error;
}

static int set_rate(struct worker *worker, struct target *target, uint32_t mhz) {
  drain_run(&worker->drain); /* samples in the kernel's rings have the previous rate */
  int error = rate_wish(target, 1000 * NS_PER_SECOND / mhz);
  if (error) return error;
  target->held.asked_mhz = mhz;
  image_wish(target, mhz);
  tell_keeper(worker, target);
  return 0;
}

static int obey(struct worker *worker, struct target *target,
                const struct intake_request *request) {
  switch ((enum intake_verb)request->verb) {
  case INTAKE_PAUSE:
    return wish(worker, target, RING_PAUSE);
  case INTAKE_RESUME:
    return wish(worker, target, RING_RUN);
  case INTAKE_RATE:
    return set_rate(worker, target, request->asked_mhz);
  default:
    return -EINVAL;
  }
}

static bool has_name(const struct name_list *list, const char *name) {
  size_t len = strlen(name);
  for (const char *at = list->text; (at = strstr(at, name)) != NULL; at++) {
    bool is_start = at == list->text || at[-1] == ' ';
    if (is_start && (at[len] == ',' || at[len] == '\0')) return true;
  }
  return false;
}

static void add_name(struct name_list *list, const char *name) {
  size_t len = strlen(list->text), room = sizeof list->text - LIST_END_BYTES - len;
  bool is_first = len == 0 || list->text[len - 1] == ' '; /* after the text before the list */
  if (list->left > 0 || strlen(name) + sizeof ", " > room)
    list->left++;
  else
    snprintf(list->text + len, room, "%s%s", is_first ? "" : ", ", name);
}

/* A program chooses its name, and the list is shown on a terminal. */
static void end_names(struct name_list *list) {
  text_show(list->text);
  size_t len = strlen(list->text);
  if (list->left > 0) snprintf(list->text + len, sizeof list->text - len, ", %u more", list->left);
}

static void add_program(const struct worker *worker, const struct target *target,
                        struct name_list *list) {
  char name[PROGRAM_BYTES];
  const char *service = switchboard_service(worker, target);
  if (target->held.pid > 0)
    snprintf(name, sizeof name, "%s (pid %d)", service, (int)target->held.pid);
  else
    snprintf(name, sizeof name, "%s", service);
  add_name(list, name);
}

static bool is_permitted(const struct intake_packet *packet, const struct target *target) {
  return packet->uid == 0 || target->held.uid == packet->uid;
}

/* No target has the name in PACKET: lists the existing names. */
static void explain_nobody(const struct worker *worker, const struct intake_packet *packet,
                           char ret[INTAKE_WHY_BYTES]) {
  struct name_list list = {.text = "no running target has that name; there are: "};
  size_t words_len = strlen(list.text);
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    const struct target *target = worker->targets.rows[row];
    if (target == NULL || target->held.behind != 0 || !is_permitted(packet, target)) continue;
    const char *service = switchboard_service(worker, target);
    if (!has_name(&list, service)) add_name(&list, service);
  }
  bool is_alone = strlen(list.text) == words_len;
  end_names(&list);
  snprintf(ret, INTAKE_WHY_BYTES, "%s", is_alone ? "nothing is profiled" : list.text);
}

static bool is_meant(const struct worker *worker, const struct target *target,
                     const char *service) {
  return service[0] == '\0' || strcmp(switchboard_service(worker, target), service) == 0;
}

/* Returns the fault of REQUEST, or NULL. */
static const char *find_fault(const struct worker *worker, const struct intake_request *request) {
  uint64_t mhz = request->asked_mhz;
  if (worker->stop_by_ns != 0) return registrar_ending_reason;
  if (request->verb < INTAKE_PAUSE || request->verb > INTAKE_RATE) return "an unknown verb";
  if (request->verb == INTAKE_RATE && (mhz < INTAKE_RATE_MHZ_MIN || mhz > INTAKE_RATE_MHZ_MAX))
    return "the rate must be 0.1 to 10000 Hz";
  if (request->verb == INTAKE_RESUME && worker->is_killed)
    return "a kill-switch file is there: fleetprof doctor names it";
  return NULL;
}

/* Rejects a request that no target obeyed; ERROR is that of a target that failed, or 0. */
static void refuse(struct worker *worker, const struct intake_packet *packet, int error,
                   bool is_foreign) {
  char why[INTAKE_WHY_BYTES];
  if (error == -ENOENT)
    snprintf(why, sizeof why, "a kill switch has turned them off: start them again");
  else if (error != 0)
    snprintf(why, sizeof why, "%s", strerror(-error));
  else if (is_foreign)
    snprintf(why, sizeof why, "the target is another user's: only root may switch it");
  else
    explain_nobody(worker, packet, why);
  intake_refuse(packet->connection, why);
}

void switchboard_on_ctl(struct worker *worker, struct intake_packet *packet) {
  const struct intake_request *request = packet->request;
  struct intake_reply reply = {.kind = INTAKE_ACCEPTED};
  struct name_list list = {.left = 0};
  bool is_foreign = false;
  int error = 0;
  const char *fault = find_fault(worker, request);
  if (fault != NULL) {
    intake_refuse(packet->connection, fault);
    return;
  }
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target == NULL || target->held.behind != 0) continue;
    if (!is_meant(worker, target, request->service)) continue;
    is_foreign |= !is_permitted(packet, target);
    if (!is_permitted(packet, target)) continue;
    int result = obey(worker, target, request);
    if (result != 0) error = result;
    if (result != 0) continue;
    reply.count++;
    add_program(worker, target, &list);
  }
  end_names(&list);
  memcpy(reply.why, list.text, sizeof reply.why);
  if (reply.count == 0)
    refuse(worker, packet, error, is_foreign);
  else
    intake_answer(packet->connection, &reply, -1);
}

const char *switchboard_kill_path(const struct worker *worker) {
  if (access(KILL_SWITCH_PATH, F_OK) == 0) return KILL_SWITCH_PATH;
  return access(worker->kill_path, F_OK) == 0 ? worker->kill_path : NULL;
}

/* The requested state is kept, except for a timer target, which has none any more. */
static void kill_target(struct worker *worker, struct target *target) {
  uint32_t before = target->held.control;
  int error = switch_target(target, RING_OFF);
  if (error) log_warn("target %d: kill switch: %s", (int)target->held.pid, strerror(-error));
  if (target->held.kind == HOLD_PERF) target->held.control = before;
  target->held.is_killed = true;
  pause_begin(target);
  tell_keeper(worker, target);
}

static void revive_target(struct worker *worker, struct target *target) {
  if (target->held.kind != HOLD_PERF) return;
  int error = go_on(worker, target, (enum ring_control)target->held.control);
  if (error) log_warn("target %d: kill switch: %s", (int)target->held.pid, strerror(-error));
  target->held.is_killed = false;
  tell_keeper(worker, target);
}

void switchboard_end(struct worker *worker) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target == NULL || target->held.kind != HOLD_TIMER || target->held.is_file) continue;
    if (target->held.control == RING_OFF) continue;
    switch_target(target, RING_OFF);
    tell_keeper(worker, target);
  }
}

void switchboard_look(struct worker *worker) {
  uint64_t now = clock_monotonic_ns();
  if (worker->looked_ns != 0 && now - worker->looked_ns < LOOK_INTERVAL_NS) return;
  worker->looked_ns = now;
  const char *path = switchboard_kill_path(worker);
  if ((path != NULL) != worker->is_killed)
    log_info("kill switch %s", path ? path : "gone: new programs are sampled again");
  worker->is_killed = path != NULL;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target == NULL || target->held.behind != 0) continue;
    if (target->held.is_killed == worker->is_killed) continue;
    if (worker->is_killed)
      kill_target(worker, target);
    else
      revive_target(worker, target);
  }
}
