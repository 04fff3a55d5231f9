/* SPDX-License-Identifier: Apache-2.0 */
/* A look at a target begins with a list of threads: those of the registered process, of the
   processes that own slots in its ring, and of those that have only entered it. A child forked with
   the signal blocked never has a sample. The threads are checked (census_look.c), in each tick as
   many as the limit allows. When the list is done, the figures are recomputed: they describe the
   present, not the past.

   If the drain had to skip a turn (targets/toll.h), signals may wait in the ring, or have found it
   full: that look proves nothing.

   A paused target is not checked, because it has no timers then, as intended. Nor is a target in
   its first interval, at the program's start.

   A refused timer causes only one warning, even if other programs meet the same limit. Unsampled
   threads are counted and reported in status all the time, and a warning for each program would
   flood the log.

   A mark on the whole target needs a quarter of its CPU time: less cannot change the shares
   much. */
#include "census_parts.h"

#include "common/clock.h"
#include "common/log.h"
#include "elf/preload_obstacle.h"
#include "proc/proc_stat.h"
#include "proto/batch.h"
#include "targets/children.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARK_SHARE = 4 /* 1/this of the CPU time */ };

void census_free(struct census *census) {
  if (census == NULL) return;
  free(census->threads);
  free(census->slots);
  free(census->list.ids);
  free(census->timers);
  free(census);
}

static void list_process(struct census_list *list, pid_t pid) {
  char path[32];
  snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *tasks = opendir(path);
  if (tasks == NULL) return;
  for (const struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    if (list->count == CENSUS_THREADS_MAX) break;
    list->ids[list->count][0] = pid;
    list->ids[list->count++][1] = (pid_t)strtol(entry->d_name, NULL, 10);
  }
  closedir(tasks);
}

/* Finds at most CENSUS_PROCESSES_MAX of TARGET's processes. */
static unsigned find_processes(const struct target *target, pid_t pids[CENSUS_PROCESSES_MAX]) {
  const struct census *census = target->census;
  unsigned count = 1;
  pids[0] = target->held.pid;
  for (uint32_t i = 0; i < census->slot_count && count < CENSUS_PROCESSES_MAX; i++) {
    pid_t pid = (pid_t)(census->slots[i].owner >> 32);
    bool is_known = pid == 0;
    for (unsigned j = 0; j < count; j++) is_known = is_known || pids[j] == pid;
    if (!is_known && proc_owner(pid) == (long)target->held.uid) pids[count++] = pid;
  }
  return children_add(target, pids, count, CENSUS_PROCESSES_MAX);
}

/* A program with an unreadable path has usually become privileged by an exec. */
static bool runs_another(const struct target *target) {
  char path[INTAKE_PATH_BYTES];
  if (target->held.exe[0] == '\0') return false;
  if (!proc_exe_path(target->held.pid, path, sizeof path)) return true;
  return strcmp(path, target->held.exe) != 0;
}

/* The CPU time of PIDS together; 0 if that of any cannot be read. */
static uint64_t cpu_ns(const pid_t *pids, unsigned count) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < count; i++) {
    uint64_t one = proc_cpu_ns(pids[i]);
    if (one == 0) return 0;
    sum += one;
  }
  return sum;
}

/* A process without CPU time has missed no sample, and most programs of a board sleep. */
static bool has_slept(struct census *census, const pid_t *pids, unsigned count) {
  uint64_t before = census->looked_cpu_ns;
  census->looked_cpu_ns = cpu_ns(pids, count);
  return before != 0 && census->looked_cpu_ns == before;
}

