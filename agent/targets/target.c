/* SPDX-License-Identifier: Apache-2.0 */
/* A target: the supervisor's data, mapped; its CPU time and its achieved rate.

   A killed worker's figures are lost, and with them the reported part of a perf target's time. That
   target is marked, and its residual starts again at the first complete drain. */
#include "target.h"
#include "region_map.h"
#include "stride.h"
#include "timer_ring.h"

#include "common/clock.h"
#include "intake/cpu_list.h"
#include "perf/perf_ring.h"
#include "proc/proc_stat.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { ACHIEVED_RECORDS_MIN = 20 };

#define CPU_EXTRA_NS (1 * NS_PER_SECOND) /* allowance for a target's claimed CPU time */

void target_threads_close(struct target_threads *threads) {
  for (uint32_t i = 0; i < threads->count; i++) close(threads->fds[i]);
  free(threads->fds);
  free(threads->ids);
  *threads = (struct target_threads){.closed_ns = threads->closed_ns};
}

void target_free(struct target *target, bool is_owner) {
  if (target == NULL) return;
  timer_ring_unmap(&target->held, &target->ring);
  region_map_close(target->regions.map);
  rate_fini(&target->rate);
  target_threads_close(&target->threads);
  perf_exits_close(&target->exits);
  if (is_owner) hold_close_fds(&target->held, target->fds);
  if (target->census != NULL) target->free_census(target->census);
  free(target->event_ids);
  free(target->watches);
  free(target->row_claims);
  free(target->slot_marks);
  free(target->unload_history);
  free(target->fds);
  free(target);
}

static void note_bad(struct target *target, uint32_t bad_events) {
  target->bad_events = bad_events;
  bool is_bad = bad_events > 0 || target->is_unmapped || target->look.stopped != NULL;
  if (is_bad && target->bad_since_ns == 0) target->bad_since_ns = clock_monotonic_ns();
}

/* Returns false if memory is short. Failed events keep the ID 0, which no event has. */
static bool read_event_ids(struct target *target) {
  uint32_t bad = 0;
  target->event_ids = calloc(target->held.fd_count, sizeof *target->event_ids);
  if (target->event_ids == NULL) return false;
  for (uint32_t i = 0; i < target->held.fd_count; i++)
    bad += !perf_event_id(target->fds[i], &target->event_ids[i]);
  note_bad(target, bad);
  return true;
}

struct target *target_new(const struct hold_target *held, const int *fds) {
  struct target *target = calloc(1, sizeof *target);
  if (target == NULL) return NULL;
  target->held = *held;
  target->fds = malloc(sizeof *fds * (hold_fds(held) + 1));
  bool is_good = target->fds != NULL && held->fd_count > 0;
  if (target->fds != NULL) target->fds[hold_fds(held)] = -1; /* no descriptor of the maps */
  if (is_good) memcpy(target->fds, fds, sizeof *fds * hold_fds(held));
  if (is_good && held->kind == HOLD_TIMER)
    is_good = timer_ring_map(held, fds[0], &target->ring) == 0;
  else if (is_good)
    is_good = read_event_ids(target);
  if (is_good && held->region_fd_count == 1) {
    target->regions.map = region_map_open(fds[held->fd_count]);
    target->regions.is_due = true;
  }
  if (held->kind == HOLD_TIMER)
    proc_exe_file(held->pid, &target->look.exe_device, &target->look.exe_inode);
  target->residual.kernel.base_ns = held->start_cpu_ns;
  struct proc_board *board = &target->residual.steal.board;
  if (is_good && held->kind == HOLD_PERF && proc_board_read(board) < 0)
    *board = (struct proc_board){UINT64_MAX, UINT64_MAX, UINT64_MAX}; /* no loss since then */
  target->residual.steal.counted_ns = held->start_cpu_ns;
  target->residual.steal.has_no_base = held->start_cpu_ns != 0;
  if (is_good && held->exit_fd_count == 2)
    perf_exits_open(&target->exits, fds[held->fd_count], fds[held->fd_count + 1]);
  if (is_good) return target;
  target_free(target, false);
  return NULL;
}

