/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots of all databases of a folder, taken at one moment. */
#ifndef BACKUP_MOMENT_H
#define BACKUP_MOMENT_H

#include <stddef.h>
#include <stdint.h>

struct db_snapshot;

enum { MOMENT_DATABASES_MAX = 1 << 14 }; /* ten years of days, of each three files */

struct moment_database {
  char *name; /* relative to the folder */
  struct db_snapshot *snapshot;
};

struct moment {
  uint64_t at_ms, held_us; /* when, and how long nobody could append meanwhile */
  struct moment_database *rows;
  size_t count;
};

/* Takes the moment of the databases in DIR: landing.db first, the others by name, the last first.
   Calls ON_DAMAGED for each that cannot be opened for being damaged and leaves it out; landing.db
   may not be.  Returns 0, or -errno with one line in ERROR. */
int moment_take(const char *dir, struct moment *ret,
                void (*on_damaged)(void *context, const char *name), void *context, char *error,
                size_t error_len);

/* Lets go of row I, or of all: what they held may then be overwritten. */
void moment_release(struct moment *moment, size_t i);
void moment_fini(struct moment *moment);

#endif
