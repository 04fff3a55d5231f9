/* SPDX-License-Identifier: Apache-2.0 */
/* Lost files of the store and their effect on answers. landing.db keeps each fault until an
   operator accepts it or its day expires; memory holds a copy for queries. */
#ifndef STORE_FAULTS_H
#define STORE_FAULTS_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct landing;

enum {
  FAULTS_MAX = 64, /* later faults are only logged */
  FAULT_NAME_BYTES = 64,
  FAULT_WHY_BYTES = 320,
};

/* Values instead of a day: the answers of all days lack data, or those of none do. */
#define FAULT_ALL_DAYS UINT32_MAX
#define FAULT_NO_DAY (UINT32_MAX - 1)

#define FAULTS_SCHEMA                                                             \
  "CREATE TABLE IF NOT EXISTS fault(name TEXT PRIMARY KEY, day INTEGER NOT NULL," \
  " why TEXT NOT NULL) WITHOUT ROWID;"

struct fault {
  char name[FAULT_NAME_BYTES]; /* of the file */
  uint32_t day;                /* its answers lack data; or FAULT_ALL_DAYS, FAULT_NO_DAY */
  char why[FAULT_WHY_BYTES];
};

struct fault_list { /* all-zero with an initialized lock is empty */
  pthread_mutex_t lock;
  unsigned count;
  struct fault rows[FAULTS_MAX];
};

/* The first writes FAULT in place of an earlier fault of its file. The second deletes the faults of
   days before DAY. Return 0 or -errno. */
int fault_write(sqlite3 *db, const struct fault *fault);
int fault_forget_before(sqlite3 *db, uint32_t day);

/* Reads up to FAULTS_MAX faults into RET, without its lock: no other thread uses RET yet. Reads
   none if the table is missing. Returns 0 or -errno. */
int fault_list_read(sqlite3 *db, struct fault_list *ret);

/* Logs that the file NAME was lost, with the reason, and records the fault. Any thread. */
__attribute__((format(printf, 4, 5))) void faults_add(struct landing *landing, const char *name,
                                                      uint32_t day, const char *format, ...);

/* Deletes the faults of days before DAY, as their data is deleted. Any thread. */
void faults_forget_before(struct landing *landing, uint32_t day);

/* Returns whether a fault affects a day between the two, both included. Any thread. */
bool faults_touch(struct landing *landing, uint32_t from_day, uint32_t to_day);

/* Calls ON_FAULT for each fault, with a lock held. Any thread. */
void faults_each(struct landing *landing, void (*on_fault)(void *context, const struct fault *),
                 void *context);

#endif
