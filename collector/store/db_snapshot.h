/* SPDX-License-Identifier: Apache-2.0 */
/* A database as it was at one moment, read beside the collector that goes on writing it.  Nothing
   is taken away from beside the file, whatever others do with it meanwhile. */
#ifndef STORE_DB_SNAPSHOT_H
#define STORE_DB_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

struct db_snapshot;

/* Opens the database PATH and holds still what is in it.  Returns 0; 1 when it is empty (being made
   right now); -ENOENT; -EUCLEAN when it is damaged; -EBUSY; or -errno.  One thread at a time. */
int db_snapshot_open(const char *path, struct db_snapshot **ret);
void db_snapshot_close(struct db_snapshot *snapshot);

/* Opens the database PATH and keeps everybody from committing to it until it is closed, so that
   snapshots of several files can be taken at one moment.  Waits for writers, a minute at most.
   Returns as db_snapshot_open does. */
int db_snapshot_hold(const char *path, struct db_snapshot **ret);

/* Sets RET to what SQL, which asks for one number, finds.  Returns 0 or -errno. */
int db_snapshot_number(const struct db_snapshot *snapshot, const char *sql, uint64_t *ret);

/* Writes the snapshot to the file PATH, made anew (0600), not flushed.  Calls ON_STEP now and then
   and fails with what it returns when that is not 0.  Returns 0, -EUCLEAN or -errno. */
int db_snapshot_copy(struct db_snapshot *snapshot, const char *path, int (*on_step)(void *context),
                     void *context);

/* Reads the whole snapshot through.  Returns 0; -EUCLEAN with the first fault in WHY; or -errno. */
int db_snapshot_check(struct db_snapshot *snapshot, char *why, size_t why_len);

#endif
