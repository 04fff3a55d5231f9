/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the format version of a database before it is opened. */
#ifndef STORE_FILE_VERSION_H
#define STORE_FILE_VERSION_H

#include <stddef.h>
#include <stdint.h>

/* Reads the version (user_version) of the database PATH without opening it with SQLite; returns 0
   if it is unreadable. This process must not have PATH open: close() would drop SQLite's locks. */
uint32_t file_version_peek(const char *path);

/* Rejects the database NAME of DIR if its version is above KNOWN. Returns 0, or -EPROTO with one
   line in ERROR. */
int file_version_check(const char *dir, const char *name, uint32_t known, char *error,
                       size_t error_len);

/* Rejects a folder with a store of a newer version, before any file in it is changed. Returns 0, or
   -EPROTO or another -errno with one line in ERROR. */
int file_version_look(const char *dir, char *error, size_t error_len);

#endif
