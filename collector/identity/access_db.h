/* SPDX-License-Identifier: Apache-2.0 */
/* What access.h's functions share: the database behind them, and how it is asked.  Callers hold
   `lock` from the first question of a decision to the last. */
#ifndef IDENTITY_ACCESS_DB_H
#define IDENTITY_ACCESS_DB_H

#include "access.h"
#include "access_marks.h"
#include "known_tokens.h"

#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>

struct access {
  sqlite3 *database;
  pthread_mutex_t lock;
  struct rationed_log *denials, *renewals;
  struct known_tokens known;
  char audit_path[PATH_MAX];
  struct access_marks marks;
};

/* Opens DIR's database into ACCESS, making it when absent.  Returns 0 or -errno. */
int access_db_open(struct access *access, const char *dir);

/* Why that FAILURE. */
const char *access_db_why(const struct access *access, int failure);

/* The wall clock, as the rows have it. */
int64_t access_now_s(void);
int64_t access_now_ms(void);

/* Prepares SQL and binds text ("s"), int64 ("i") or a token hash ("h") in turn.  Texts and hashes
   stay the caller's until the statement is finalized, so binding needs no memory and cannot fail:
   an unbound name would find no row.  Returns NULL when SQL cannot be prepared. */
sqlite3_stmt *access_db_prepare(struct access *access, const char *sql, const char *kinds, ...);

/* Runs STATEMENT, which gives no rows, and frees it. */
int access_db_finish(struct access *access, sqlite3_stmt *statement);

/* Runs STATEMENT, which gives one row of one number or none, and frees it. */
int access_db_number(struct access *access, sqlite3_stmt *statement, int64_t *ret);

/* Whether a writer waits for another process that writes, for some seconds; at first it does. */
void access_db_set_patience(struct access *access, bool is_patient);

int access_db_run(struct access *access, const char *sql);

/* Ends the transaction: keeps it when RESULT is 0, otherwise undoes it and passes RESULT on. */
int access_db_end(struct access *access, int result);

#endif
