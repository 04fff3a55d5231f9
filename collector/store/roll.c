/* SPDX-License-Identifier: Apache-2.0 */
/* Rollup of a day's windows:

     windows --> five minutes                      minutes-*.db
            \--> hours, the day, both by groups    hours-*.db, losses by the hour

   Each transaction takes a few completed buckets (five minutes, or hours). It reads the data that
   arrived for them since the last time, adds it, and stores the last id read. So a bucket that a
   late window extends costs only that bucket, and a kill at any point costs only uncommitted work.

   Both files are made from the windows, independently of each other, but five minutes are made
   first (tier_plan.c relies on this). They are not begun for a day whose hours hold data that no
   window has.

   If hours are damaged after their windows were deleted, they are rebuilt from the five minutes,
   which hold all of that data. Hourly losses are then rebuilt from the windows that still exist;
   the others are gone.

   Weights and counts are added, never scaled, so all sums are exact to the nanosecond. */
#include "roll.h"

#include "common/arena.h"
#include "common/log.h"
#include "day_file.h"
#include "day_folder.h"
#include "day_reader.h"
#include "roll_groups.h"
#include "row_sums.h"
#include "tier_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
  BUCKETS_AT_ONCE = 4,           /* bounds a transaction, and the work repeated after a kill */
  FOREST_BYTES_MAX = 1024 << 20, /* for DAY_NODES_MAX nodes, and their numbers in the other file */
};

struct roll {
  struct roll_job *job;
  enum day_kind kind;
  enum tier tier; /* the shortest in the file */
  struct day_reader *windows;
  struct tier_windows has;
  struct day_reader *from; /* source of the sums: windows, or five minutes */
  enum day_kind from_kind;
  bool has_others;           /* the source has data that windows no longer have */
  struct tier_rolled rolled; /* of the target file */
  struct tier_file *file;
  struct arena arena;
  uint32_t *map; /* from the forest's index to nodes of the target file */
  struct roll_groups groups;
  struct roll_group group; /* of the series being read */
  struct row_sums sums;
  struct tier_slot slot; /* of the sums */
  struct tier_piece pieces[BUCKETS_AT_ONCE];
  uint64_t newest_id[BUCKETS_AT_ONCE];
  size_t piece_count;
};

/* Marks the source file as the one that ERROR is about. Returns ERROR. */
static int blame_source(struct roll *roll, int error) {
  roll->job->failed = roll->from_kind;
  return error;
}

static int path_of(const struct roll_job *job, enum day_kind kind, char path[DAY_PATH_BYTES]) {
  return day_folder_path(job->dir, kind, job->day, path);
}

/* Opens a file of the day. *RET stays NULL if it does not exist. */
static int open_reader(const char *dir, enum day_kind kind, uint32_t day, struct day_reader **ret) {
  char path[DAY_PATH_BYTES];
  int error = day_folder_path(dir, kind, day, path);
  if (error == 0) error = day_reader_open(path, kind, ret);
  return error == -ENOENT ? 0 : error;
}

static int read_rolled(const char *dir, enum day_kind kind, uint32_t day, uint64_t source,
                       struct tier_rolled *ret) {
  struct day_reader *reader = NULL;
  *ret = (struct tier_rolled){.is_there = false};
  int error = open_reader(dir, kind, day, &reader);
  if (error == 0 && reader != NULL) error = day_reader_rolled(reader, day, source, ret);
  day_reader_close(reader);
  return error;
}

static uint64_t newest_of(const struct roll *roll, unsigned bucket) {
  if (roll->tier == TIER_MINUTES) return roll->has.newest_id[bucket];
  uint64_t newest = 0;
  for (unsigned i = 0; i < TIER_MINUTES_AN_HOUR; i++) {
    uint64_t id = roll->has.newest_id[bucket * TIER_MINUTES_AN_HOUR + i];
    if (id > newest) newest = id;
  }
  return newest;
}

/* Selects the next completed buckets with data not yet summed up. */
static void pick_buckets(struct roll *roll) {
  uint64_t length_ms = tier_length_ms(roll->tier), day_ms = (uint64_t)roll->job->day * DAY_MS;
  roll->piece_count = 0;
  for (unsigned i = 0; i < TIER_DAY_MS / length_ms && roll->piece_count < BUCKETS_AT_ONCE; i++) {
    uint64_t start_ms = day_ms + i * length_ms, newest_id = newest_of(roll, i);
    bool is_over = start_ms + length_ms + ROLL_GRACE_MS <= roll->job->now_ms;
    if (!is_over || newest_id <= roll->rolled.rolled_id[i]) continue;
    roll->newest_id[roll->piece_count] = newest_id;
    roll->pieces[roll->piece_count++] = (struct tier_piece){.tier = TIER_WINDOW,
                                                            .from_ms = start_ms,
                                                            .to_ms = start_ms + length_ms,
                                                            .after_id = roll->rolled.rolled_id[i]};
  }
}

