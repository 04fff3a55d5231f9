/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as text, and creation of their directories. */
#ifndef COMMON_PATH_H
#define COMMON_PATH_H

#include <sys/types.h>

/* The last component of PATH; all of it if it ends in a slash. Points into PATH.  Any thread. */
const char *path_name(const char *path);

/* Creates the directory PATH with MODE, and missing parents with 0755; an existing one is
   unchanged. Returns 0 or -errno.  Any thread. */
int path_make_dirs(const char *path, mode_t mode);

#endif
