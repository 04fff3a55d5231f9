/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots of all databases of a folder, taken at one moment. */
#ifndef BACKUP_MOMENT_H
#define BACKUP_MOMENT_H

#include <stddef.h>
#include <stdint.h>

struct db_snapshot;

enum { MOMENT_DATABASES_MAX = 1 << 14 }; /* ten years of days with three files each */

struct moment_database {
  char *name; /* relative to the folder */
  struct db_snapshot *snapshot;
};

struct moment {
  uint64_t at_ms, held_us; /* its time, and how long appends were blocked */
  struct moment_database *rows;
  size_t count;
};

/* Takes the moment of the databases in DIR: landing.db first, the others by name, descending. Calls
   ON_DAMAGED for each damaged database and leaves it out; a damaged landing.db is an error. Returns
   0, or -errno with one line in ERROR. */
int moment_take(const char *dir, struct moment *ret,
                void (*on_damaged)(void *context, const char *name), void *context, char *error,
                size_t error_len);

/* Release row I, or all rows: SQLite may then overwrite their pages. */
void moment_release(struct moment *moment, size_t i);
void moment_fini(struct moment *moment);

#endif
