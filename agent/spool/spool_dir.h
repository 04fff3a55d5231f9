/* SPDX-License-Identifier: Apache-2.0 */
/* The spool's folder: segment files named by number, what was set aside, the quarantine.  Files
   with other names are never touched. */
#ifndef SPOOL_SPOOL_DIR_H
#define SPOOL_SPOOL_DIR_H

#include "common/span.h"

#include <stdint.h>

enum {
  SPOOL_CORRUPT_FILES = 4,       /* set-aside segments kept as evidence */
  SPOOL_CORRUPT_BYTES = 8 << 20, /* all together, whatever their number */
  SPOOL_QUARANTINE_FILES = 16,
  SPOOL_QUARANTINE_BYTES = 4 << 20,
};

/* Opens PATH, made when absent (0700, parents are the caller's), and locks it; the lock ends with
   the process.  Returns 0, -EBUSY when another process has it, -errno. */
int spool_dir_open(const char *path, int *ret_dir);

/* Lists the segments of DIR, oldest first, into an array that the caller frees (NULL when empty).
   RET_NEXT is a number that no file there has or had.  Returns 0 or -errno. */
int spool_dir_list(int dir, uint64_t **ret_ids, size_t *ret_count, uint64_t *ret_next);

/* Opens segment ID, or makes it.  Returns 0 or -errno (-EINVAL when it is no regular file). */
int spool_dir_open_segment(int dir, uint64_t id, int flags, int *ret_fd);
void spool_dir_remove(int dir, uint64_t id);

/* Renames segment ID to *.corrupt; the oldest of those beyond SPOOL_CORRUPT_FILES or
   SPOOL_CORRUPT_BYTES go. */
void spool_dir_set_aside(int dir, uint64_t id);

/* Keeps PAYLOAD behind a first line that says REASON; the oldest ones make room.  Returns 0 or
   -errno. */
int spool_dir_quarantine(int dir, const char *reason, struct span payload);

#endif
