/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the store that were lost, and what that means for answers: kept in landing.db until
   somebody accepts the loss or the day is over, and in memory for whoever asks. */
#ifndef STORE_FAULTS_H
#define STORE_FAULTS_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct landing;

enum {
  FAULTS_MAX = 64, /* of them; later ones are in the log alone */
  FAULT_NAME_BYTES = 64,
  FAULT_WHY_BYTES = 320,
};

/* Instead of a day: answers of all days lack something; of none do. */
#define FAULT_ALL_DAYS UINT32_MAX
#define FAULT_NO_DAY (UINT32_MAX - 1)

#define FAULTS_SCHEMA                                                             \
  "CREATE TABLE IF NOT EXISTS fault(name TEXT PRIMARY KEY, day INTEGER NOT NULL," \
  " why TEXT NOT NULL) WITHOUT ROWID;"

struct fault {
  char name[FAULT_NAME_BYTES]; /* of the file */
  uint32_t day;                /* whose answers lack something, or FAULT_ALL_DAYS, FAULT_NO_DAY */
  char why[FAULT_WHY_BYTES];
};

struct fault_list { /* all-zero but for the lock is empty */
  pthread_mutex_t lock;
  unsigned count;
  struct fault rows[FAULTS_MAX];
};

/* Writes FAULT, in place of an earlier one of its file; deletes those of days before DAY.  Return 0
   or -errno. */
int fault_write(sqlite3 *db, const struct fault *fault);
int fault_forget_before(sqlite3 *db, uint32_t day);

/* Reads up to FAULTS_MAX into RET, which nobody else knows yet; none where there is no table. */
int fault_list_read(sqlite3 *db, struct fault_list *ret);

/* Logs that the file NAME was lost, WHY, and keeps that.  Any thread. */
__attribute__((format(printf, 4, 5))) void faults_add(struct landing *landing, const char *name,
                                                      uint32_t day, const char *format, ...);

/* Forgets what days before DAY lack: they are gone.  Any thread. */
void faults_forget_before(struct landing *landing, uint32_t day);

/* Whether anything between two days, both included, was lost.  Any thread. */
bool faults_touch(struct landing *landing, uint32_t from_day, uint32_t to_day);

/* Calls ON_FAULT for each, with a lock held.  Any thread. */
void faults_each(struct landing *landing, void (*on_fault)(void *context, const struct fault *),
                 void *context);

#endif