/* Writes the sums and empties them. */
static int write_sums(struct roll *roll) {
  struct store_row *rows = NULL;
  size_t count = 0;
  struct tier_slot slot = roll->slot;
  int error = row_sums_take(&roll->sums, &rows, &count);
  if (error != 0 || count == 0) return error;
  if (!roll->rolled.is_day_alone) error = tier_file_add(roll->file, &slot, rows, count);
  if (roll->kind == DAY_MINUTES || error != 0) return error;
  struct tier_slot day = slot;
  day.tier = TIER_DAY;
  day.start_ms = (uint64_t)roll->job->day * DAY_MS;
  error = tier_file_add(roll->file, &day, rows, count);
  unsigned hour = (unsigned)((slot.start_ms - day.start_ms) / TIER_HOUR_MS);
  slot.labels = day.labels = (const char *)roll->group.labels.data;
  slot.group = day.group = roll->group.group;
  if (error == 0 && roll->rolled.is_grouped[hour])
    error = roll_groups_add(&roll->groups, roll->file, &slot, rows, count);
  if (error == 0 && roll->rolled.is_grouped[TIER_HOURS_A_DAY])
    error = roll_groups_add(&roll->groups, roll->file, &day, rows, count);
  return error;
}

static int load_nodes(struct roll *roll) {
  struct store_forest forest;
  int error = day_reader_forest(roll->from, &roll->arena, &forest);
  if (error != 0) return blame_source(roll, error);
  return tier_file_map(roll->file, &forest, &roll->arena, &roll->map);
}

static int add_block(struct roll *roll, const struct day_block *block) {
  uint64_t mid_ms = day_midpoint(block->start_ms, block->end_ms);
  uint64_t start_ms = mid_ms - mid_ms % tier_length_ms(roll->tier);
  int error = roll->map == NULL ? load_nodes(roll) : 0;
  if (error == 0 && (start_ms != roll->slot.start_ms || block->marks != roll->slot.marks))
    error = write_sums(roll);
  roll->slot.start_ms = start_ms;
  roll->slot.marks = block->marks;
  for (size_t i = 0; i < block->count && error == 0; i++) {
    struct store_row row = block->rows[i];
    row.node = roll->map[row.node];
    error = row_sums_add(&roll->sums, &row);
  }
  return error;
}

static int sum_series(struct roll *roll, const struct day_series *series) {
  struct day_block block;
  int row;
  char *labels = strdup(series->text);
  if (labels == NULL) return -ENOMEM;
  roll->slot = (struct tier_slot){.labels = labels, .type = series->type, .tier = roll->tier};
  int error = roll_group_of(labels, &roll->group);
  if (error != 0) blame_source(roll, error);
  while (error == 0 && (row = day_reader_next_block(roll->from, series, &block)) != 0)
    error = row < 0 ? blame_source(roll, row) : add_block(roll, &block);
  if (error == 0) error = write_sums(roll);
  free(labels);
  return error;
}

static int sum_all(struct roll *roll) {
  struct day_series series;
  int row;
  day_reader_set_pieces(roll->from, roll->pieces, roll->piece_count);
  while ((row = day_reader_next_series(roll->from, UINT32_MAX, &series)) == 1) {
    int error = sum_series(roll, &series);
    if (error != 0) return error;
  }
  if (row != 0) return blame_source(roll, row);
  return roll_groups_write(&roll->groups, roll->file);
}

static int on_loss(void *context, const struct day_loss_row *row) {
  struct roll *roll = context;
  int error = tier_file_add_loss(roll->file, row->board, row->at_ms, row->reason, row->records);
  return error != 0 ? error : tier_file_set_rolled_loss(roll->file, row->id);
}

static int sum_losses(struct roll *roll) {
  struct day_reader *reader = NULL;
  uint64_t after_id = 0;
  int error = open_reader(roll->job->dir, DAY_HOURS, roll->job->day, &reader);
  if (error == 0 && reader != NULL)
    error = day_reader_rolled_loss(reader, roll->has.source, &after_id);
  day_reader_close(reader);
  return error != 0 ? error : day_reader_losses_after(roll->windows, after_id, on_loss, roll);
}

