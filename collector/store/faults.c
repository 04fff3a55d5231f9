/* SPDX-License-Identifier: Apache-2.0 */
/* A fault that cannot be written (full disk) stays in memory; the next start detects it again. */
#include "faults.h"

#include "common/log.h"
#include "db.h"
#include "landing.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int fault_write(sqlite3 *db, const struct fault *fault) {
  sqlite3_stmt *write = NULL;
  int error = db_prepare(db, "INSERT OR REPLACE INTO fault(name,day,why) VALUES(?,?,?)", &write);
  if (error != 0) return error;
  db_bind_text(write, 1, fault->name);
  db_bind_u64(write, 2, fault->day);
  db_bind_text(write, 3, fault->why);
  error = db_run(write);
  sqlite3_finalize(write);
  return error;
}

int fault_forget_before(sqlite3 *db, uint32_t day) {
  char sql[64];
  sqlite3_snprintf(sizeof sql, sql, "DELETE FROM fault WHERE day<%lld", (long long)day);
  return db_exec(db, sql);
}

static void read_row(sqlite3_stmt *row, struct fault *ret) {
  snprintf(ret->name, sizeof ret->name, "%s", db_text(row, 0));
  ret->day = (uint32_t)db_u64(row, 1);
  snprintf(ret->why, sizeof ret->why, "%s", db_text(row, 2));
}

int fault_list_read(sqlite3 *db, struct fault_list *ret) {
  sqlite3_stmt *list = NULL;
  uint64_t tables = 0;
  int row = db_number(db, "SELECT count(*) FROM sqlite_schema WHERE name='fault'", 0, &tables);
  if (row != 0 || tables == 0) return row;
  row = db_prepare(db, "SELECT name,day,why FROM fault ORDER BY day DESC,name", &list);
  while (row >= 0 && ret->count < FAULTS_MAX && (row = db_step(list)) == 1)
    read_row(list, &ret->rows[ret->count++]);
  sqlite3_finalize(list);
  return row < 0 ? row : 0;
}

static void keep(struct fault_list *list, const struct fault *fault) {
  unsigned at = 0;
  pthread_mutex_lock(&list->lock);
  while (at < list->count && strcmp(list->rows[at].name, fault->name) != 0) at++;
  if (at < FAULTS_MAX) list->rows[at] = *fault;
  if (at == list->count && at < FAULTS_MAX) list->count++;
  pthread_mutex_unlock(&list->lock);
}

static int write_one(sqlite3 *db, void *context) {
  return fault_write(db, context);
}

void faults_add(struct landing *landing, const char *name, uint32_t day, const char *format, ...) {
  struct fault fault = {.day = day};
  va_list values;
  snprintf(fault.name, sizeof fault.name, "%s", name);
  va_start(values, format);
  vsnprintf(fault.why, sizeof fault.why, format, values);
  va_end(values);
  log_error("store-lost %s: %s", fault.name, fault.why);
  keep(landing_fault_list(landing), &fault);
  int error = landing_change(landing, true, write_one, &fault);
  if (error != 0) log_warn("store-lost %s: cannot be noted: %s", fault.name, strerror(-error));
}

static int forget(sqlite3 *db, void *context) {
  return fault_forget_before(db, *(const uint32_t *)context);
}

void faults_forget_before(struct landing *landing, uint32_t day) {
  struct fault_list *list = landing_fault_list(landing);
  unsigned kept = 0, before;
  pthread_mutex_lock(&list->lock);
  before = list->count;
  for (unsigned i = 0; i < before; i++)
    if (list->rows[i].day >= day) list->rows[kept++] = list->rows[i];
  list->count = kept;
  pthread_mutex_unlock(&list->lock);
  if (kept < before) landing_change(landing, false, forget, &day);
}

bool faults_touch(struct landing *landing, uint32_t from_day, uint32_t to_day) {
  struct fault_list *list = landing_fault_list(landing);
  bool is_touched = false;
  pthread_mutex_lock(&list->lock);
  for (unsigned i = 0; i < list->count && !is_touched; i++) {
    uint32_t day = list->rows[i].day;
    is_touched = day == FAULT_ALL_DAYS || (day >= from_day && day <= to_day);
  }
  pthread_mutex_unlock(&list->lock);
  return is_touched;
}

void faults_each(struct landing *landing, void (*on_fault)(void *context, const struct fault *),
                 void *context) {
  struct fault_list *list = landing_fault_list(landing);
  pthread_mutex_lock(&list->lock);
  for (unsigned i = 0; i < list->count; i++) on_fault(context, &list->rows[i]);
  pthread_mutex_unlock(&list->lock);
}
