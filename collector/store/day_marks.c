/* SPDX-License-Identifier: Apache-2.0 */
/* A day's file is committed first, then its mark is raised. Before a deletion the mark is removed,
   durably, then the file is deleted. So a crash leaves a file ahead of its mark or a file without a
   mark, and both are accepted. A file behind its mark, or a mark without its file, is a loss.

   Marks raised by compaction are not flushed. If a power cut loses one, it also brings back rows of
   the landing file, and these raise it again. If the disk is too full to remove a mark, the file is
   deleted nevertheless; a crash at that moment reports it as lost. */
#include "day_marks.h"

#include "common/log.h"
#include "day_file.h"
#include "day_folder.h"
#include "day_set.h"
#include "db.h"
#include "faults.h"
#include "landing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *name_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

enum day_kind day_marks_kind(const char *name, uint32_t *ret_day) {
  if (!day_folder_is_day(name, ret_day)) return DAY_KINDS;
  return name[0] == 'd' ? DAY_WINDOWS : name[0] == 'm' ? DAY_MINUTES : DAY_HOURS;
}

/* ---- judging ---- */

/* Returns whether the file is known to have held data of this store. If landing.db and access.db
   are both new, the other files' owner is unknown, and they are accepted. */
static bool was_ours(const struct day_mark *mark) {
  return mark->is_marked ? mark->value > 0 : mark->is_complete;
}

/* A file of windows identifies its store by the epoch. */
static int judge_windows(sqlite3 *db, const struct day_mark *mark, uint64_t *ret) {
  char sql[96];
  uint64_t epochs = 0, ours = 0;
  sqlite3_snprintf(sizeof sql, sql, "SELECT count(*) FROM meta WHERE epoch=%lld",
                   (long long)mark->store);
  int error = db_number(db, "SELECT count(*) FROM meta", 0, &epochs);
  if (error == 0) error = db_number(db, sql, 0, &ours);
  sqlite3_snprintf(sizeof sql, sql, "SELECT settled_id FROM meta WHERE epoch=%lld",
                   (long long)mark->store);
  if (error == 0) error = db_number(db, sql, 0, ret);
  if (error != 0) return error;
  bool is_foreign = mark->store != 0 && epochs > 0 && ours == 0;
  return is_foreign && was_ours(mark) ? DAY_FOREIGN : DAY_WHOLE;
}

static int judge_sums(sqlite3 *db, const struct day_mark *mark, uint64_t *ret) {
  uint64_t store = 0;
  int row = marks_read(db, MARKS_STORE, &store);
  if (row >= 0) row = marks_read(db, MARKS_GENERATION, ret);
  if (row < 0) return row;
  if (store == 0 || mark->store == 0 || store == mark->store) return DAY_WHOLE;
  *ret = 0; /* the generation is of another store */
  return was_ours(mark) ? DAY_FOREIGN : DAY_WHOLE;
}

int day_marks_judge(const char *path, enum day_kind kind, const struct day_mark *mark,
                    uint64_t *ret) {
  sqlite3 *db = NULL;
  uint64_t tables = 0;
  *ret = 0;
  int state = db_open(path, false, &db);
  if (state == -ENOENT) return mark->is_marked ? DAY_GONE : DAY_WHOLE;
  if (state == 0) state = db_number(db, "SELECT count(*) FROM sqlite_schema", 0, &tables);
  if (state == 0 && tables == 0)
    state = mark->is_marked && mark->value > 0 ? DAY_GONE : DAY_WHOLE;
  else if (state == 0)
    state = kind == DAY_WINDOWS ? judge_windows(db, mark, ret) : judge_sums(db, mark, ret);
  db_close(db);
  return state == DAY_WHOLE && tables > 0 && *ret < mark->value ? DAY_OLDER : state;
}

const char *day_marks_why(enum day_state state) {
  switch (state) {
  case DAY_GONE:
    return "is gone or empty: answers lack what no other file of its day has";
  case DAY_OLDER:
    return "is an older copy: answers lack what came since, as far as no other file of its day "
           "has it";
  case DAY_FOREIGN:
    return "was another collector's: set aside as *.corrupt; answers lack what no other file of "
           "its day has";
  default:
    return "was damaged: set aside as *.corrupt; answers lack what no other file of its day has";
  }
}

