/* SPDX-License-Identifier: Apache-2.0 */
/* The few day files that are open for writing. */
#ifndef STORE_DAY_SET_H
#define STORE_DAY_SET_H

#include "siphash.h"

#include <stdint.h>

struct day_file;

enum { DAY_SET_MAX = 4 }; /* today, yesterday, and two for boards with old spools */

struct day_set {
  const char *dir;
  const uint8_t *key;
  uint64_t epoch;
  int (*admit)(void *context, uint32_t day); /* called before a file is opened; or NULL */
  void *context;
  uint64_t clock;
  uint64_t collisions, cut; /* of files closed so far */
  uint32_t failed_day;      /* the day of the last error */
  struct day_slot {
    struct day_file *file; /* NULL: a free slot */
    uint32_t day;
    uint64_t used; /* clock of the last use */
  } slots[DAY_SET_MAX];
};

/* Returns the file of DAY, opened if necessary. The least recently used file is committed and
   closed to make room. Returns 0; -ESTALE if an open file no longer is the one of its name; or the
   result of admit, day_file_open or day_file_commit. Errors set failed_day. */
int day_set_get(struct day_set *set, uint32_t day, struct day_file **ret);

/* Commits all open files. Returns 0 or the first error. */
int day_set_commit(struct day_set *set);

/* Closes the file of DAY, or all files, without committing. */
void day_set_forget(struct day_set *set, uint32_t day);
void day_set_forget_all(struct day_set *set);

#endif
