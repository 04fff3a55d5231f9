/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of days' files that wait for the next question, and the forest that they share.  Any
   thread. */
#ifndef STORE_DAY_POOL_H
#define STORE_DAY_POOL_H

#include "tier.h"

struct day_pool;
struct day_reader;
struct scan_forest;

/* Bounds of what waits. */
enum {
  POOL_FILES_MAX = 48, /* some 100 KiB each, and four bytes a node */
  POOL_NODES_MAX =
      128 << 10, /* of the forest: 8 MiB with its tables; and of what one reader remembers */
};

/* Returns NULL when there is no memory. */
struct day_pool *day_pool_new(void);
void day_pool_free(struct day_pool *pool);

/* A file of DAY. */
struct day_pool_key {
  uint32_t day;
  enum day_kind kind;
};

/* Opens the file KEY at PATH as day_reader_open does, or wakes a reader of it that waits.  While a
   reader is out nobody may rename or delete its file. */
int day_pool_take(struct day_pool *pool, const struct day_pool_key *key, const char *path,
                  struct day_reader **ret);

/* Takes READER back: it waits, or is closed.  One of a damaged file is not given back but closed.
 */
void day_pool_give(struct day_pool *pool, const struct day_pool_key *key,
                   struct day_reader *reader);

/* Closes what waits of the file KEY, and soon what is out. */
void day_pool_forget(struct day_pool *pool, const struct day_pool_key *key);

/* Lends the forest whose numbers readers remember, or NULL: it is out, or there is none.  What is
   given back replaces it. */
struct scan_forest *day_pool_take_forest(struct day_pool *pool);
void day_pool_give_forest(struct day_pool *pool, struct scan_forest *forest);

#endif
