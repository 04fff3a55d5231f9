/* SPDX-License-Identifier: Apache-2.0 */
/* Day files that were set aside because they are damaged (day_folder_set_aside): kept for a person
   to look at, and no more of them than is said here. */
#ifndef STORE_DAY_ASIDE_H
#define STORE_DAY_ASIDE_H

#include <stdint.h>

enum { DAY_ASIDE_FILES = 8 /* a disk that damages one each day must not be filled with them */ };

struct day_aside_keep {
  uint32_t first_day; /* of earlier days none */
  uint64_t bytes_max; /* of all together, what SQLite keeps beside them included */
};

struct day_aside_figures {
  uint64_t files, bytes;
};

/* What there is in DIR.  Returns 0 or -errno. */
int day_aside_figures(const char *dir, struct day_aside_figures *ret);

/* Deletes from DIR what KEEP does not want, and of the rest those set aside first until
   DAY_ASIDE_FILES are left.  Returns 0 or -errno. */
int day_aside_thin(const char *dir, const struct day_aside_keep *keep);

#endif