static void begin_look(struct target *target, uint64_t now) {
  struct census *census = target->census;
  pid_t pids[CENSUS_PROCESSES_MAX];
  census->looked_ns = now;
  unsigned count = find_processes(target, pids);
  if (has_slept(census, pids, count)) return;
  census->look++;
  census->is_deaf = target->turn.missed != census->missed;
  census->missed = target->turn.missed;
  census->list = (struct census_list){.ids = calloc(CENSUS_THREADS_MAX, sizeof *census->list.ids)};
  census->is_replaced = runs_another(target);
  census->obstacle = census->is_replaced ? preload_obstacle_of_process(target->held.pid) : NULL;
  if (census->list.ids == NULL) return;
  for (unsigned i = 0; i < count; i++) list_process(&census->list, pids[i]);
  if (census->period_ns == target->held.period_ns) return;
  for (uint32_t i = 0; i < census->slot_count; i++)
    census->slots[i].tally = (struct lock_step_tally){0};
  census->period_ns = target->held.period_ns;
}

static void end_list(struct census *census) {
  free(census->list.ids);
  free(census->timers);
  census->list.ids = NULL;
  census->timers = NULL;
}

static uint32_t sum_marks(const struct census *census, uint64_t spent_ns) {
  uint64_t likely_ns = 0, any_ns = 0;
  for (uint32_t i = 0; i < census->thread_count; i++) {
    const struct census_thread *thread = &census->threads[i];
    if (thread->marks != 0) any_ns += thread->spent_ns;
    if (thread->marks & MARK_LOCK_STEP_LIKELY) likely_ns += thread->spent_ns;
  }
  if (spent_ns == 0) return 0;
  if (likely_ns >= spent_ns / MARK_SHARE) return MARK_LOCK_STEP_LIKELY;
  return any_ns >= spent_ns / MARK_SHARE ? MARK_LOCK_STEP_POSSIBLE : 0;
}

/* Moves up to MOST threads to REASON from the first ALIKE reasons that look the same from
   outside. */
static void move_to(struct census_figures *figures, enum unsampled_reason reason, uint32_t most,
                    unsigned alike) {
  static const enum unsampled_reason look_alikes[] = {UNSAMPLED_RAW, UNSAMPLED_DELETED,
                                                      UNSAMPLED_BLOCKED};
  for (unsigned i = 0; i < alike; i++) {
    uint32_t *count = &figures->unsampled[look_alikes[i]];
    uint32_t moved = *count < most ? *count : most;
    figures->unsampled[reason] += moved;
    *count -= moved;
    most -= moved;
  }
}

/* The agent itself counts the threads for which it had no slot or timer: those are not raw. */
static void part_refused(const struct target *target, struct census_figures *figures) {
  uint32_t refused = ring_reader_unsampled(&target->ring);
  uint32_t cramped = ring_reader_cramped(&target->ring);
  if (cramped > refused) cramped = refused;
  /* If one clock signals the whole process, the agent blocks the signal in a thread of that
     kind. */
  unsigned alike = target->held.clock == RING_CLOCK_THREAD ? 2 : 3;
  move_to(figures, UNSAMPLED_CRAMPED, cramped, alike);
  move_to(figures, UNSAMPLED_LIMIT, refused - cramped, alike);
}

static void add_thread(const struct census_thread *thread, struct unsampled_sum *sum) {
  bool is_unsampled = thread->reason != UNSAMPLED_NOT;
  bool is_lost = unsampled_is_for_good(thread->reason);
  sum->all_ns += thread->spent_ns;
  sum->dark_ns += is_unsampled ? thread->spent_ns : 0;
  sum->lost_ns += is_lost ? thread->spent_ns : 0;
  sum->threads += thread->spent_ns > 0 || is_unsampled;
  sum->unsampled += is_unsampled;
  sum->lost += is_lost;
}

