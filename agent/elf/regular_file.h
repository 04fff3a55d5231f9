/* SPDX-License-Identifier: Apache-2.0 */
/* Files whose names a stranger chose. */
#ifndef ELF_REGULAR_FILE_H
#define ELF_REGULAR_FILE_H

#include <sys/stat.h>

/* Opens PATH for reading if it is a regular file, and nothing else: a device or fifo is not even
   touched.  Returns the descriptor, RET filled, or -errno: -EINVAL when it is something else. */
int regular_file_open(const char *path, struct stat *ret);

#endif
