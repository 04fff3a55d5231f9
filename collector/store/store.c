/* SPDX-License-Identifier: Apache-2.0 */
/* The store as the rest of the collector uses it: a landing file that makes batches durable, a
   thread that settles them into day files, and those files in one directory.

     DIR/landing.db          ledger, boards, what has not settled
     DIR/day-2026-01-31.db   nodes, series, blocks, losses of one UTC day
     DIR/minutes-, hours-    the same day, summed up: tier.h
     DIR/node.key            the fleet's secret for node ids

   Reading is in scan.c and board_list.c. */
#include "store.h"

#include "common/buf.h"
#include "common/clock.h"
#include "common/log.h"
#include "day_aside.h"
#include "day_check.h"
#include "day_folder.h"
#include "day_marks.h"
#include "day_pool.h"
#include "faults.h"
#include "file_version.h"
#include "landing.h"
#include "roll.h"
#include "settle.h"
#include "sqlite/marks.h"
#include "store_read.h"
#include "store_state.h"
#include "tier.h"
#include "tier_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether nothing can be written to the disk. Then windows cannot be deleted from files, and
   only whole files can be deleted. Other errors pass, or an operator must look at them. */
static bool is_full(int error) {
  return error == -ENOSPC || error == -EDQUOT || error == -EROFS;
}

struct key_mark {
  uint64_t value, before;
};

static int swap_key_mark(sqlite3 *db, void *context) {
  struct key_mark *mark = context;
  int row = marks_read(db, NODE_KEY_NAME, &mark->before);
  if (row < 0 || mark->before == mark->value) return row < 0 ? row : 0;
  return marks_write(db, NODE_KEY_NAME, mark->value);
}

/* Another key gives other node ids: stacks that a day already holds are stored there twice. */
static int check_key(struct store *store) {
  struct key_mark mark = {.value = node_key_mark(store->key)};
  int error = landing_change(store->landing, false, swap_key_mark, &mark);
  if (error == 0 && mark.before != 0 && mark.before != mark.value)
    faults_add(store->landing, NODE_KEY_NAME, FAULT_NO_DAY, NODE_KEY_IS_ANOTHER);
  return error;
}

static int open_parts(struct store *store, char *error, size_t error_len) {
  unsigned unseen = 0;
  int result = file_version_look(store->dir, error, error_len);
  if (result != 0) return result;
  store->set_aside_at_start = day_check_start(store->dir, &unseen);
  if (unseen > 0)
    log_warn("store-check %s: %u day files: no time at this start: looked at when they are read",
             store->dir, unseen);
  result = node_key_open(store->dir, store->key);
  if (result != 0) {
    snprintf(error, error_len, "%s/node.key: cannot be read or made: %s", store->dir,
             result == -EBADMSG
                 ? "it is not 32 bytes long; restore a backup, or delete it: answers stay "
                   "right, and stacks that days have take their room twice"
                 : strerror(-result));
    return result;
  }
  result = landing_open(store->dir, &store->landing, error, error_len);
  if (result != 0) return result;
  result = check_key(store);
  if (result == 0) result = day_marks_admit_all(store->landing, store->dir);
  bool is_lasting = result != 0 && result != -EIO && result != -EBUSY && !is_full(result);
  if (is_lasting) { /* else the existing mark is enough */
    snprintf(error, error_len, "%s: its files cannot be looked at: %s", store->dir,
             strerror(-result));
    return result;
  }
  result = settle_start(store->landing, store->dir, store->key, &store->settle);
  if (result != 0)
    snprintf(error, error_len, "%s: cannot start settling: %s", store->dir, strerror(-result));
  return result;
}

int store_open(const char *dir, struct store **ret, char *error, size_t error_len) {
  struct store *store = calloc(1, sizeof *store);
  if (store != NULL) store->dir = strdup(dir);
  if (store == NULL || store->dir == NULL) {
    free(store);
    snprintf(error, error_len, "%s: out of memory", dir);
    return -ENOMEM;
  }
  pthread_mutex_init(&store->rolling, NULL);
  int result = open_parts(store, error, error_len);
  if (result != 0) {
    store_close(store);
    return result;
  }
  *ret = store;
  return 0;
}

