/* SPDX-License-Identifier: Apache-2.0 */
/* Reads archives and packed files with libarchive. */
#ifndef UPLOAD_UNPACK_H
#define UPLOAD_UNPACK_H

#include "source.h"

/* Reads the archive or packed file PATH, open as FD, as source_read does. */
int unpack_read(const char *path, int fd, const struct source_visitor *visitor);

#endif
