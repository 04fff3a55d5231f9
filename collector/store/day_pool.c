/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a day file takes half a millisecond, mostly for SQLite to read its schema. Loading its
   forest takes as long again for each thousand nodes. A query opens each file twice, and the next
   query usually reads the same days. So idle readers stay here without a transaction and without
   pages in memory. A reused reader sees the file as of its wake-up, as a new one would.

   An idle reader would keep a deleted file and its WAL. So code that deletes, renames or writes a
   file calls day_pool_forget. A file that another program replaced is detected by its inode
   number. */
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
  struct waiting files[POOL_FILES_MAX]; /* the longest idle first */
  unsigned count;
  uint64_t forgotten; /* number of calls of day_pool_forget, which invalidate lent readers */
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

/* Removes entry AT and returns its reader. */
static struct day_reader *take_out(struct day_pool *pool, unsigned at) {
  struct day_reader *reader = pool->files[at].reader;
  for (unsigned i = at + 1; i < pool->count; i++) pool->files[i - 1] = pool->files[i];
  pool->count--;
  return reader;
}

/* Removes and returns a reader of KEY, or returns NULL. */
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
  if (reader != NULL && day_reader_wake(reader, path) != 0) { /* opening it again reports the
                                                                 error */
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
