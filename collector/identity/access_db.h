/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by access.h's functions: the database and its queries. Callers hold `lock` from the first
   query of a decision to the last. */
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

/* Opens DIR's database into ACCESS, and creates it if absent. Returns 0 or -errno. */
int access_db_open(struct access *access, const char *dir);

/* Returns the reason of FAILURE. */
const char *access_db_why(const struct access *access, int failure);

/* The wall clock in the units of the rows. */
int64_t access_now_s(void);
int64_t access_now_ms(void);

/* Prepares SQL and binds text ("s"), int64 ("i") or a token hash ("h") in turn. Texts and hashes
   must stay valid until the statement is finalized. So binding needs no memory and cannot fail; an
   unbound name would match no row. Returns NULL if SQL cannot be prepared. */
sqlite3_stmt *access_db_prepare(struct access *access, const char *sql, const char *kinds, ...);

/* Runs STATEMENT, which returns no rows, and frees it. */
int access_db_finish(struct access *access, sqlite3_stmt *statement);

/* Runs STATEMENT, which returns at most one row of one number, and frees it. */
int access_db_number(struct access *access, sqlite3_stmt *statement, int64_t *ret);

/* Sets whether a write waits some seconds for another process's write; initially it does. */
void access_db_set_patience(struct access *access, bool is_patient);

int access_db_run(struct access *access, const char *sql);

/* Ends the transaction: commits it if RESULT is 0, otherwise rolls it back and returns RESULT. */
int access_db_end(struct access *access, int result);

#endif