void store_close(struct store *store) {
  if (store == NULL) return;
  settle_stop(store->settle);
  landing_close(store->landing);
  pthread_mutex_destroy(&store->rolling);
  free(store->dir);
  free(store);
}

int store_append(struct store *store, struct store_append *batches, size_t count) {
  int error = landing_append(store->landing, batches, count);
  if (error != 0 || count == 0) return error;
  atomic_store_explicit(&store->written_day, day_of(batches[count - 1].received_ms),
                        memory_order_relaxed);
  settle_wake(store->settle);
  return 0;
}

int store_board_seen(struct store *store, const struct store_board_seen *seen) {
  int error = landing_seen(store->landing, seen);
  if (error == 0 || error == -ERANGE) settle_wake(store->settle);
  return error;
}

int store_last_seq(struct store *store, const char *board, uint64_t run, uint64_t *ret) {
  return landing_last_seq(store->landing, board, run, ret);
}

int store_refused(struct store *store, const struct store_refusal *refusal) {
  int error = landing_refused(store->landing, refusal);
  if (error == 0) settle_wake(store->settle);
  return error;
}

uint64_t store_backlog_bytes(struct store *store) {
  struct landing_figures figures;
  landing_figures(store->landing, &figures);
  return figures.backlog_bytes;
}

static bool has_file(const struct store *store, enum day_kind kind, uint32_t day) {
  return day_folder_bytes(store->dir, kind, day) > 0;
}

/* Closes idle readers of DAY's coarse files: the last user of a file checkpoints its WAL. */
static void let_go(struct store *store, uint32_t day) {
  day_pool_forget(settle_pool(store->settle), &(struct day_pool_key){day, DAY_MINUTES});
  day_pool_forget(settle_pool(store->settle), &(struct day_pool_key){day, DAY_HOURS});
}

static int roll_one(struct store *store, uint32_t day) {
  struct roll_job job = {.dir = store->dir,
                         .key = store->key,
                         .day = day,
                         .now_ms = clock_judged_ns() / NS_PER_MS,
                         .store = landing_epoch(store->landing)};
  settle_lock_files(store->settle, NULL); /* no cutoff, so it cannot fail */
  int error = roll_day(&job);
  let_go(store, day);
  for (unsigned kind = DAY_MINUTES; kind < DAY_KINDS; kind++)
    if (job.generation[kind] != 0) /* the next run retries failures */
      day_marks_note_sums(store->landing, store->dir, kind, day, job.generation[kind]);
  settle_unlock_files(store->settle);
  if (error == -EUCLEAN) error = settle_set_aside_day(store->settle, job.failed, day);
  return error;
}

int store_roll(struct store *store) {
  uint32_t *days = NULL;
  size_t count = 0;
  pthread_mutex_lock(&store->rolling);
  int error = day_folder_list(store->dir, DAY_KINDS, &days, &count);
  for (size_t i = count; i-- > 0;) { /* newest first: queries want these */
    bool has_any = has_file(store, DAY_WINDOWS, days[i]) || has_file(store, DAY_MINUTES, days[i]);
    int failed = has_any ? roll_one(store, days[i]) : 0;
    if (error == 0) error = failed;
  }
  atomic_fetch_add_explicit(&store->roll_rounds, 1, memory_order_relaxed);
  if (error != 0) atomic_fetch_add_explicit(&store->roll_failures, 1, memory_order_relaxed);
  pthread_mutex_unlock(&store->rolling);
  free(days);
  return error;
}

static uint64_t day_bytes(const char *dir, uint32_t day) {
  uint64_t bytes = 0;
  for (unsigned kind = 0; kind < DAY_KINDS; kind++) bytes += day_folder_bytes(dir, kind, day);
  return bytes;
}

