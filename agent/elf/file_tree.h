/* SPDX-License-Identifier: Apache-2.0 */
/* The regular files under a path. */
#ifndef ELF_FILE_TREE_H
#define ELF_FILE_TREE_H

#include <stdbool.h>

enum { FILE_TREE_DEPTH_MAX = 100 };

/* Calls ON_PATH for each regular file under PATH, or for PATH itself, sorted by name. Links are not
   followed, except PATH itself; mount points are crossed. Calls ON_TROUBLE for unreadable folders.
   Returns 0, -errno if PATH does not exist, or the first nonzero result of ON_PATH. */
int file_tree_walk(const char *path, int (*on_path)(void *context, const char *path, bool is_given),
                   void (*on_trouble)(void *context, const char *path, const char *why),
                   void *context);

#endif
