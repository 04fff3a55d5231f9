/* SPDX-License-Identifier: Apache-2.0 */
/* A consistent snapshot of many files.

   Batches move. They are durable in landing.db first, then are compacted into the file of their
   day. Once that is durable they are deleted from landing.db. Two snapshots taken one after the
   other would be inconsistent. With landing first, a batch accepted a little later may already be
   in its day, which records the row's number as compacted. After a restore the landing file gives
   that number to another batch, which the day would skip. With landing last, a batch may move in
   between, and be in neither.

   So the landing file is held while a snapshot of each file is opened: nothing can be appended to
   it or deleted from it. A batch accepted before is in it, in its day, or, during compaction, in
   both, which compaction can distinguish. A batch accepted later is in neither. Appends wait for
   that time (measured: 0.7 ms a file).

   Rollups of days are files of minutes and hours, which record their progress. They are opened
   before the days: a missing part is rolled up again, but an excess would stay. Retention rolls up
   a day before it deletes it. If the day is gone when its turn comes, its rollups may have been
   opened too early, and the moment is taken again. The same applies if a rollup progressed
   meanwhile: the windows that it then got may be deleted from their day before that was opened.

   The other databases are independent and are opened at the same moment. Files are listed while the
   landing file is held: a day that begins afterwards has no data of this moment. */
#include "moment.h"

#include "common/clock.h"
#include "folder_walk.h"
#include "store/db_snapshot.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char landing_name[] = "landing.db";

enum { ATTEMPTS_MAX = 10 }; /* retention runs once a minute */

struct taking {
  struct moment *moment;
  void (*on_damaged)(void *context, const char *name);
  void *context;
  char *error;
  size_t error_len;
};

static int complain(struct taking *taking, const char *path, int error) {
  snprintf(taking->error, taking->error_len, "%s: %s", path,
           error == -EUCLEAN ? "is damaged; see fleetprof-collector check --help"
           : error == -EBUSY ? "another program keeps it locked"
           : error == -EMFILE || error == -ENFILE
               ? "too many open files: raise the limit (ulimit -n)"
               : strerror(-error));
  return error;
}

/* Adds a database of the folder, not opened yet. */
static int on_entry(void *context, const struct folder_entry *entry) {
  struct moment *moment = context;
  if (entry->kind != FOLDER_DATABASE) return 0;
  if (moment->count == MOMENT_DATABASES_MAX) return -EOVERFLOW;
  struct moment_database *rows =
      reallocarray(moment->rows, moment->count + 1, sizeof *moment->rows);
  if (rows == NULL) return -ENOMEM;
  moment->rows = rows;
  char *name = strdup(entry->name);
  if (name == NULL) return -ENOMEM;
  moment->rows[moment->count++] = (struct moment_database){.name = name};
  return 0;
}

static bool is_landing(const struct moment_database *database) {
  return strcmp(database->name, landing_name) == 0;
}

/* Returns the order of opening: days, and the landing file before them, come last. */
static int rank_of(const struct moment_database *database) {
  if (is_landing(database)) return 2;
  return strncmp(database->name, "day-", 4) == 0;
}

static int by_rank(const void *left, const void *right) {
  const struct moment_database *a = left, *b = right;
  return rank_of(a) != rank_of(b) ? rank_of(a) - rank_of(b) : strcmp(a->name, b->name);
}

/* The order of copying: the files that grow most while their snapshots are held come first. */
static int by_age(const void *left, const void *right) {
  const struct moment_database *a = left, *b = right;
  if (is_landing(a) || is_landing(b)) return is_landing(a) ? -1 : 1;
  return strcmp(b->name, a->name);
}

/* Opens database I. Returns 1 if it is gone, 0, or -errno. */
static int open_one(struct taking *taking, const char *dir, size_t i) {
  struct moment_database *database = &taking->moment->rows[i];
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", dir, database->name);
  int error = db_snapshot_open(path, &database->snapshot);
  if (error == 1) return 0; /* it is still empty */
  if (error == -ENOENT) return 1;
  if (error == -EUCLEAN && !is_landing(database)) {
    taking->on_damaged(taking->context, database->name);
    return 0;
  }
  return error == 0 ? 0 : complain(taking, path, error);
}

