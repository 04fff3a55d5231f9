/* SPDX-License-Identifier: Apache-2.0 */
/* To open a file of a day costs half a millisecond, most of it SQLite reading its schema; to load
   its forest, as much again for each thousand nodes.  One question opens each twice, and the next
   is about the same days.  So readers wait, without a transaction and without pages in memory, for
   who asks next: a woken one sees the moment of its waking, as a new one would.

   A file that waits in here would outlive its name and keep its WAL: who is to delete it, rename it
   or write to it says so (day_pool_forget).  A file that was replaced behind our back is noticed by
   its number on the disk. */
#include "day_pool.h"

#include "day_reader.h"
#include "scan_forest.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct waiting {
  struct day_pool_key key;
  struct day_reader *reader;
};

struct day_pool {
  pthread_mutex_t lock;
  struct waiting files[POOL_FILES_MAX]; /* who waits longest first */
  unsigned count;
  uint64_t forgotten; /* how often something was */
  struct scan_forest *forest;
};

struct day_pool *day_pool_new(void) {
  struct day_pool *pool = calloc(1, sizeof *pool);
  if (pool != NULL) pthread_mutex_init(&pool->lock, NULL);
  return pool;
}

void day_pool_free(struct day_pool *pool) {
  if (pool == NULL) return;
  for (unsigned i = 0; i < pool->count; i++) day_reader_close(pool->files[i].reader);
  day_pool_give_forest(pool, NULL);
  pthread_mutex_destroy(&pool->lock);
  free(pool);
}

/* Takes the AT-th out. */
static struct day_reader *take_out(struct day_pool *pool, unsigned at) {
  struct day_reader *reader = pool->files[at].reader;
  for (unsigned i = at + 1; i < pool->count; i++) pool->files[i - 1] = pool->files[i];
  pool->count--;
  return reader;
}

/* Takes one of KEY out, or returns NULL. */
static struct day_reader *find(struct day_pool *pool, const struct day_pool_key *key) {
  for (unsigned i = 0; i < pool->count; i++)
    if (pool->files[i].key.day == key->day && pool->files[i].key.kind == key->kind)
      return take_out(pool, i);
  return NULL;
}

int day_pool_take(struct day_pool *pool, const struct day_pool_key *key, const char *path,
                  struct day_reader **ret) {
  pthread_mutex_lock(&pool->lock);
  struct day_reader *reader = find(pool, key);
  uint64_t forgotten = pool->forgotten;
  pthread_mutex_unlock(&pool->lock);
  int error = 0;
  if (reader != NULL && day_reader_wake(reader, path) != 0) { /* a new one tells why */
    day_reader_close(reader);
    reader = NULL;
  }
  if (reader == NULL) error = day_reader_open(path, key->kind, &reader);
  if (error != 0) return error;
  day_reader_set_lent(reader, forgotten);
  *ret = reader;
  return 0;
}

void day_pool_give(struct day_pool *pool, const struct day_pool_key *key,
                   struct day_reader *reader) {
  struct day_reader *closed = reader;
  if (reader == NULL) return;
  int error = day_reader_rest(reader, POOL_NODES_MAX);
  pthread_mutex_lock(&pool->lock);
  if (error == 0 && day_reader_lent(reader) == pool->forgotten) {
    closed = pool->count == POOL_FILES_MAX ? take_out(pool, 0) : NULL;
    pool->files[pool->count++] = (struct waiting){*key, reader};
  }
  pthread_mutex_unlock(&pool->lock);
  day_reader_close(closed);
}

void day_pool_forget(struct day_pool *pool, const struct day_pool_key *key) {
  struct day_reader *reader;
  do {
    pthread_mutex_lock(&pool->lock);
    pool->forgotten++;
    reader = find(pool, key);
    pthread_mutex_unlock(&pool->lock);
    day_reader_close(reader);
  } while (reader != NULL);
}

struct scan_forest *day_pool_take_forest(struct day_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  struct scan_forest *forest = pool->forest;
  pool->forest = NULL;
  pthread_mutex_unlock(&pool->lock);
  return forest;
}

void day_pool_give_forest(struct day_pool *pool, struct scan_forest *forest) {
  if (forest != NULL && forest->whole.node_count > POOL_NODES_MAX) {
    scan_forest_free(forest);
    forest = NULL;
  }
  pthread_mutex_lock(&pool->lock);
  struct scan_forest *old = pool->forest;
  pool->forest = forest;
  pthread_mutex_unlock(&pool->lock);
  scan_forest_free(old);
}
