/* SPDX-License-Identifier: Apache-2.0 */
/* Source files that have several paths, or are named by nothing. */
#ifndef SYMBOL_SOURCE_FILES_H
#define SYMBOL_SOURCE_FILES_H

#include "source_map.h"

/* Gives each file of MAP with a relative path, two parts at least, the absolute path of another
   file that ends with it, when there is exactly one.  Then drops the files that nothing of MAP
   names; the others get new numbers, and their paths go to NAMES.  Returns 0, -EOVERFLOW over
   INDEX_STRINGS_BYTES_MAX, or -ENOMEM. */
int source_files_settle(struct source_map *map, struct index_names *names);

#endif
