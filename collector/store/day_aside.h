/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged day files that were set aside (day_folder_set_aside). They are kept for inspection,
   within limits of number, age and bytes. */
#ifndef STORE_DAY_ASIDE_H
#define STORE_DAY_ASIDE_H

#include <stdint.h>

enum { DAY_ASIDE_FILES = 8 /* a disk that damages a file each day must not fill up with them */ };

struct day_aside_keep {
  uint32_t first_day; /* files of earlier days are deleted */
  uint64_t bytes_max; /* of all files together, with SQLite's companion files */
};

struct day_aside_figures {
  uint64_t files, bytes;
};

/* Counts the files set aside in DIR and their bytes. Returns 0 or -errno. */
int day_aside_figures(const char *dir, struct day_aside_figures *ret);

/* Deletes from DIR the files outside KEEP and, beyond DAY_ASIDE_FILES, those set aside first.
   Returns 0 or -errno. */
int day_aside_thin(const char *dir, const struct day_aside_keep *keep);

#endif