void target_restore(struct target *target) {
  const struct hold_target *held = &target->held;
  target->is_restored = true;
  target->residual.steal.has_no_base = true;
  rate_auto_restore(target);
  if (held->kind != HOLD_TIMER) stride_forget(target);
  target->is_unmapped = held->kind == HOLD_PERF && target->perf != NULL && target->perf->count == 0;
  note_bad(target, target->bad_events);
}

uint64_t target_cpu_ns_within(uint64_t age_ns) {
  uint64_t cpus = cpu_list_possible(); /* some may have gone offline since */
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  if (cpus == 0) cpus = online > 0 ? (uint64_t)online : 1;
  uint64_t ns = age_ns < UINT64_MAX / 2 / cpus ? age_ns * cpus : UINT64_MAX / 2;
  return ns + ns / 10 + CPU_EXTRA_NS;
}

uint64_t target_cpu_ns_max(const struct target *target) {
  uint64_t start = proc_ticks_to_ns(target->held.start_ticks), now = clock_boottime_ns();
  return target_cpu_ns_within(now > start ? now - start : 0);
}

/* Time in user mode, from the kernel's clocks and not from samples. */
static uint64_t user_ns(const struct target *target) {
  uint64_t total = residual_own_ns(&target->residual);
  uint64_t kernel = target->residual.reported_kernel_ns;
  return total > kernel ? total - kernel : 0;
}

uint32_t target_achieved_mhz(const struct target *target) {
  const struct rate *rate = &target->rate;
  if (target->held.control != RING_RUN || target->held.is_killed) return rate->rest_mhz;
  uint64_t records = target->records - rate->base_records;
  uint64_t ns = target->weight_ns - rate->base_weight_ns;
  if (records < ACHIEVED_RECORDS_MIN) return 0;
  uint64_t user = target->held.kind == HOLD_PERF ? user_ns(target) : 0;
  if (user > rate->base_user_ns && user - rate->base_user_ns > ns / 2)
    ns = user - rate->base_user_ns;
  return ns ? (uint32_t)((double)records * 1e12 / (double)ns) : 0;
}

void target_begin_achieved(struct target *target) {
  struct rate *rate = &target->rate;
  if (target->held.kind == HOLD_PERF) target_read_total(target);
  rate->rest_mhz = 0;
  rate->base_records = target->records;
  rate->base_weight_ns = target->weight_ns;
  rate->base_user_ns = user_ns(target);
}

bool target_take_pause(struct target *target) {
  bool shows_pause = target->shows_pause;
  target->shows_pause = false;
  if (shows_pause) pause_mark(target);
  return shows_pause;
}

void target_stop(struct target *target, const char *why) {
  target->look.stopped = why;
  note_bad(target, target->bad_events);
}

bool target_has_hung_up(const struct target *target) {
  for (uint32_t i = 0; i < target->held.fd_count; i++)
    if (!perf_event_has_ended(target->fds[i])) return false;
  return true;
}

/* The counts of the events on threads, including closed ones. The sum lacks the moments between one
   set of events and the next. */
static uint64_t read_threads(const struct target *target) {
  const struct target_threads *threads = &target->threads;
  uint64_t total = threads->closed_ns, one;
  for (uint32_t i = 0; i < threads->count; i++)
    if (perf_event_read_ns(threads->fds[i], &one) == 0) total += one;
  return total;
}

/* The event that reports exits counts the whole tree. */
static bool read_exits(const struct target *target, uint64_t *ret_ns) {
  if (target->held.exit_fd_count != 2) return false;
  return perf_event_read_ns(target->fds[target->held.fd_count + 1], ret_ns) == 0;
}

void target_read_total(struct target *target) {
  uint64_t total = target->held.start_cpu_ns, one;
  uint32_t bad = 0;
  for (uint32_t i = 0; i < target->held.fd_count; i++) {
    if (perf_event_read_ns(target->fds[i], &one) == 0)
      total += one;
    else
      bad++; /* the kernel has put it into its error state */
  }
  note_bad(target, bad);
  bool is_apart = target->held.is_apart; /* or was, and those of the whole program have a gap */
  if (is_apart && read_exits(target, &one))
    total = target->held.start_cpu_ns + one;
  else if (is_apart)
    total += read_threads(target);
  residual_count(&target->residual, total);
}