static uint64_t total_bytes(const char *dir, const uint32_t *days, size_t count) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < count; i++) bytes += day_bytes(dir, days[i]);
  return bytes;
}

#define TOO_OLD "it is older than its --retention"
#define TOO_MUCH "--max-bytes are used up"

/* Logs which file is deleted and why, because it cannot be restored. */
static void tell_removed(const struct store *store, enum day_kind kind, uint32_t day,
                         const char *why) {
  char path[DAY_PATH_BYTES];
  if (day_folder_path(store->dir, kind, day, path) == 0)
    log_info("store-deleted %s: %s", path, why);
}

/* Deletes DAY's file of KIND, if there is one. Keeps windows that are not summed up yet, and
   five minutes that would be made from windows again or that damaged hours need. */
static int drop(struct store *store, enum day_kind kind, uint32_t day, const char *why) {
  if (!has_file(store, kind, day)) return 0;
  if (kind == DAY_MINUTES &&
      (has_file(store, DAY_WINDOWS, day) || !has_file(store, DAY_HOURS, day)))
    return 0;
  int error = settle_remove_day(store->settle, kind, day, kind == DAY_WINDOWS);
  if (error == 0) tell_removed(store, kind, day, why);
  return error == -EAGAIN || error == -EUCLEAN ? 0 : error;
}

/* Of DAY's file of hours keeps only the sums of the whole day. */
static int drop_hours(struct store *store, uint32_t day) {
  char path[DAY_PATH_BYTES];
  if (!has_file(store, DAY_HOURS, day)) return 0;
  pthread_mutex_lock(&store->rolling);
  settle_lock_files(store->settle, NULL); /* no cutoff, so it cannot fail */
  int error = day_folder_path(store->dir, DAY_HOURS, day, path);
  if (error == 0) error = tier_file_drop_hours(path);
  let_go(store, day);
  settle_unlock_files(store->settle);
  pthread_mutex_unlock(&store->rolling);
  return error == -ENOENT || error == -EUCLEAN ? 0 : error;
}

/* Deletes the windows of DAY before BEFORE_MS that are summed up. A failure, or a damaged file
   that never reports an end, is left to the next round. */
static int prune(struct store *store, uint32_t day, uint64_t before_ms) {
  int result = 1;
  if (before_ms <= (uint64_t)day * DAY_MS || !has_file(store, DAY_WINDOWS, day)) return 0;
  for (unsigned i = 0; i < TIER_MINUTES_A_DAY && result == 1; i++)
    result = settle_prune_day(store->settle, day, before_ms);
  return result == 1 || result == -EAGAIN || result == -EUCLEAN ? 0 : result;
}

/* Deletes sums first: if a power cut leaves finer files, they are summed up again, and never
   exist beside the sums. */
static int drop_day(struct store *store, uint32_t day, const char *why) {
  int error = 0;
  for (unsigned kind = DAY_KINDS; kind-- > 0 && error == 0;) {
    bool is_there = has_file(store, kind, day);
    error = settle_remove_day(store->settle, kind, day, false);
    if (is_there && error == 0) tell_removed(store, kind, day, why);
  }
  return error;
}

static int first_of(int error, int later) {
  return error != 0 ? error : later;
}

/* Notes which of DAYS are impossible at NOW_MS, and logs them if they changed. */
static void note_misdated(struct store *store, const uint32_t *days, size_t count,
                          uint64_t now_ms) {
  struct store_misdated before = store_misdated(store), now = {0, 0, 0};
  char first[32], last[32];
  for (size_t i = 0; i < count; i++) {
    if (!day_is_misdated(days[i], now_ms)) continue;
    if (now.count++ == 0) now.first = days[i];
    now.last = days[i];
  }
  atomic_store_explicit(&store->misdated, now.count, memory_order_relaxed);
  atomic_store_explicit(&store->misdated_from, now.first, memory_order_relaxed);
  atomic_store_explicit(&store->misdated_to, now.last, memory_order_relaxed);
  if (now.count == 0 || memcmp(&before, &now, sizeof now) == 0) return;
  clock_print_time(now.first * (DAY_MS * NS_PER_MS), first);
  clock_print_time(now.last * (DAY_MS * NS_PER_MS), last);
  log_warn("store-misdated %s: %u days from %.10s to %.10s cannot be: a clock was wrong when they "
           "were stored; they are served under these dates, and kept until --max-bytes wants room",
           store->dir, now.count, first, last);
}

