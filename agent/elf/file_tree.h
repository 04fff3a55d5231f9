/* SPDX-License-Identifier: Apache-2.0 */
/* The regular files under a path. */
#ifndef ELF_FILE_TREE_H
#define ELF_FILE_TREE_H

#include <stdbool.h>

enum { FILE_TREE_DEPTH_MAX = 100 };

/* Calls ON_PATH for each regular file under PATH, or for PATH itself, in the order of names.
   Links are not followed, but for PATH itself; other file systems are.  ON_TROUBLE hears of what
   cannot be entered.  Returns 0, -errno when PATH is not there, or what ON_PATH returned but 0. */
int file_tree_walk(const char *path, int (*on_path)(void *context, const char *path, bool is_given),
                   void (*on_trouble)(void *context, const char *path, const char *why),
                   void *context);

#endif
