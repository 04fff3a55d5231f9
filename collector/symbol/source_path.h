/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of source files in debug information. */
#ifndef SYMBOL_SOURCE_PATH_H
#define SYMBOL_SOURCE_PATH_H

#include "common/buf.h"

/* Clears RET and writes PATH relative to FOLDER, without `.`, `..` and doubled slashes. FOLDER is
   the compile folder and may be empty. A relative FOLDER (reproducible builds have "./src") may
   already be the beginning of PATH. The file system is not read. */
void source_path_join(const char *folder, const char *path, struct buf *ret);

#endif
