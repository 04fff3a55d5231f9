/* SPDX-License-Identifier: Apache-2.0 */
/* Checks by landing.db whether access.db is the newest copy, and handles a missing, older or
   foreign one. Callers hold access's lock. */
#ifndef IDENTITY_ACCESS_MARKS_H
#define IDENTITY_ACCESS_MARKS_H

#include "sqlite/marks.h"

#include <limits.h>
#include <stdatomic.h>

struct access;

struct access_marks {
  char dir[PATH_MAX], path[PATH_MAX];
  bool accepts_loss;           /* accept any state as the newest */
  bool has_run;                /* a collector has run in this folder */
  uint64_t store, noted;       /* as in landing.db; 0: missing */
  uint64_t newest;             /* generation seen by this process */
  struct marks_file file;      /* the open file */
  _Atomic(const char *) fault; /* why all access is denied, or NULL: relaxed */
};

/* Increments the generation at each change of rights. */
#define ACCESS_MARKS_SCHEMA                                                         \
  MARKS_SCHEMA                                                                      \
  "INSERT OR IGNORE INTO mark VALUES('generation', 1);"                             \
  "CREATE TRIGGER IF NOT EXISTS tokens_made AFTER INSERT ON tokens BEGIN"           \
  " UPDATE mark SET value=value+1 WHERE name='generation'; END;"                    \
  "CREATE TRIGGER IF NOT EXISTS tokens_gone AFTER DELETE ON tokens BEGIN"           \
  " UPDATE mark SET value=value+1 WHERE name='generation'; END;"                    \
  "CREATE TRIGGER IF NOT EXISTS tokens_used AFTER UPDATE OF used_s ON tokens"       \
  " WHEN new.role='enroll' BEGIN"                                                   \
  " UPDATE mark SET value=value+1 WHERE name='generation'; END;"                    \
  "CREATE TRIGGER IF NOT EXISTS boards_revoked AFTER UPDATE OF revoked_s ON boards" \
  " WHEN old.revoked_s IS NOT new.revoked_s BEGIN"                                  \
  " UPDATE mark SET value=value+1 WHERE name='generation'; END;"                    \
  "CREATE TRIGGER IF NOT EXISTS boards_made_revoked AFTER INSERT ON boards"         \
  " WHEN new.revoked_s IS NOT NULL BEGIN"                                           \
  " UPDATE mark SET value=value+1 WHERE name='generation'; END;"                    \
  "CREATE TRIGGER IF NOT EXISTS boards_gone AFTER DELETE ON boards"                 \
  " WHEN old.revoked_s IS NOT NULL BEGIN"                                           \
  " UPDATE mark SET value=value+1 WHERE name='generation'; END;"

/* Reads the marks in other files of DIR, before access.db is opened. Returns 0, or -ENODATA if
   access.db should exist but does not. */
int access_marks_expect(struct access *access, const char *dir);

/* Check the open database and store its generation in landing.db. Its tables exist unless it is
   new. Return 0; -ENODATA if it is empty and should not be; -ESTALE if it is an older copy; -EXDEV
   if it is another collector's; or -errno. */
int access_marks_check_tables(struct access *access);
int access_marks_check(struct access *access);

/* Call after each commit: stores a new generation in landing.db. The next call makes up for a
   failure. */
void access_marks_note(struct access *access);

/* Call before each decision: checks that the open file is still that of the folder, and not older.
   Returns 0, or -ESTALE: then all access is denied, with the reason in fault. */
int access_marks_look(struct access *access);

#endif
