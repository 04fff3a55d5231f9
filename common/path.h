/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as text, and folders made on the way to one. */
#ifndef COMMON_PATH_H
#define COMMON_PATH_H

#include <sys/types.h>

/* The last component of PATH; all of it where it ends in a slash.  Points into PATH.  Any thread.
 */
const char *path_name(const char *path);

/* Makes the directory PATH with MODE, and those above it that are missing with 0755; one that is
   there stays as it is.  Returns 0 or -errno.  Any thread. */
int path_make_dirs(const char *path, mode_t mode);

#endif
