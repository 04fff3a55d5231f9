/* SPDX-License-Identifier: Apache-2.0 */
/* The store as the rest of the collector sees it: a landing file that makes batches durable, a
   thread that settles them into day files, and the files themselves in one directory.

     DIR/landing.db          ledger, boards, what has not settled
     DIR/day-2026-01-31.db   nodes, series, blocks, losses of one UTC day
     DIR/node.key            the fleet's secret for node ids

   Reading is scan.c and board_list.c. */
#include "store.h"

#include "common/buf.h"
#include "common/clock.h"
#include "day_file.h"
#include "day_folder.h"
#include "landing.h"
#include "settle.h"
#include "store_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where SQLite's file format keeps PRAGMA user_version, big-endian. */
enum { VERSION_OFFSET = 60, VERSION_BYTES = 4 };

/* Reads a database's user_version without opening it; 0 when that cannot be told. */
static uint32_t peek_version(const char *path) {
  uint8_t bytes[VERSION_BYTES] = {0};
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t len = pread(fd, bytes, sizeof bytes, VERSION_OFFSET);
  uint8_t magic[6] = {0};
  bool is_ours = pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
                 memcmp(magic, "SQLite", sizeof magic) == 0;
  close(fd);
  if (len != VERSION_BYTES || !is_ours) return 0;
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Refuses a directory with day files of a newer version, before anything is written. */
static int check_versions(const char *dir, char *error, size_t error_len) {
  char path[DAY_PATH_BYTES];
  uint32_t *days = NULL;
  size_t count = 0;
  int result = day_folder_list(dir, &days, &count);
  if (result != 0) snprintf(error, error_len, "%s: cannot be read: %s", dir, strerror(-result));
  for (size_t i = 0; i < count && result == 0; i++) {
    uint32_t version = day_folder_path(dir, days[i], path) == 0 ? peek_version(path) : 0;
    if (version <= DAY_VERSION) continue;
    snprintf(error, error_len,
             "%s: written by a newer version (format %u, this program knows %u); use that version "
             "or another --data",
             path, version, (unsigned)DAY_VERSION);
    result = -EPROTO;
  }
  free(days);
  return result;
}

static int open_parts(struct store *store, char *error, size_t error_len) {
  int result = check_versions(store->dir, error, error_len);
  if (result != 0) return result;
  result = node_key_open(store->dir, store->key);
  if (result != 0) {
    snprintf(error, error_len, "%s/node.key: cannot be read or made: %s", store->dir,
             result == -EBADMSG ? "it is not 32 bytes long" : strerror(-result));
    return result;
  }
  result = landing_open(store->dir, &store->landing, error, error_len);
  if (result != 0) return result;
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
  free(store->dir);
  free(store);
}

int store_append(struct store *store, struct store_append *batches, size_t count) {
  int error = landing_append(store->landing, batches, count);
  if (error == 0) settle_wake(store->settle);
  return error;
}

int store_board_seen(struct store *store, const struct store_board_seen *seen) {
  int error = landing_seen(store->landing, seen);
  if (error == 0) settle_wake(store->settle);
  return error;
}

int store_last_seq(struct store *store, const char *board, uint64_t run, uint64_t *ret) {
  return landing_last_seq(store->landing, board, run, ret);
}

int store_refused(struct store *store, const char *board, uint64_t run, uint64_t seq,
                  uint64_t records) {
  int error = landing_refused(store->landing, board, run, seq, records);
  if (error == 0) settle_wake(store->settle);
  return error;
}

static uint64_t total_bytes(const char *dir, const uint32_t *days, size_t count) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < count; i++) bytes += day_folder_bytes(dir, days[i]);
  return bytes;
}

int store_retain(struct store *store, uint64_t min_day_ms, uint64_t max_bytes) {
  uint32_t today = day_of(clock_walltime_ns() / NS_PER_MS);
  uint32_t *days = NULL;
  size_t count = 0;
  int error = day_folder_list(store->dir, &days, &count);
  if (error != 0) return error;
  uint64_t bytes = total_bytes(store->dir, days, count);
  for (size_t i = 0; i < count && error == 0 && days[i] < today; i++) {
    bool is_old = (uint64_t)(days[i] + 1) * DAY_MS <= min_day_ms;
    bool is_over = max_bytes > 0 && bytes > max_bytes;
    if (!is_old && !is_over) break;
    uint64_t freed = day_folder_bytes(store->dir, days[i]);
    error = settle_remove_day(store->settle, days[i]);
    bytes -= freed < bytes ? freed : bytes;
  }
  free(days);
  return error;
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
  settle_figures(store->settle, &settle); /* first: what settles meanwhile must not be ahead */
  landing_figures(store->landing, &landing);
  uint64_t bytes = 0;
  if (day_folder_list(store->dir, &days, &count) == 0) {
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
      {"set_aside_total", "counter", "damaged day files", settle.files_set_aside},
      {"unsettled", "gauge", "landing rows waiting to settle",
       landing.newest_id - settle.settled_id},
      {"backlog_bytes", "gauge", "inflated size of what waits to settle", landing.backlog_bytes},
      {"days", "gauge", "day files", count},
      {"bytes", "gauge", "disk taken by day files", bytes},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    print_metric(ret, rows[i].name, rows[i].kind, rows[i].what, rows[i].value);
}
