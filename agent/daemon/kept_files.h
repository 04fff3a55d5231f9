/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of recorders and histograms that survive a crash of the machine:
   STATE/kept/BOOT-RUN.ID.rec or .hist.  There is one per target, from its registration until its
   data is shipped. */
#ifndef DAEMON_KEPT_FILES_H
#define DAEMON_KEPT_FILES_H

#include "keeper/hold.h"

enum {
  KEPT_FILES_MAX = 64,             /* beyond this a ring is in memory */
  KEPT_FILES_BYTES_MAX = 64 << 20, /* in total */
  KEPT_NAME_BYTES = 96,
};

struct kept_file {
  char name[KEPT_NAME_BYTES];
  uint64_t run;
  uint32_t id;
  uint32_t collect; /* RING_RECORDER or RING_HISTOGRAM */
  bool is_this_boot;
  int64_t modified_ns;
};

/* Creates the file of TARGET of RUN: mode 0600, all blocks allocated, with an initialized ring.
   Returns the descriptor or -errno.  -EDQUOT: the folder's limits are reached.  -EOPNOTSUPP: the
   file system cannot guarantee a block for a store into a mapping.  -EPERM: the program belongs to
   another user, which could truncate the file under the daemon. */
int kept_files_make(const char *state_dir, uint64_t run, const struct hold_target *target);

/* Renames FILE to that of TARGET of RUN.  Returns 0 or -errno. */
int kept_files_rename(const char *state_dir, const struct kept_file *file, uint64_t run,
                      const struct hold_target *target);

void kept_files_remove(const char *state_dir, uint64_t run, const struct hold_target *target);

/* Explains why there is no file, for ERROR of kept_files_make. */
const char *kept_files_explain(int error);

/* Lists at most KEPT_FILES_MAX files, the oldest first.  Returns their number, or -errno. */
int kept_files_list(const char *state_dir, struct kept_file ret[KEPT_FILES_MAX]);
int kept_files_open(const char *state_dir, const struct kept_file *file);
/* Returns 1 if no process has FILE open or mapped for writing, 0 if a process has, or -errno if
   unknown. */
int kept_files_is_free(const char *state_dir, const struct kept_file *file);
void kept_files_unlink(const char *state_dir, const struct kept_file *file);

#endif
