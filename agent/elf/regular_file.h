/* SPDX-License-Identifier: Apache-2.0 */
/* Opens files by untrusted names. */
#ifndef ELF_REGULAR_FILE_H
#define ELF_REGULAR_FILE_H

#include <sys/stat.h>

/* Opens PATH for reading if it is a regular file; a device or fifo is not even touched. Returns the
   descriptor, with RET filled in, or -errno: -EINVAL for anything else. */
int regular_file_open(const char *path, struct stat *ret);

#endif
