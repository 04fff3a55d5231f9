/* SPDX-License-Identifier: Apache-2.0 */
/* Opens files for writing by names that other users may influence, as in /tmp. */
#ifndef COMMON_OWNED_PATH_H
#define COMMON_OWNED_PATH_H

#include <limits.h>
#include <sys/types.h>

/* Opens PATH as open(2) does, but follows only links of this user, of root and of /proc. Returns
   the descriptor (close-on-exec) or -errno. -ELOOP if another user's link (or too many links) is in
   the way. -EXDEV if PATH is a file or FIFO of another user in a directory where all users may
   create files (sticky, as /tmp); it is left unchanged.  Any thread. */
int owned_path_open(const char *path, int flags, mode_t mode);

/* Opens the directory that contains PATH, by the same rule, and writes the rest of PATH, a name in
   it, into NAME. Returns the descriptor (O_PATH), -EISDIR if PATH names a directory, or as above.
   Any thread. */
int owned_path_folder(const char *path, char name[NAME_MAX + 1]);

/* Returns a description of ERROR, from one of the above, for users. */
const char *owned_path_why(int error);

#endif