static int retain_by_age(struct store *store, const struct store_keep *keep, uint32_t day) {
  uint64_t end_ms = ((uint64_t)day + 1) * DAY_MS;
  if (end_ms <= keep->days_ms) return drop_day(store, day, TOO_OLD);
  int error = end_ms <= keep->windows_ms ? drop(store, DAY_WINDOWS, day, TOO_OLD)
                                         : prune(store, day, keep->windows_ms);
  if (end_ms <= keep->minutes_ms) error = first_of(error, drop(store, DAY_MINUTES, day, TOO_OLD));
  if (end_ms <= keep->hours_ms) error = first_of(error, drop_hours(store, day));
  return error;
}

enum { STEPS = 4 };

/* Deletes the next data if the store is too large: the finest files of all days before anything
   coarser. */
static int drop_next(struct store *store, unsigned step, uint32_t day) {
  switch (step) {
  case 0:
    return drop(store, DAY_WINDOWS, day, TOO_MUCH);
  case 1:
    return drop(store, DAY_MINUTES, day, TOO_MUCH);
  case 2:
    return drop_hours(store, day);
  default:
    return drop_day(store, day, TOO_MUCH);
  }
}

/* Whether samples that arrive at NOW_MS are of DAY: by the clock, or before 2024 by a board's own.
 */
static bool is_written(const struct store *store, uint32_t day, uint64_t now_ms) {
  if (now_ms < CLOCK_PLAUSIBLE_NS / NS_PER_MS)
    return day == atomic_load_explicit(&store->written_day, memory_order_relaxed);
  return day == day_of(now_ms) || day == day_of(now_ms) + 1;
}

/* Misdated days are deleted before any other day. A lock of a second must not cost sums that should
   stay for months: if a finer file cannot be deleted now, coarser ones wait for another round. */
static int retain_by_bytes(struct store *store, const uint32_t *days, size_t count,
                           uint64_t max_bytes) {
  uint64_t bytes = total_bytes(store->dir, days, count);
  uint64_t now_ms = clock_judged_ns() / NS_PER_MS;
  bool goes_on = true;
  int error = 0;
  for (unsigned step = 0; step < 2 * STEPS && goes_on; step++) {
    for (size_t i = 0; i < count && bytes > max_bytes; i++) {
      if (day_is_misdated(days[i], now_ms) != (step < STEPS)) continue;
      if (is_written(store, days[i], now_ms)) continue;
      uint64_t before = day_bytes(store->dir, days[i]);
      int failed = drop_next(store, step % STEPS, days[i]);
      if (failed != 0 && !is_full(failed)) goes_on = false;
      error = first_of(error, failed);
      uint64_t freed = before - day_bytes(store->dir, days[i]);
      bytes -= freed < bytes ? freed : bytes;
    }
  }
  return error;
}

/* Deletes quarantined files with their day, or if their space is needed. */
static int thin_aside(const struct store *store, const struct store_keep *keep,
                      const uint32_t *days, size_t count) {
  uint64_t bytes = total_bytes(store->dir, days, count);
  struct day_aside_keep aside = {.first_day = (uint32_t)(keep->days_ms / DAY_MS),
                                 .bytes_max = UINT64_MAX};
  if (keep->max_bytes > 0) aside.bytes_max = keep->max_bytes > bytes ? keep->max_bytes - bytes : 0;
  return day_aside_thin(store->dir, &aside);
}

