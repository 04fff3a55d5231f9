/* SPDX-License-Identifier: Apache-2.0 */
/* Marks: a table of names and numbers in each database of a collector's folder, by which the
   databases check each other. docs/guarantees.md lists the names and the consequences.

     access.db           store, generation: of its own rights
     landing.db          store; access.db: its newest generation; each file of a day: its newest
     minutes-, hours-    store, generation

   A file is committed before its mark in another file, so a file behind its mark is an older
   copy. */
#ifndef SQLITE_MARKS_H
#define SQLITE_MARKS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MARKS_STORE "store" /* the same 64 random bits in all files of a folder */
#define MARKS_GENERATION "generation"
#define MARKS_ACCESS "access.db"

enum { MARKS_NAME_BYTES = 64, MARKS_PATH_BYTES = 4096 };

/* Creates the table if it is missing. */
#define MARKS_SCHEMA                                                                        \
  "CREATE TABLE IF NOT EXISTS mark(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT " \
  "ROWID;"

/* Sets RET to the mark NAME. Returns 1; 0, with 0 in RET, if the mark or the table is missing; or
   -errno. */
int marks_read(sqlite3 *db, const char *name, uint64_t *ret);

/* Set the mark NAME to VALUE; the same unless it is higher already; delete it. Return 0 or
   -errno. */
int marks_write(sqlite3 *db, const char *name, uint64_t value);
int marks_raise(sqlite3 *db, const char *name, uint64_t value);
int marks_forget(sqlite3 *db, const char *name);

/* Calls ON_MARK for each mark in the order of names until it returns other than 0. ON_MARK must not
   change marks. Returns its value, 0 or -errno. */
int marks_each(sqlite3 *db, int (*on_mark)(void *context, const char *name, uint64_t value),
               void *context);

/* Opens the database NAME of DIR, which another process may have open. Returns 0, -ENOENT or
   -errno. The caller closes RET. */
int marks_open(const char *dir, const char *name, sqlite3 **ret);

/* The same as marks_read for the database DATABASE of DIR; -ENOENT if it is missing. */
int marks_peek(const char *dir, const char *database, const char *name, uint64_t *ret);

/* The same as marks_raise for the database DATABASE of DIR, durable when it returns 0; -ENOENT if
   the database or its table is missing. */
int marks_note(const char *dir, const char *database, const char *name, uint64_t value);

/* SQLite truncates a longer WAL to this size, and never further. */
enum { MARKS_WAL_BYTES_KEPT = 16 << 20 };

/* The identity of a file at its opening and of its WAL since, and the least sizes of both. */
struct marks_file {
  dev_t device;
  ino_t inode, wal_inode; /* 0: no WAL so far */
  off_t bytes, wal_bytes;
};

/* Sets RET to the identity of PATH. Returns 0 or -errno. */
int marks_file_take(const char *path, struct marks_file *ret);

/* Returns whether PATH and its WAL are still FILE, and not shorter than seen before. Data written
   to an unlinked or truncated file is lost. A WAL may be shorter if DB, a connection to PATH of the
   calling thread or NULL, finds no committed frame beyond its end: a checkpoint by an operator. */
bool marks_file_holds(const char *path, struct marks_file *file, sqlite3 *db);

#endif
