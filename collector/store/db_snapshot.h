/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a database in its state at one moment, beside a collector that continues to write it. Never
   removes files beside the database, whatever other processes do to it meanwhile. */
#ifndef STORE_DB_SNAPSHOT_H
#define STORE_DB_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

struct db_snapshot;

/* Opens a snapshot of the database PATH. Returns 0; 1 if it is empty (being created); -ENOENT;
   -EUCLEAN if it is damaged; -EBUSY; or -errno. One thread at a time. */
int db_snapshot_open(const char *path, struct db_snapshot **ret);
void db_snapshot_close(struct db_snapshot *snapshot);

/* Opens the database PATH and blocks all commits to it until it is closed, so that snapshots of
   several files show the same moment. Waits for writers, at most a minute. Returns as
   db_snapshot_open. */
int db_snapshot_hold(const char *path, struct db_snapshot **ret);

/* Sets RET to the one number that SQL yields. Returns 0 or -errno. */
int db_snapshot_number(const struct db_snapshot *snapshot, const char *sql, uint64_t *ret);

/* Writes the snapshot to a new file PATH with mode 0600, not flushed. Calls ON_STEP every few pages
   and fails with its result if that is not 0. Returns 0, -EUCLEAN or -errno. */
int db_snapshot_copy(struct db_snapshot *snapshot, const char *path, int (*on_step)(void *context),
                     void *context);

/* Checks the whole snapshot. Returns 0; -EUCLEAN with the first fault in WHY; or -errno. */
int db_snapshot_check(struct db_snapshot *snapshot, char *why, size_t why_len);

#endif