/* Removes entries without a snapshot. */
static void compact(struct moment *moment) {
  size_t kept = 0;
  for (size_t i = 0; i < moment->count; i++) {
    if (moment->rows[i].snapshot != NULL)
      moment->rows[kept++] = moment->rows[i];
    else
      free(moment->rows[i].name);
  }
  moment->count = kept;
}

static bool is_sum(const struct moment_database *database) {
  return strncmp(database->name, "minutes-", 8) == 0 || strncmp(database->name, "hours-", 6) == 0;
}

/* Whether a rollup has progressed beyond its snapshot. False for damaged ones. */
static bool went_on(const char *dir, const struct moment_database *database) {
  static const char how_far[] = "SELECT ifnull(sum(id),0) FROM rolled";
  struct db_snapshot *now = NULL;
  char path[PATH_MAX];
  uint64_t was = 0, is = 0;
  snprintf(path, sizeof path, "%s/%s", dir, database->name);
  bool is_told = db_snapshot_number(database->snapshot, how_far, &was) == 0 &&
                 db_snapshot_open(path, &now) == 0 && db_snapshot_number(now, how_far, &is) == 0;
  db_snapshot_close(now);
  return is_told && is != was;
}

static bool has_any_gone_on(const char *dir, const struct moment *moment) {
  for (size_t i = 0; i < moment->count; i++)
    if (is_sum(&moment->rows[i]) && went_on(dir, &moment->rows[i])) return true;
  return false;
}

/* Takes the moment while the landing file is held. Returns 1 if it must be taken again. */
static int take_held(struct taking *taking, const char *dir) {
  struct moment *moment = taking->moment;
  moment->at_ms = clock_walltime_ns() / NS_PER_MS;
  int result = folder_walk(dir, on_entry, moment);
  if (result != 0) return complain(taking, dir, result);
  if (moment->count > 1) qsort(moment->rows, moment->count, sizeof *moment->rows, by_rank);
  for (size_t i = 0; i < moment->count && result == 0; i++) result = open_one(taking, dir, i);
  if (result != 0) return result;
  compact(moment);
  if (moment->count > 1) qsort(moment->rows, moment->count, sizeof *moment->rows, by_age);
  return 0;
}

static int take_once(struct taking *taking, const char *dir) {
  char path[PATH_MAX];
  struct db_snapshot *hold = NULL;
  snprintf(path, sizeof path, "%s/%s", dir, landing_name);
  int result = db_snapshot_hold(path, &hold);
  if (result != 0) return complain(taking, path, result == 1 ? -ENOENT : result);
  uint64_t before_ns = clock_monotonic_ns();
  result = take_held(taking, dir);
  taking->moment->held_us = (clock_monotonic_ns() - before_ns) / 1000;
  db_snapshot_close(hold);
  if (result == 0 && has_any_gone_on(dir, taking->moment)) result = 1;
  if (result != 0) moment_fini(taking->moment);
  return result;
}

int moment_take(const char *dir, struct moment *ret,
                void (*on_damaged)(void *context, const char *name), void *context, char *error,
                size_t error_len) {
  struct moment moment = {.count = 0};
  struct taking taking = {&moment, on_damaged, context, error, error_len};
  int result = 1;
  for (unsigned i = 0; result == 1 && i < ATTEMPTS_MAX; i++) result = take_once(&taking, dir);
  if (result == 1) {
    snprintf(error, error_len, "%s: its files are being summed up and deleted: try again", dir);
    return -EBUSY;
  }
  if (result == 0) *ret = moment;
  return result;
}

void moment_release(struct moment *moment, size_t i) {
  db_snapshot_close(moment->rows[i].snapshot);
  moment->rows[i].snapshot = NULL;
}

void moment_fini(struct moment *moment) {
  for (size_t i = 0; i < moment->count; i++) {
    moment_release(moment, i);
    free(moment->rows[i].name);
  }
  free(moment->rows);
  *moment = (struct moment){.count = 0};
}
