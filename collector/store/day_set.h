/* SPDX-License-Identifier: Apache-2.0 */
/* The few day files that are open for writing. */
#ifndef STORE_DAY_SET_H
#define STORE_DAY_SET_H

#include "siphash.h"

#include <stdint.h>

struct day_file;

enum { DAY_SET_MAX = 4 }; /* today, yesterday, and two that old spools are emptied into */

struct day_set {
  const char *dir;
  const uint8_t *key;
  uint64_t epoch;
  int (*admit)(void *context, uint32_t day); /* asked before a file is opened; or NULL */
  void *context;
  uint64_t clock;
  uint64_t collisions, cut; /* of files closed since */
  uint32_t failed_day;      /* whose file the last error came from */
  struct day_slot {
    struct day_file *file; /* NULL: free */
    uint32_t day;
    uint64_t used; /* clock when last asked for */
  } slots[DAY_SET_MAX];
};

/* Opens the file of DAY, or finds it open; the one unused for longest makes room, committed.
   Returns 0; -ESTALE when an open one is not the one of its name any more; or what admit,
   day_file_open or day_file_commit returned; with failed_day set. */
int day_set_get(struct day_set *set, uint32_t day, struct day_file **ret);

/* Commits all.  Returns 0 or the first error. */
int day_set_commit(struct day_set *set);

/* Closes the file of DAY, or all, giving up what was not committed. */
void day_set_forget(struct day_set *set, uint32_t day);
void day_set_forget_all(struct day_set *set);

#endif
