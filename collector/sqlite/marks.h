/* SPDX-License-Identifier: Apache-2.0 */
/* What the databases of a collector's folder know of each other: a table of names and numbers in
   each.  Which names there are, and what follows from them, is in docs/guarantees.md.

     access.db           store, generation: of its own rights
     landing.db          store; access.db: its newest generation; each file of a day: its newest
     minutes-, hours-    store, generation

   A file is committed before its mark elsewhere: whoever is behind its mark is an older copy. */
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

/* Makes the table when it is missing. */
#define MARKS_SCHEMA                                                                        \
  "CREATE TABLE IF NOT EXISTS mark(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT " \
  "ROWID;"

/* Sets RET to the mark NAME.  Returns 1; 0 with 0 in RET when there is none, or no table; or
   -errno. */
int marks_read(sqlite3 *db, const char *name, uint64_t *ret);

/* Set the mark NAME to VALUE, the second unless it is higher already; take it away.  Return 0 or
   -errno. */
int marks_write(sqlite3 *db, const char *name, uint64_t value);
int marks_raise(sqlite3 *db, const char *name, uint64_t value);
int marks_forget(sqlite3 *db, const char *name);

/* Calls ON_MARK for each mark in the order of names until it returns other than 0; it may not
   change marks.  Returns that, 0 or -errno. */
int marks_each(sqlite3 *db, int (*on_mark)(void *context, const char *name, uint64_t value),
               void *context);

/* Opens the database NAME of DIR beside whoever has it.  Returns 0, -ENOENT or -errno; RET is the
   caller's to close. */
int marks_open(const char *dir, const char *name, sqlite3 **ret);

/* The same as marks_read of the database DATABASE of DIR; -ENOENT when it is not there. */
int marks_peek(const char *dir, const char *database, const char *name, uint64_t *ret);

/* The same as marks_raise in the database DATABASE of DIR, durable when it returns 0; -ENOENT when
   there is none, or no table in it. */
int marks_note(const char *dir, const char *database, const char *name, uint64_t value);

/* A WAL that grew past this in a burst is cut to it again, and never shorter. */
enum { MARKS_WAL_BYTES_KEPT = 16 << 20 };

/* Which file a path meant when it was opened, which WAL it has had since, and how long these were
   at least. */
struct marks_file {
  dev_t device;
  ino_t inode, wal_inode; /* 0: no WAL so far */
  off_t bytes, wal_bytes;
};

/* Notes which file PATH is.  Returns 0 or -errno. */
int marks_file_take(const char *path, struct marks_file *ret);

/* Whether PATH and its WAL are still FILE and not shorter than they ever were seen: what goes on in
   a file without a name, or in half a file, is lost. */
bool marks_file_holds(const char *path, struct marks_file *file);

#endif