/* ---- marks in landing.db ---- */

struct reading {
  const char *name;
  struct day_mark mark;
};

static int read_mark(sqlite3 *db, void *context) {
  struct reading *reading = context;
  uint64_t complete = 0;
  int row = marks_read(db, MARKS_STORE, &reading->mark.store);
  if (row >= 0) row = marks_read(db, DAY_MARKS_COMPLETE, &complete);
  reading->mark.is_complete = complete != 0;
  if (row >= 0) row = marks_read(db, reading->name, &reading->mark.value);
  reading->mark.is_marked = row == 1;
  return row < 0 ? row : 0;
}

struct writing {
  const char *name;
  uint64_t value;
};

static int write_mark(sqlite3 *db, void *context) {
  const struct writing *writing = context;
  return marks_write(db, writing->name, writing->value);
}

static int forget_mark(sqlite3 *db, void *context) {
  return marks_forget(db, context);
}

/* ---- admitting ---- */

static bool was_set_aside(const char *path) {
  char name[DAY_PATH_BYTES + 16];
  snprintf(name, sizeof name, "%s.corrupt", path);
  return access(path, F_OK) != 0 && access(name, F_OK) == 0;
}

/* Records the loss of the file PATH. If STATE is DAY_OLDER, sets its mark to the file's GENERATION,
   otherwise removes it. */
static int note_loss(struct landing *landing, const char *path, uint32_t day, enum day_state state,
                     uint64_t generation) {
  char name[FAULT_NAME_BYTES];
  snprintf(name, sizeof name, "%s", name_of(path));
  if (state == DAY_GONE && was_set_aside(path)) state = DAY_DAMAGED;
  faults_add(landing, name, day, "%s", day_marks_why(state));
  if (state != DAY_OLDER) return landing_change(landing, true, forget_mark, name);
  struct writing writing = {name, generation};
  return landing_change(landing, true, write_mark, &writing);
}

int day_marks_admit(struct landing *landing, const char *dir, enum day_kind kind, uint32_t day) {
  char path[DAY_PATH_BYTES];
  uint64_t generation = 0;
  int result = day_folder_path(dir, kind, day, path);
  struct reading reading = {.name = name_of(path)};
  if (result == 0) result = landing_change(landing, false, read_mark, &reading);
  if (result != 0) return result;
  int state = day_marks_judge(path, kind, &reading.mark, &generation);
  if (state == -EUCLEAN || state == DAY_WHOLE) return 0; /* the next open reports the damage */
  if (state < 0) return state;
  if (state == DAY_FOREIGN) result = day_folder_set_aside(dir, kind, day);
  return result != 0 ? result : note_loss(landing, path, day, state, generation);
}

/* The names of marked day files. */
struct names {
  char (*rows)[MARKS_NAME_BYTES];
  size_t count;
};

static int add_name(void *context, const char *name, uint64_t value) {
  struct names *names = context;
  uint32_t day = 0;
  (void)value;
  if (!day_folder_is_day(name, &day) || strlen(name) >= MARKS_NAME_BYTES) return 0;
  char(*more)[MARKS_NAME_BYTES] = reallocarray(names->rows, names->count + 1, sizeof *names->rows);
  if (more == NULL) return -ENOMEM;
  names->rows = more;
  snprintf(names->rows[names->count++], MARKS_NAME_BYTES, "%s", name);
  return 0;
}

static int list_marks(sqlite3 *db, void *context) {
  return marks_each(db, add_name, context);
}

static int admit_marked(struct landing *landing, const char *dir) {
  struct names names = {NULL, 0};
  int error = landing_change(landing, false, list_marks, &names);
  for (size_t i = 0; i < names.count; i++) {
    uint32_t day = 0;
    enum day_kind kind = day_marks_kind(names.rows[i], &day);
    int failed = day_marks_admit(landing, dir, kind, day);
    if (error == 0) error = failed;
  }
  free(names.rows);
  return error;
}

