/* SPDX-License-Identifier: Apache-2.0 */
/* Whether access.db is the newest that there was: what landing.db knows of it, and what follows
   when it is gone, older, or of another collector.  Callers hold access's lock. */
#ifndef IDENTITY_ACCESS_MARKS_H
#define IDENTITY_ACCESS_MARKS_H

#include "sqlite/marks.h"

#include <limits.h>
#include <stdatomic.h>

struct access;

struct access_marks {
  char dir[PATH_MAX], path[PATH_MAX];
  bool accepts_loss;           /* whatever there is is taken as the newest */
  bool has_run;                /* a collector has, in this folder */
  uint64_t store, noted;       /* as landing.db has them; 0: not there */
  uint64_t newest;             /* generation that this process has seen */
  struct marks_file file;      /* that is open */
  _Atomic(const char *) fault; /* why nobody may be let in, or NULL: relaxed */
};

/* A generation more for each change of what anybody may do. */
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

/* Reads what the other files of DIR know, before access.db is opened.  Returns 0, or -ENODATA when
   it should be there and is not. */
int access_marks_expect(struct access *access, const char *dir);

/* Whether the open database, which has its tables unless it is new, may be gone on with, and notes
   at landing.db how new it is.  Returns 0; -ENODATA when it is empty and should not be; -ESTALE
   when it is an older copy; -EXDEV when it is another collector's; or -errno. */
int access_marks_check_tables(struct access *access);
int access_marks_check(struct access *access);

/* After each commit: notes the generation at landing.db, if there is a new one.  What fails is made
   good by the next. */
void access_marks_note(struct access *access);

/* Before each decision: whether the file that is open is still that of the folder, and as new as it
   was.  Returns 0, or -ESTALE: then nobody may be let in (fault says why). */
int access_marks_look(struct access *access);

#endif