/* Stores the last id of each bucket, and which are merged over boards. */
static int note_buckets(struct roll *roll) {
  const uint64_t day_ms = (uint64_t)roll->job->day * DAY_MS;
  int error = 0;
  for (size_t i = 0; i < roll->piece_count && error == 0; i++) {
    uint64_t start_ms = roll->pieces[i].from_ms;
    error = tier_file_set_rolled(roll->file, roll->tier, start_ms, roll->newest_id[i]);
    if (error == 0 && roll->has_others)
      error = tier_file_set_others(roll->file, roll->tier, start_ms);
    bool is_grouped =
        roll->kind == DAY_HOURS && roll->rolled.is_grouped[(start_ms - day_ms) / TIER_HOUR_MS];
    if (error == 0 && is_grouped) error = tier_file_set_grouped(roll->file, TIER_HOUR, start_ms);
  }
  if (error == 0 && roll->kind == DAY_HOURS && roll->rolled.is_grouped[TIER_HOURS_A_DAY])
    error = tier_file_set_grouped(roll->file, TIER_DAY, day_ms);
  return error;
}

/* Decides whether buckets that begin now are merged over boards. A bucket not merged from its
   beginning cannot be merged later. */
static int choose_groups(struct roll *roll) {
  struct roll_census census = {.series_count = 0};
  struct day_series series;
  const struct tier_piece all = {.tier = TIER_WINDOW};
  const uint64_t day_ms = (uint64_t)roll->job->day * DAY_MS;
  int row, error = 0;
  day_reader_set_pieces(roll->from, &all, 1);
  while (error == 0 && (row = day_reader_next_series(roll->from, UINT32_MAX, &series)) != 0)
    error = row < 0 ? row : roll_census_add(&census, series.text, &roll->group);
  if (error != 0) blame_source(roll, error);
  bool merges_day = roll_census_is_worth_it(&census, TIER_DAY), has_any = false;
  bool merges_hours = roll_census_is_worth_it(&census, TIER_HOUR) && !roll->rolled.is_day_alone;
  roll_census_fini(&census);
  for (unsigned i = 0; i < TIER_HOURS_A_DAY; i++) has_any = has_any || roll->rolled.has[i];
  if (!has_any && merges_day) roll->rolled.is_grouped[TIER_HOURS_A_DAY] = true;
  for (size_t i = 0; i < roll->piece_count; i++) {
    unsigned hour = (unsigned)((roll->pieces[i].from_ms - day_ms) / TIER_HOUR_MS);
    if (!roll->rolled.has[hour]) roll->rolled.is_grouped[hour] = merges_hours;
  }
  return error;
}

/* Sums up the buckets from pick_buckets in one transaction. */
static int write_buckets(struct roll *roll) {
  char path[DAY_PATH_BYTES];
  int error = roll->kind == DAY_HOURS ? choose_groups(roll) : 0;
  if (error == 0) error = path_of(roll->job, roll->kind, path);
  if (error != 0) return error;
  arena_init(&roll->arena, FOREST_BYTES_MAX);
  roll->map = NULL;
  error = tier_file_open(path, roll->job->key, roll->has.source, &roll->file);
  if (error == 0) error = sum_all(roll);
  if (error == 0 && roll->kind == DAY_HOURS && roll->windows != NULL) error = sum_losses(roll);
  if (error == 0) error = note_buckets(roll);
  uint64_t generation = 0;
  if (error == 0 && roll->job->store != 0)
    error = tier_file_mark(roll->file, roll->job->store, &generation);
  if (error == 0) error = tier_file_commit(roll->file);
  if (error == 0) roll->job->generation[roll->kind] = generation;
  tier_file_close(roll->file);
  roll->file = NULL;
  arena_fini(&roll->arena);
  return error;
}

/* Sums up all due buckets into the file of KIND. */
static int roll_kind(struct roll *roll, enum day_kind kind) {
  const struct roll_job *job = roll->job;
  roll->kind = kind;
  roll->tier = kind == DAY_MINUTES ? TIER_MINUTES : TIER_HOUR;
  roll->from = roll->windows;
  roll->from_kind = DAY_WINDOWS;
  roll->has_others = false;
  roll->job->failed = kind;
  int error = 0;
  do {
    error = read_rolled(job->dir, kind, job->day, roll->has.source, &roll->rolled);
    if (error != 0) return error;
    pick_buckets(roll);
    if (roll->piece_count > 0) error = write_buckets(roll);
  } while (error == 0 && roll->piece_count > 0);
  return error;
}

/* Selects the next completed hours that the file of hours lacks, MINUTES have, and windows no
   longer hold completely. */
