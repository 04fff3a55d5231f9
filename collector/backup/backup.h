/* SPDX-License-Identifier: Apache-2.0 */
/* A collector's folder in one file, and a folder from such a file. */
#ifndef BACKUP_BACKUP_H
#define BACKUP_BACKUP_H

#include <stddef.h>
#include <stdint.h>

enum { BACKUP_VERSION = 1 }; /* of the archive's make-up */

struct backup_wish {
  const char *dir, *file;
  /* Told now and then: DONE of about TOTAL bytes.  Returns 0, or what to fail with. */
  int (*on_progress)(void *context, uint64_t done, uint64_t total);
  /* Told of each file that is damaged or none of ours and therefore not in. */
  void (*on_left_out)(void *context, const char *name, const char *why);
  void *context;
};

struct backup_report {
  uint64_t files, bytes, left_out;
  uint64_t moment_ms, held_us; /* whose data it is; how long nobody could append */
};

/* Writes what DIR holds, as it is at one moment, to FILE; a collector may run on DIR.  FILE is
   complete or it is as it was before.  Returns 0 or -errno, with one line in ERROR. */
int backup_make(const struct backup_wish *wish, struct backup_report *ret, char *error,
                size_t error_len);

/* Makes the folder DIR, which must be empty or absent, from FILE, and checks that it is what was
   put in.  When that fails DIR is as it was.  Returns 0 or -errno, with one line in ERROR. */
int backup_restore(const struct backup_wish *wish, struct backup_report *ret, char *error,
                   size_t error_len);

/* Whether a restore into DIR has not ended: its data are not whole.  Returns 0, or -EBUSY with one
   line in ERROR. */
int backup_look(const char *dir, char *error, size_t error_len);

#endif
