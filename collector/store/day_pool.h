/* SPDX-License-Identifier: Apache-2.0 */
/* Idle readers of day files, kept for the next query, and the forest that they share. Any
   thread. */
#ifndef STORE_DAY_POOL_H
#define STORE_DAY_POOL_H

#include "tier.h"

struct day_pool;
struct day_reader;
struct scan_forest;

/* Bounds of the idle readers. */
enum {
  POOL_FILES_MAX = 48,        /* about 100 KiB each, and four bytes a node */
  POOL_NODES_MAX = 128 << 10, /* of the forest (8 MiB with its tables), and of one reader's map */
};

/* Returns NULL if there is no memory. */
struct day_pool *day_pool_new(void);
void day_pool_free(struct day_pool *pool);

struct day_pool_key {
  uint32_t day;
  enum day_kind kind;
};

/* Opens the file KEY at PATH as day_reader_open does, or reuses an idle reader of it. While a
   reader is lent, its file must not be renamed or deleted. Returns 0 or -errno. */
int day_pool_take(struct day_pool *pool, const struct day_pool_key *key, const char *path,
                  struct day_reader **ret);

/* Takes READER back: keeps it idle, or closes it. The caller closes the reader of a damaged file
   instead. */
void day_pool_give(struct day_pool *pool, const struct day_pool_key *key,
                   struct day_reader *reader);

/* Closes the idle readers of the file KEY; lent readers are closed when they are given back. */
void day_pool_forget(struct day_pool *pool, const struct day_pool_key *key);

/* Lends the forest with the numbers in the readers' maps. Returns NULL if it is already lent or
   there is none. The forest given back replaces the pool's. */
struct scan_forest *day_pool_take_forest(struct day_pool *pool);
void day_pool_give_forest(struct day_pool *pool, struct scan_forest *forest);

#endif
