/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of source files as debug information has them. */
#ifndef SYMBOL_SOURCE_PATH_H
#define SYMBOL_SOURCE_PATH_H

#include "common/buf.h"

/* Writes to RET, which is emptied, PATH as seen from FOLDER, the folder of the compilation (may be
   empty), without `.`, `..` and doubled slashes.  A relative folder (builds that hide where they
   ran have "./src") may be the beginning of PATH already.  Nothing is looked up. */
void source_path_join(const char *folder, const char *path, struct buf *ret);

#endif
