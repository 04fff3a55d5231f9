/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the same checks as a start (landing_loss.h, day_marks.h), without changing anything. */
#include "store_check.h"

#include "day_folder.h"
#include "day_marks.h"
#include "db.h"
#include "faults.h"
#include "landing.h"
#include "landing_loss.h"
#include "node_key.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct looking {
  const char *dir;
  sqlite3 *landing;
  struct day_mark folder; /* the facts common to all files */
  void (*on_fault)(void *context, const char *name, const char *why);
  void *context;
};

/* Returns whether the file NAME still has, or still lacks, a mark. Retention removes the mark, then
   deletes the file. */
static bool is_still(const struct looking *looking, const char *name, const struct day_mark *mark) {
  uint64_t value = 0;
  int row = marks_read(looking->landing, name, &value);
  return row < 0 || (row == 1) == mark->is_marked;
}

static void judge(struct looking *looking, enum day_kind kind, uint32_t day,
                  const struct day_mark *mark) {
  char path[DAY_PATH_BYTES];
  uint64_t generation = 0;
  if (day_folder_path(looking->dir, kind, day, path) != 0) return;
  const char *name = strrchr(path, '/') + 1;
  int state = day_marks_judge(path, kind, mark, &generation);
  if (state > DAY_WHOLE && is_still(looking, name, mark))
    looking->on_fault(looking->context, name, day_marks_why(state));
}

struct marked {
  struct marked_day {
    enum day_kind kind;
    uint32_t day;
    uint64_t value;
  } * days;
  size_t count;
};

static int add_marked(void *context, const char *name, uint64_t value) {
  struct marked *marked = context;
  struct marked_day day = {.value = value};
  day.kind = day_marks_kind(name, &day.day);
  if (day.kind == DAY_KINDS) return 0;
  struct marked_day *more = reallocarray(marked->days, marked->count + 1, sizeof *more);
  if (more == NULL) return -ENOMEM;
  marked->days = more;
  marked->days[marked->count++] = day;
  return 0;
}

/* Reads the marks first: during that read landing.db shows one moment. */
static int look_at_marked(struct looking *looking) {
  struct marked marked = {NULL, 0};
  int error = marks_each(looking->landing, add_marked, &marked);
  for (size_t i = 0; i < marked.count && error == 0; i++) {
    struct day_mark mark = looking->folder;
    mark.value = marked.days[i].value;
    mark.is_marked = true;
    judge(looking, marked.days[i].kind, marked.days[i].day, &mark);
  }
  free(marked.days);
  return error;
}

/* Files of windows without a mark may be another collector's. */
static int look_at_unmarked(struct looking *looking) {
  uint32_t *days = NULL;
  size_t count = 0;
  int error = day_folder_list(looking->dir, DAY_WINDOWS, &days, &count);
  for (size_t i = 0; i < count && error == 0; i++) {
    char path[DAY_PATH_BYTES];
    uint64_t value = 0;
    error = day_folder_path(looking->dir, DAY_WINDOWS, days[i], path);
    int row = error == 0 ? marks_read(looking->landing, strrchr(path, '/') + 1, &value) : error;
    if (row == 0) judge(looking, DAY_WINDOWS, days[i], &looking->folder);
    if (row < 0) error = row;
  }
  free(days);
  return error;
}

static int tell_faults(struct looking *looking) {
  struct fault_list *list = calloc(1, sizeof *list);
  if (list == NULL) return -ENOMEM;
  int error = fault_list_read(looking->landing, list);
  for (unsigned i = 0; i < list->count && error == 0; i++)
    looking->on_fault(looking->context, list->rows[i].name, list->rows[i].why);
  free(list);
  return error;
}

static void look_at_key(struct looking *looking) {
  uint8_t key[NODE_KEY_BYTES];
  uint64_t mark = 0;
  if (marks_read(looking->landing, NODE_KEY_NAME, &mark) != 1) return;
  int error = node_key_read(looking->dir, key);
  if (error == -ENOENT || (error == 0 && node_key_mark(key) != mark))
    looking->on_fault(looking->context, NODE_KEY_NAME,
                      error == 0 ? NODE_KEY_IS_ANOTHER : "is gone: the collector makes another");
}

static int look_at_days(struct looking *looking) {
  uint64_t complete = 0;
  int row = marks_read(looking->landing, MARKS_STORE, &looking->folder.store);
  if (row == 1) row = marks_read(looking->landing, DAY_MARKS_COMPLETE, &complete);
  looking->folder.is_complete = complete != 0;
  if (row != 1) return row; /* written by a version without marks, or just created */
  row = look_at_marked(looking);
  return row == 0 ? look_at_unmarked(looking) : row;
}

int store_check_marks(const char *dir,
                      void (*on_fault)(void *context, const char *name, const char *why),
                      void *context) {
  struct looking looking = {.dir = dir, .on_fault = on_fault, .context = context};
  int error = marks_open(dir, "landing.db", &looking.landing);
  if (error == -EUCLEAN) return 0;
  if (error != 0 && error != -ENOENT) return error;
  const char *why = landing_loss_find(dir, looking.landing);
  if (why != NULL) on_fault(context, "landing.db", why);
  error = 0;
  if (looking.landing != NULL) look_at_key(&looking);
  if (looking.landing != NULL) error = look_at_days(&looking);
  if (looking.landing != NULL && error == 0) error = tell_faults(&looking);
  db_close(looking.landing);
  return error == -EUCLEAN ? 0 : error;
}

static int forget_all(sqlite3 *db, void *context) {
  (void)context;
  return db_exec(db, "DELETE FROM fault");
}

static void tell(void *context, const struct fault *fault) {
  const struct looking *looking = context;
  looking->on_fault(looking->context, fault->name, fault->why);
}

int store_accept_loss(const char *dir,
                      void (*on_fault)(void *context, const char *name, const char *why),
                      void *context, char *error, size_t error_len) {
  struct looking looking = {.dir = dir, .on_fault = on_fault, .context = context};
  struct landing *landing = NULL;
  int result = landing_open(dir, &landing, error, error_len);
  if (result != 0) return result;
  result = day_marks_admit_all(landing, dir);
  if (result == 0) faults_each(landing, tell, &looking);
  if (result == 0) result = landing_change(landing, true, forget_all, NULL);
  if (result != 0) snprintf(error, error_len, "%s/landing.db: %s", dir, strerror(-result));
  landing_close(landing);
  return result;
}
