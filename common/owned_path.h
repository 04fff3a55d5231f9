/* SPDX-License-Identifier: Apache-2.0 */
/* Files opened for writing by a name that other users may have a hand in, as in /tmp. */
#ifndef COMMON_OWNED_PATH_H
#define COMMON_OWNED_PATH_H

#include <limits.h>
#include <sys/types.h>

/* Opens PATH as open(2) does, but follows no link of another user: links of ours, of root and of
   /proc alone.  Returns the descriptor (close-on-exec), -ELOOP where such a link (or too many)
   stands in the way, -EXDEV where PATH lies in a directory in which everybody may make files
   (sticky, as /tmp) and is a file or FIFO of another user, which is left as it is, or -errno.  Any
   thread. */
int owned_path_open(const char *path, int flags, mode_t mode);

/* Opens the directory that PATH lies in, by the same rule, and writes the rest of PATH, a name in
   it, into NAME.  Returns the descriptor (O_PATH), -EISDIR where PATH names a directory, or as
   above.  Any thread. */
int owned_path_folder(const char *path, char name[NAME_MAX + 1]);

/* Returns what ERROR, of one of the above, means, for people. */
const char *owned_path_why(int error);

#endif
