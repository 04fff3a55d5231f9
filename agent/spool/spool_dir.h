/* SPDX-License-Identifier: Apache-2.0 */
/* The spool's folder: numbered segment files, set-aside segments, the quarantine.  Other files are
   never touched. */
#ifndef SPOOL_SPOOL_DIR_H
#define SPOOL_SPOOL_DIR_H

#include "common/span.h"

#include <stdint.h>

enum {
  SPOOL_CORRUPT_FILES = 4,       /* set-aside segments kept for diagnosis */
  SPOOL_CORRUPT_BYTES = 8 << 20, /* all together, whatever their number */
  SPOOL_QUARANTINE_FILES = 16,
  SPOOL_QUARANTINE_BYTES = 4 << 20,
};

/* Opens PATH, which is created if missing (0700; its parent must exist), and locks it; the lock
   ends with the process.  Returns 0, -EBUSY if another process has it, or -errno. */
int spool_dir_open(const char *path, int *ret_dir);

/* Lists the segments of DIR, oldest first, in an array that the caller frees (NULL if empty).
   RET_NEXT is a number that no file there has had.  Returns 0 or -errno. */
int spool_dir_list(int dir, uint64_t **ret_ids, size_t *ret_count, uint64_t *ret_next);

/* Opens segment ID, or creates it.  Returns 0 or -errno (-EINVAL if it is not a regular file). */
int spool_dir_open_segment(int dir, uint64_t id, int flags, int *ret_fd);
void spool_dir_remove(int dir, uint64_t id);

/* Renames segment ID to *.corrupt; the oldest beyond SPOOL_CORRUPT_FILES or SPOOL_CORRUPT_BYTES are
   deleted. */
void spool_dir_set_aside(int dir, uint64_t id);

/* Stores PAYLOAD after a first line with REASON; the oldest are deleted to make room.  Returns 0 or
   -errno. */
int spool_dir_quarantine(int dir, const char *reason, struct span payload);

#endif
