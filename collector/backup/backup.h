/* SPDX-License-Identifier: Apache-2.0 */
/* Makes one file from a collector's folder, and a folder from such a file. */
#ifndef BACKUP_BACKUP_H
#define BACKUP_BACKUP_H

#include <stddef.h>
#include <stdint.h>

enum { BACKUP_VERSION = 1 }; /* of the archive's format */

struct backup_wish {
  const char *dir, *file;
  /* Called periodically: DONE of about TOTAL bytes. Returns 0, or an error that ends the
     operation. */
  int (*on_progress)(void *context, uint64_t done, uint64_t total);
  /* Called for each file that is left out because it is damaged or not a regular file. */
  void (*on_left_out)(void *context, const char *name, const char *why);
  void *context;
};

struct backup_report {
  uint64_t files, bytes, left_out;
  uint64_t moment_ms, held_us; /* time of the data; how long appends were blocked */
};

/* Writes the contents of DIR at one moment to FILE; a collector may run on DIR. FILE is either
   complete or unchanged. Returns 0 or -errno, with one line in ERROR. */
int backup_make(const struct backup_wish *wish, struct backup_report *ret, char *error,
                size_t error_len);

/* Makes the folder DIR, which must be empty or absent, from FILE, and verifies the contents. On
   failure DIR is as it was. Returns 0 or -errno, with one line in ERROR. */
int backup_restore(const struct backup_wish *wish, struct backup_report *ret, char *error,
                   size_t error_len);

/* Whether a restore into DIR is incomplete. Returns 0, or -EBUSY with one line in ERROR. */
int backup_look(const char *dir, char *error, size_t error_len);

#endif