static void pick_missing(struct roll *roll, const struct tier_rolled *minutes) {
  const uint64_t day_ms = (uint64_t)roll->job->day * DAY_MS;
  roll->piece_count = 0;
  for (unsigned i = 0; i < TIER_HOURS_A_DAY && roll->piece_count < BUCKETS_AT_ONCE; i++) {
    uint64_t start_ms = day_ms + (uint64_t)i * TIER_HOUR_MS, newest_id = 0;
    bool is_over = start_ms + TIER_HOUR_MS + ROLL_GRACE_MS <= roll->job->now_ms, has_any = false;
    bool are_windows_whole =
        roll->windows != NULL && !minutes->has_others && roll->has.whole_from_ms <= start_ms;
    for (unsigned at = i * TIER_MINUTES_AN_HOUR; at < (i + 1) * TIER_MINUTES_AN_HOUR; at++) {
      has_any = has_any || minutes->has[at];
      if (minutes->rolled_id[at] > newest_id) newest_id = minutes->rolled_id[at];
    }
    if (!is_over || !has_any || are_windows_whole || roll->rolled.has[i]) continue;
    roll->newest_id[roll->piece_count] = newest_id;
    roll->pieces[roll->piece_count++] = (struct tier_piece){
        .tier = TIER_MINUTES, .from_ms = start_ms, .to_ms = start_ms + TIER_HOUR_MS};
  }
}

static int make_missing(struct roll *roll, const struct tier_rolled *minutes) {
  const struct roll_job *job = roll->job;
  char path[DAY_PATH_BYTES];
  unsigned made = 0;
  int error = 0;
  do {
    roll->job->failed = DAY_HOURS;
    error = read_rolled(job->dir, DAY_HOURS, job->day, roll->has.source, &roll->rolled);
    if (error != 0) break;
    pick_missing(roll, minutes);
    if (roll->piece_count > 0) error = write_buckets(roll);
    if (error == 0) made += (unsigned)roll->piece_count;
  } while (error == 0 && roll->piece_count > 0);
  if (made > 0 && path_of(job, DAY_HOURS, path) == 0)
    log_warn("store-remade %s: %u hours are made anew from five minutes; losses in them are %s",
             path, made, roll->windows != NULL ? "those that windows tell" : "not told any more");
  return error;
}

/* Rebuilds hours that were damaged after their windows were deleted. */
static int remake_hours(struct roll *roll) {
  const struct roll_job *job = roll->job;
  struct tier_rolled minutes = {.is_there = false};
  roll->kind = DAY_HOURS;
  roll->tier = TIER_HOUR;
  roll->from_kind = roll->job->failed = DAY_MINUTES;
  roll->from = NULL; /* replaces the windows as source */
  int error = open_reader(job->dir, DAY_MINUTES, job->day, &roll->from);
  if (error != 0 || roll->from == NULL) return error;
  error = day_reader_rolled(roll->from, job->day, roll->has.source, &minutes);
  roll->has_others = minutes.has_others;
  if (error == 0) error = make_missing(roll, &minutes);
  day_reader_close(roll->from);
  roll->from = NULL;
  return error;
}

static int is_new_loss(void *context, const struct day_loss_row *row) {
  (void)context, (void)row;
  return 1;
}

/* A completed day may have losses without windows. */
static int roll_losses(struct roll *roll) {
  struct day_reader *hours = NULL;
  uint64_t after_id = 0;
  if (((uint64_t)roll->job->day + 1) * DAY_MS + ROLL_GRACE_MS > roll->job->now_ms) return 0;
  int error = open_reader(roll->job->dir, DAY_HOURS, roll->job->day, &hours);
  if (error == 0 && hours != NULL)
    error = day_reader_rolled_loss(hours, roll->has.source, &after_id);
  day_reader_close(hours);
  if (error != 0) return error;
  int found = day_reader_losses_after(roll->windows, after_id, is_new_loss, NULL);
  if (found < 0) return blame_source(roll, found);
  return found != 0 ? write_buckets(roll) : 0;
}

/* A file of five minutes covers the whole day or does not exist. It is not begun if hours hold data
   that windows lack, or some windows are deleted. */
static int wants_minutes(const struct roll *roll, bool *ret) {
  const struct roll_job *job = roll->job;
  char path[DAY_PATH_BYTES];
  struct tier_rolled hours;
  int error = path_of(job, DAY_MINUTES, path);
  *ret = error == 0 && day_folder_bytes(job->dir, DAY_MINUTES, job->day) > 0;
  if (error != 0 || *ret) return error;
  roll->job->failed = DAY_HOURS;
  error = read_rolled(job->dir, DAY_HOURS, job->day, roll->has.source, &hours);
  *ret = !hours.has_others && roll->has.whole_from_ms <= (uint64_t)job->day * DAY_MS;
  return error;
}