static void end_look(struct target *target) {
  struct census *census = target->census;
  struct census_figures figures = {.obstacle = census->obstacle};
  struct unsampled_sum sum = {0};
  uint32_t kept = 0;
  for (uint32_t i = 0; i < census->thread_count; i++) {
    const struct census_thread *thread = &census->threads[i];
    if (thread->look != census->look) continue; /* it has ended */
    census->threads[kept++] = *thread;
    add_thread(thread, &sum);
    if (thread->reason != UNSAMPLED_NOT) figures.unsampled[thread->reason]++;
  }
  census->thread_count = kept;
  figures.threads = sum.threads;
  figures.marks = sum_marks(census, sum.all_ns);
  census->window_marks |= figures.marks;
  figures.has_failed = unsampled_has_failed(&census->looks, &sum);
  if (unsampled_is_blind(&census->looks, &sum))
    figures.blind_since_ns =
        census->figures.blind_since_ns ? census->figures.blind_since_ns : clock_monotonic_ns();
  part_refused(target, &figures);
  census->figures = figures;
  end_list(census);
}

/* Returns the number of threads checked, at most LEFT. */
static unsigned step_target(struct target *target, uint64_t now, unsigned left) {
  struct census *census = census_of(target);
  unsigned looked = 0;
  if (census == NULL) return 0;
  if (census->looked_ns == 0 || target->held.control != RING_RUN) {
    census->looked_ns = now;
    census->thread_count = 0;
    census->looks = (struct unsampled_looks){0};
    census->figures = (struct census_figures){0};
    end_list(census);
    return 0;
  }
  if (census->list.ids == NULL) {
    if (now - census->looked_ns < CENSUS_INTERVAL_MS * NS_PER_MS) return 0;
    begin_look(target, now);
    if (census->list.ids == NULL) return 0;
  }
  for (; census->list.at < census->list.count && looked < left; looked++) {
    const pid_t *ids = census->list.ids[census->list.at++];
    census_look_at(target, ids[0], ids[1]);
  }
  if (census->list.at == census->list.count) end_look(target);
  return looked;
}

static void warn_of_refused(struct targets *targets, const struct target *target) {
  if (targets->has_warned || ring_reader_refused(&target->ring) == 0) return;
  targets->has_warned = true;
  log_warn("target %d: threads without a timer: uid %u is near the number of signals that it may "
           "have queued (ulimit -i), and each timer takes one; status counts them, of all programs",
           (int)target->held.pid, target->held.uid);
}

void census_step(struct targets *targets) {
  uint64_t now = clock_monotonic_ns();
  unsigned left = CENSUS_THREADS_A_TICK;
  for (uint32_t i = 0; i < HOLD_TARGETS_MAX && left > 0; i++) {
    uint32_t row = (targets->census_row + i) % HOLD_TARGETS_MAX;
    struct target *target = targets->rows[row];
    if (target == NULL || target->held.kind != HOLD_TIMER) continue;
    warn_of_refused(targets, target);
    left -= step_target(target, now, left);
    if (left == 0) targets->census_row = row; /* the next tick continues here */
  }
}

void census_figures(const struct target *target, struct census_figures *ret) {
  if (target->census != NULL)
    *ret = target->census->figures;
  else
    *ret = (struct census_figures){0};
}

uint32_t census_take_marks(struct target *target) {
  struct census *census = target->census;
  if (census == NULL) return 0;
  uint32_t marks = census->window_marks | census->figures.marks;
  census->window_marks = 0;
  return marks;
}

void census_explain(const struct census_figures *figures, char why[CENSUS_WHY_BYTES]) {
  size_t len = 0;
  why[0] = '\0';
  for (enum unsampled_reason i = UNSAMPLED_RAW; i < UNSAMPLED_REASONS; i++) {
    uint32_t count = figures->unsampled[i];
    if (count == 0 || len >= CENSUS_WHY_BYTES) continue;
    int more = snprintf(why + len, CENSUS_WHY_BYTES - len, "%s%u thread%s %s",
                        len > 0 ? ", " : "not sampled: ", count, count == 1 ? "" : "s",
                        unsampled_meaning(i));
    len += more > 0 ? (size_t)more : 0;
  }
  if (figures->unsampled[UNSAMPLED_EXEC] > 0 && figures->obstacle != NULL && len < CENSUS_WHY_BYTES)
    snprintf(why + len, CENSUS_WHY_BYTES - len, " (%s)", figures->obstacle);
}
