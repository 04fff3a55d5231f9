/* SPDX-License-Identifier: Apache-2.0 */
/* Which version of us wrote a database, before it is opened. */
#ifndef STORE_FILE_VERSION_H
#define STORE_FILE_VERSION_H

#include <stddef.h>
#include <stdint.h>

/* Reads the version (user_version) of the database PATH without opening it; 0 when that cannot be
   told.  Only while this process has not got PATH open: closing it would drop SQLite's locks. */
uint32_t file_version_peek(const char *path);

/* Refuses the database NAME of DIR when its version is above KNOWN.  Returns 0, or -EPROTO with one
   line in ERROR. */
int file_version_check(const char *dir, const char *name, uint32_t known, char *error,
                       size_t error_len);

/* Refuses a folder in which a newer version has kept its store, before anything of it is touched.
   Returns 0, or -EPROTO or another -errno with one line in ERROR. */
int file_version_look(const char *dir, char *error, size_t error_len);

#endif
