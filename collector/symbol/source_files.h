/* SPDX-License-Identifier: Apache-2.0 */
/* Merges source files with several paths and drops unused ones. */
#ifndef SYMBOL_SOURCE_FILES_H
#define SYMBOL_SOURCE_FILES_H

#include "source_map.h"

/* Merges each file of MAP that has a relative path of at least two parts with the file whose
   absolute path ends with it, if there is exactly one. Then drops files that MAP does not use. The
   others get new numbers, and their paths are added to NAMES. Returns 0, -EOVERFLOW over
   INDEX_STRINGS_BYTES_MAX, or -ENOMEM. */
int source_files_settle(struct source_map *map, struct index_names *names);

#endif
