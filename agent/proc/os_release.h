/* SPDX-License-Identifier: Apache-2.0 */
/* The board's image version from /etc/os-release (os-release(5)). */
#ifndef PROC_OS_RELEASE_H
#define PROC_OS_RELEASE_H

#include "common/span.h"

enum { OS_RELEASE_VALUE_BYTES = 64, OS_RELEASE_FILE_BYTES_MAX = 8192 };

/* Writes the last value of NAME in TEXT to RET.  Returns false, with RET unchanged, if there is
   none, if it is not a plain word (letters, digits and . _ + ~ : -), or if it does not fit.
   Pure. */
bool os_release_find(struct span text, const char *name, char ret[OS_RELEASE_VALUE_BYTES]);

/* Writes IMAGE_VERSION, else VERSION_ID, of the file PATH to RET.  Only the first
   OS_RELEASE_FILE_BYTES_MAX bytes are read.  Returns false, with RET unchanged, if it has
   neither. */
bool os_release_firmware(const char *path, char ret[OS_RELEASE_VALUE_BYTES]);

#endif