int store_retain(struct store *store, const struct store_keep *keep) {
  uint64_t now_ms = clock_judged_ns() / NS_PER_MS;
  uint32_t today = day_of(now_ms);
  uint32_t *days = NULL;
  size_t count = 0;
  int error = day_folder_list(store->dir, DAY_KINDS, &days, &count);
  note_misdated(store, days, count, now_ms);
  /* On a full disk windows cannot be deleted from a file, but whole files can. */
  for (size_t i = 0; i < count && days[i] < today; i++)
    if (!day_is_misdated(days[i], now_ms))
      error = first_of(error, retain_by_age(store, keep, days[i]));
  error = first_of(error, prune(store, today, keep->windows_ms));
  error = first_of(error, thin_aside(store, keep, days, count));
  if (keep->max_bytes > 0)
    error = first_of(error, retain_by_bytes(store, days, count, keep->max_bytes));
  free(days);
  day_marks_find_missing(store->landing, store->dir);
  faults_forget_before(store->landing, (uint32_t)(keep->days_ms / DAY_MS));
  landing_look(store->landing);
  return error;
}

struct store_misdated store_misdated(const struct store *store) {
  return (struct store_misdated){
      .count = atomic_load_explicit(&store->misdated, memory_order_relaxed),
      .first = atomic_load_explicit(&store->misdated_from, memory_order_relaxed),
      .last = atomic_load_explicit(&store->misdated_to, memory_order_relaxed)};
}

uint64_t store_stale_reads(const struct store *store) {
  return atomic_load_explicit(&store->stale_reads, memory_order_relaxed);
}

uint64_t store_late_reads(const struct store *store) {
  return atomic_load_explicit(&store->late_reads, memory_order_relaxed);
}

uint64_t store_full_reads(const struct store *store) {
  return atomic_load_explicit(&store->full_reads, memory_order_relaxed);
}

uint64_t store_incomplete_reads(const struct store *store) {
  return atomic_load_explicit(&store->incomplete_reads, memory_order_relaxed);
}

bool store_is_full(struct store *store) {
  struct landing_figures landed;
  landing_figures(store->landing, &landed);
  return landed.append_error == -ENOSPC || landed.append_error == -EDQUOT;
}

struct telling {
  void (*on_trouble)(void *context, const char *what, const char *why);
  void *context;
};

static void tell_fault(void *context, const struct fault *fault) {
  const struct telling *telling = context;
  telling->on_trouble(telling->context, fault->name, fault->why);
}

/* Why acked batches wait, durable, without settling; NULL: a passing error. */
static const char *why_unsettled(int error, char *text, size_t text_len) {
  bool is_momentary = error == 0 || error == -EUCLEAN || error == -EBUSY || error == -ESTALE;
  if (is_momentary) return NULL;
  snprintf(text, text_len, "takes no more of its days: %s: answers lack what was acked lately",
           strerror(-error));
  return text;
}

/* Why nothing is stored; NULL: a passing error. */
static const char *why_unwritten(int error, char *text, size_t text_len) {
  switch (error) {
  case 0:
  case -EAGAIN:
    return NULL;
  case -ENOSPC:
  case -EDQUOT:
    return "is full: nothing is stored, and boards keep what they have, until --retention, "
           "--max-bytes or somebody else makes room";
  case -EBUSY:
    return "has landing.db locked by another program: nothing is stored, and boards keep what they "
           "have";
  case -ESTALE:
    return "is gone, cut or replaced while the collector runs: nothing is stored; end "
           "the collector, put the file back, start again";
  case -EUCLEAN: /* a disk that lost data written to it, too */
    return "reads as damaged while the collector runs: nothing is stored, and boards keep what "
           "they have; end the collector, see to the disk, start again";
  default:
    snprintf(text, text_len,
             "cannot be written: %s: nothing is stored, and boards keep what they "
             "have",
             strerror(-error));
    return text;
  }
}

