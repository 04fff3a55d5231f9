/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of recorders that outlive the machine: STATE/recorders/BOOT-RUN.ID.rec, one a target,
   there from its registration until what it kept was shipped. */
#ifndef DAEMON_RECORDER_FILES_H
#define DAEMON_RECORDER_FILES_H

#include "keeper/hold.h"

enum {
  RECORDER_FILES_MAX = 64,             /* beyond it a recorder gets memory instead */
  RECORDER_FILES_BYTES_MAX = 64 << 20, /* of all of them */
  RECORDER_NAME_BYTES = 96,
};

/* Makes the file of TARGET of RUN: 0600, all of its blocks allocated, a fresh ring in it.  Returns
   the descriptor, -EDQUOT when the folder is at its limits, -EOPNOTSUPP where the file system
   cannot promise that a store into a mapping finds its block, or -errno. */
int recorder_files_make(const char *state_dir, uint64_t run, const struct hold_target *target);

void recorder_files_remove(const char *state_dir, uint64_t run, uint32_t id);

struct recorder_file {
  char name[RECORDER_NAME_BYTES];
  uint64_t run;
  uint32_t id;
  bool is_this_boot;
  int64_t modified_ns;
};

/* Lists at most RECORDER_FILES_MAX files, the oldest first.  Returns how many, or -errno. */
int recorder_files_list(const char *state_dir, struct recorder_file ret[RECORDER_FILES_MAX]);
int recorder_files_open(const char *state_dir, const struct recorder_file *file);
void recorder_files_unlink(const char *state_dir, const struct recorder_file *file);

#endif
