/* SPDX-License-Identifier: Apache-2.0 */
/* The clock state for the next collector on the folder DIR: its file `clock`. */
#ifndef INGEST_TRUSTED_FILE_H
#define INGEST_TRUSTED_FILE_H

#include "trusted_time.h"

/* Sets RET, all-zero on failure. Returns 0, -ENOENT, -EBADMSG if the file is invalid, or -errno. */
int trusted_file_read(const char *dir, struct trusted_kept *ret);

/* Returns 0, or -errno with the file unchanged. */
int trusted_file_write(const char *dir, const struct trusted_kept *kept);

#endif