void store_troubles(struct store *store,
                    void (*on_trouble)(void *context, const char *what, const char *why),
                    void *context) {
  struct telling telling = {on_trouble, context};
  struct landing_figures landed;
  struct settle_figures settled;
  char text[160];
  landing_figures(store->landing, &landed);
  const char *why = why_unwritten(landed.append_error, text, sizeof text);
  if (why == NULL) {
    settle_figures(store->settle, &settled);
    why = why_unsettled(settled.last_error, text, sizeof text);
  }
  bool is_of_file = landed.append_error == -ESTALE || landed.append_error == -EUCLEAN;
  if (why != NULL) on_trouble(context, is_of_file ? "landing.db" : "the disk", why);
  faults_each(store->landing, tell_fault, &telling);
}

static void print_metric(struct buf *ret, const char *name, const char *kind, const char *what,
                         uint64_t value) {
  buf_printf(ret, "# HELP fleetprof_store_%s %s\n# TYPE fleetprof_store_%s %s\n", name, what, name,
             kind);
  buf_printf(ret, "fleetprof_store_%s %llu\n", name, (unsigned long long)value);
}

void store_metrics(struct store *store, struct buf *ret) {
  struct landing_figures landing;
  struct settle_figures settle;
  uint32_t *days = NULL;
  size_t count = 0;
  settle_figures(store->settle, &settle); /* read first: rows that settle meanwhile must not be
                                             ahead */
  landing_figures(store->landing, &landing);
  struct day_aside_figures aside = {0};
  uint64_t bytes = 0;
  day_aside_figures(store->dir, &aside);
  if (day_folder_list(store->dir, DAY_KINDS, &days, &count) == 0) {
    bytes = total_bytes(store->dir, days, count);
    free(days);
  }
  const struct {
    const char *name, *kind, *what;
    uint64_t value;
  } rows[] = {
      {"appended_total", "counter", "batches made durable", landing.appended},
      {"duplicates_total", "counter", "batches that were there already", landing.duplicates},
      {"refused_total", "counter", "batches refused for good", landing.refused},
      {"failed_commits_total", "counter", "transactions given up", landing.failed_commits},
      {"gaps_closed_total", "counter", "ledger gaps forgotten over the limit", landing.gaps_closed},
      {"misplaced_total", "counter", "windows placed at their arrival", landing.misplaced},
      {"settled_total", "counter", "batches moved into day files", settle.settled_batches},
      {"unreadable_total", "counter", "landed batches that did not decode",
       settle.unreadable_batches},
      {"failed_rounds_total", "counter", "settling rounds to be tried again", settle.failed_rounds},
      {"collisions_total", "counter", "node hashes that met other content", settle.collisions},
      {"cut_frames_total", "counter", "frames cut at the node limit of a day", settle.cut_frames},
      {"set_aside_total", "counter", "damaged day files",
       store->set_aside_at_start + settle.files_set_aside},
      {"stale_reads_total", "counter", "reads without what had not settled",
       store_stale_reads(store)},
      {"late_reads_total", "counter", "of these because of a backlog, not of a failing disk",
       store_late_reads(store)},
      {"incomplete_reads_total", "counter", "reads that lack what was lost",
       store_incomplete_reads(store)},
      {"unsettled", "gauge", "landing rows waiting to settle",
       landing.newest_id - settle.settled_id},
      {"backlog_bytes", "gauge", "inflated size of what waits to settle", landing.backlog_bytes},
      {"roll_rounds_total", "counter", "times that what is over was summed up",
       atomic_load_explicit(&store->roll_rounds, memory_order_relaxed)},
      {"roll_failed_total", "counter", "of these, those to be tried again",
       atomic_load_explicit(&store->roll_failures, memory_order_relaxed)},
      {"misdated_dates", "gauge", "days whose date cannot be: a clock was wrong",
       store_misdated(store).count},
      {"day_files", "gauge", "days that have a file", count},
      {"bytes", "gauge", "disk taken by day files", bytes},
      {"set_aside_files", "gauge", "damaged day files that are kept", aside.files},
      {"set_aside_bytes", "gauge", "disk taken by these", aside.bytes},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    print_metric(ret, rows[i].name, rows[i].kind, rows[i].what, rows[i].value);
}