static int open_windows(struct roll *roll) {
  const struct roll_job *job = roll->job;
  char path[DAY_PATH_BYTES];
  int error = open_reader(job->dir, DAY_WINDOWS, job->day, &roll->windows);
  if (error == 0 && roll->windows != NULL) error = day_reader_windows(roll->windows, &roll->has);
  if (error != 0 || roll->windows == NULL || roll->has.source != 0) return error;
  day_reader_close(roll->windows);
  roll->windows = NULL;
  error = path_of(job, DAY_WINDOWS, path);
  if (error == 0) error = day_file_upgrade(path);
  if (error == 0) error = open_reader(job->dir, DAY_WINDOWS, job->day, &roll->windows);
  if (error == 0 && roll->windows != NULL) error = day_reader_windows(roll->windows, &roll->has);
  return error;
}

int roll_day(struct roll_job *job) {
  struct roll *roll = calloc(1, sizeof *roll);
  bool has_minutes = false;
  if (roll == NULL) return -ENOMEM;
  roll->job = job;
  job->failed = DAY_WINDOWS;
  int error = open_windows(roll);
  if (error == 0 && roll->windows != NULL) {
    error = wants_minutes(roll, &has_minutes);
    if (error == 0 && has_minutes) error = roll_kind(roll, DAY_MINUTES);
  }
  if (error == 0) error = remake_hours(roll); /* first: hours begun from windows would lack these */
  if (error == 0 && roll->windows != NULL) error = roll_kind(roll, DAY_HOURS);
  if (error == 0 && roll->windows != NULL) error = roll_losses(roll);
  day_reader_close(roll->windows);
  roll_groups_fini(&roll->groups);
  buf_fini(&roll->group.labels);
  row_sums_fini(&roll->sums);
  free(roll);
  return error;
}

/* Reads which data of DAY exists, except merged data. */
static int read_state(const char *dir, uint32_t day, struct tier_state *ret) {
  struct day_reader *windows = NULL;
  int error = open_reader(dir, DAY_WINDOWS, day, &windows);
  ret->day_ms = (uint64_t)day * DAY_MS;
  if (error == 0 && windows != NULL) error = day_reader_windows(windows, &ret->windows);
  day_reader_close(windows);
  if (error == 0) error = read_rolled(dir, DAY_MINUTES, day, ret->windows.source, &ret->minutes);
  if (error == 0) error = read_rolled(dir, DAY_HOURS, day, ret->windows.source, &ret->hours);
  return error;
}

int roll_prune(const char *dir, uint32_t day, uint64_t before_ms) {
  struct tier_state *state = calloc(1, sizeof *state);
  char path[DAY_PATH_BYTES];
  if (state == NULL) return -ENOMEM;
  int error = read_state(dir, day, state);
  int spare = error == 0 ? tier_plan_spare(state, before_ms) : -1;
  uint64_t end_ms = state->day_ms + (uint64_t)(spare + 1) * TIER_MINUTES_MS;
  free(state);
  if (spare < 0) return error;
  error = day_folder_path(dir, DAY_WINDOWS, day, path);
  if (error == 0) error = day_file_prune(path, end_ms);
  return error != 0 ? error : 1;
}

int roll_is_complete(const char *dir, uint32_t day) {
  struct tier_windows windows = {.is_there = false};
  struct tier_rolled hours = {.is_there = false};
  struct day_reader *reader = NULL, *summed = NULL;
  uint64_t loss_id = 0;
  int error = open_reader(dir, DAY_WINDOWS, day, &reader);
  if (error == 0 && reader != NULL) error = day_reader_windows(reader, &windows);
  if (error == 0) error = open_reader(dir, DAY_HOURS, day, &summed);
  if (error == 0 && summed != NULL) {
    error = day_reader_rolled(summed, day, windows.source, &hours);
    if (error == 0) error = day_reader_rolled_loss(summed, windows.source, &loss_id);
  }
  int has_loss = 0;
  if (error == 0 && reader != NULL)
    has_loss = day_reader_losses_after(reader, loss_id, is_new_loss, NULL);
  day_reader_close(reader);
  day_reader_close(summed);
  if (error == 0 && has_loss < 0) error = has_loss;
  return error != 0 ? error : has_loss == 0 && tier_plan_is_rolled(&windows, &hours);
}
