/* SPDX-License-Identifier: Apache-2.0 */
/* An unnamed file in TMPDIR, deleted with its descriptor. */
#ifndef UPLOAD_TEMP_FILE_H
#define UPLOAD_TEMP_FILE_H

#include "common/span.h"

/* Returns the descriptor or -errno. */
int temp_file_open(void);

/* Writes BYTES at OFFSET.  Returns 0 or -errno. */
int temp_file_write(int fd, struct span bytes, uint64_t offset);

#endif
