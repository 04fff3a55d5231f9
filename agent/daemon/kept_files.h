/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of recorders and histograms that outlive the machine: STATE/kept/BOOT-RUN.ID.rec or
   .hist, one a target, there from its registration until what it kept was shipped. */
#ifndef DAEMON_KEPT_FILES_H
#define DAEMON_KEPT_FILES_H

#include "keeper/hold.h"

enum {
  KEPT_FILES_MAX = 64,             /* beyond it a ring gets memory instead */
  KEPT_FILES_BYTES_MAX = 64 << 20, /* of all of them */
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

/* Makes the file of TARGET of RUN: 0600, all of its blocks allocated, a fresh ring in it.  Returns
   the descriptor, -EDQUOT when the folder is at its limits, -EOPNOTSUPP where the file system
   cannot promise that a store into a mapping finds its block, -EPERM for a program of another user
   (who could cut the file short under the daemon), or -errno. */
int kept_files_make(const char *state_dir, uint64_t run, const struct hold_target *target);

/* FILE becomes that of TARGET of RUN.  Returns 0 or -errno. */
int kept_files_rename(const char *state_dir, const struct kept_file *file, uint64_t run,
                      const struct hold_target *target);

void kept_files_remove(const char *state_dir, uint64_t run, const struct hold_target *target);

/* Why there is no file, where kept_files_make said ERROR. */
const char *kept_files_explain(int error);

/* Lists at most KEPT_FILES_MAX files, the oldest first.  Returns how many, or -errno. */
int kept_files_list(const char *state_dir, struct kept_file ret[KEPT_FILES_MAX]);
int kept_files_open(const char *state_dir, const struct kept_file *file);
/* 1: nobody has FILE open for writing, or mapped so; 0: somebody has; or -errno: not known. */
int kept_files_is_free(const char *state_dir, const struct kept_file *file);
void kept_files_unlink(const char *state_dir, const struct kept_file *file);

#endif
