/* SPDX-License-Identifier: Apache-2.0 */
/* Archives and packed files, by libarchive. */
#ifndef UPLOAD_UNPACK_H
#define UPLOAD_UNPACK_H

#include "source.h"

/* Reads the archive or packed file PATH that is open as FD, as source_read does. */
int unpack_read(const char *path, int fd, const struct source_visitor *visitor);

#endif
