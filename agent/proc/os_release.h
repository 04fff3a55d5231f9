/* SPDX-License-Identifier: Apache-2.0 */
/* What a board runs as a whole: its image's version, as /etc/os-release tells (os-release(5)). */
#ifndef PROC_OS_RELEASE_H
#define PROC_OS_RELEASE_H

#include "common/span.h"

enum { OS_RELEASE_VALUE_BYTES = 64, OS_RELEASE_FILE_BYTES_MAX = 8192 };

/* Writes the last value that TEXT gives NAME to RET.  Returns false, RET untouched, where there is
   none, or one that is no plain word (letters, digits and . _ + ~ : -) or does not fit.  Pure. */
bool os_release_find(struct span text, const char *name, char ret[OS_RELEASE_VALUE_BYTES]);

/* Writes IMAGE_VERSION, else VERSION_ID, of the file PATH to RET; of a longer file its first
   OS_RELEASE_FILE_BYTES_MAX count.  Returns false, RET untouched, where it has neither. */
bool os_release_firmware(const char *path, char ret[OS_RELEASE_VALUE_BYTES]);

#endif