/* Checks DAY's file of KIND and marks it as it is now, unless it has a mark. */
static int admit_one(struct landing *landing, const char *dir, enum day_kind kind, uint32_t day) {
  char path[DAY_PATH_BYTES];
  uint64_t generation = 0;
  int error = day_folder_path(dir, kind, day, path);
  struct reading reading = {.name = name_of(path)};
  if (error == 0) error = landing_change(landing, false, read_mark, &reading);
  if (error != 0 || reading.mark.is_marked) return error;
  error = day_marks_admit(landing, dir, kind, day);
  if (error != 0 || access(path, F_OK) != 0) return error;
  struct writing writing = {reading.name, 0};
  if (day_marks_judge(path, kind, &reading.mark, &generation) >= 0) writing.value = generation;
  return landing_change(landing, false, write_mark, &writing);
}

/* Admits the files of KIND. At the first start with marks it admits those of other collectors too,
   since nothing distinguishes them. */
static int admit_found(struct landing *landing, const char *dir, enum day_kind kind) {
  uint32_t *days = NULL;
  size_t count = 0;
  int error = day_folder_list(dir, kind, &days, &count);
  for (size_t i = 0; i < count; i++) {
    int failed = admit_one(landing, dir, kind, days[i]);
    if (error == 0) error = failed;
  }
  free(days);
  return error;
}

int day_marks_admit_all(struct landing *landing, const char *dir) {
  struct reading reading = {.name = DAY_MARKS_COMPLETE};
  struct writing complete = {DAY_MARKS_COMPLETE, 1};
  int error = admit_marked(landing, dir);
  for (unsigned kind = 0; kind < DAY_KINDS; kind++) {
    int failed = admit_found(landing, dir, kind);
    if (error == 0) error = failed;
  }
  if (error == 0) error = landing_change(landing, false, read_mark, &reading);
  if (error == 0 && !reading.mark.is_complete)
    error = landing_change(landing, true, write_mark, &complete);
  return error;
}

void day_marks_find_missing(struct landing *landing, const char *dir) {
  struct names names = {NULL, 0};
  char path[DAY_PATH_BYTES];
  if (landing_change(landing, false, list_marks, &names) == 0)
    for (size_t i = 0; i < names.count; i++) {
      uint32_t day = 0;
      int len = snprintf(path, sizeof path, "%s/%s", dir, names.rows[i]);
      if (len < 0 || (size_t)len >= sizeof path || !day_folder_is_day(names.rows[i], &day))
        continue;
      if (access(path, F_OK) != 0 && errno == ENOENT) note_loss(landing, path, day, DAY_GONE, 0);
    }
  free(names.rows);
}

/* ---- noting ---- */

static int note_set(sqlite3 *db, void *context) {
  const struct day_set *set = context;
  char path[DAY_PATH_BYTES];
  int error = 0;
  for (unsigned i = 0; i < DAY_SET_MAX && error == 0; i++) {
    if (set->slots[i].file == NULL) continue;
    error = day_folder_path(set->dir, DAY_WINDOWS, set->slots[i].day, path);
    if (error == 0) error = marks_raise(db, name_of(path), day_file_settled_id(set->slots[i].file));
  }
  return error;
}

int day_marks_note_set(struct landing *landing, const struct day_set *set) {
  return landing_change(landing, false, note_set, (void *)set);
}

int day_marks_note_sums(struct landing *landing, const char *dir, enum day_kind kind, uint32_t day,
                        uint64_t generation) {
  char path[DAY_PATH_BYTES];
  int error = day_folder_path(dir, kind, day, path);
  struct writing writing = {name_of(path), generation};
  return error != 0 ? error : landing_change(landing, false, write_mark, &writing);
}

int day_marks_forget(struct landing *landing, const char *dir, enum day_kind kind, uint32_t day) {
  char path[DAY_PATH_BYTES];
  int error = day_folder_path(dir, kind, day, path);
  return error != 0 ? error : landing_change(landing, true, forget_mark, (void *)name_of(path));
}

void day_marks_set_aside(struct landing *landing, const char *path, uint32_t day) {
  int error = note_loss(landing, path, day, DAY_DAMAGED, 0);
  if (error != 0) log_debug("store-lost %s: stays marked: %s", path, strerror(-error));
}
