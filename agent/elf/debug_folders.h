/* SPDX-License-Identifier: Apache-2.0 */
/* Folders that the user gives for debug files: build results (a -dbg tree of Yocto or Buildroot),
   anywhere below them. */
#ifndef ELF_DEBUG_FOLDERS_H
#define ELF_DEBUG_FOLDERS_H

#include "debug_find.h"

enum {
  DEBUG_FOLDERS_MAX = 32,
  DEBUG_FOLDERS_FILES_MAX = 1000000, /* limit of the search, for all folders together */
};

struct debug_folders;

/* Takes the COUNT folders PATHS, which are borrowed. Returns 0; -ENOTDIR, -ENOENT or another -errno
   for the first invalid folder, to which RET_BAD then points; or -ENOMEM. */
int debug_folders_open(const char *const *paths, unsigned count, struct debug_folders **ret,
                       const char **ret_bad);
void debug_folders_close(struct debug_folders *folders);

/* Finds and opens the file with the build-id ID that has functions or, better, debug information.
   The first ID that is not in a tree by build-ids causes a scan of all files. Returns 0 with FD and
   SIZE_BYTES in RET, or -ENOENT. */
int debug_folders_find(struct debug_folders *folders, struct span id, struct debug_found *ret);

/* True if there were too many files to scan. */
bool debug_folders_is_cut(const struct debug_folders *folders);

#endif
