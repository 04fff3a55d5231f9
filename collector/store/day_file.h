/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the file of one day: nodes, modules, series, blocks and losses.  One thread at a time. */
#ifndef STORE_DAY_FILE_H
#define STORE_DAY_FILE_H

#include "proto/batch.h"
#include "siphash.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct day_file;
struct series_rows;

enum {
  DAY_VERSION = 5,          /* 1: without marks; 2: without the newest block of each five minutes;
                               3: without blocks of version 3, and whole; 4: without a ledger */
  DAY_NODES_MAX = 16 << 20, /* distinct stacks' nodes a day; deeper frames are cut beyond */
};

struct day_batch {
  uint64_t start_ms, end_ms;
  const struct batch *batch;
  const struct series_rows *series;
  uint32_t series_count;
  struct arena *arena; /* for what is needed on the way */
};

struct day_loss {
  const char *board;
  uint64_t run, at_ms;
  const int64_t *change; /* LOSS_REASON_COUNT records more, or fewer */
};

/* Opens (makes) the file at PATH for rows of the landing file EPOCH.  Returns 0; -EUCLEAN when it
   is damaged; -EPROTO when it is from a newer program; or -errno. */
int day_file_open(const char *path, const uint8_t key[SIPHASH_KEY_BYTES], uint64_t epoch,
                  struct day_file **ret);
/* Brings the file at PATH, if it is from an older program, up to DAY_VERSION.  Returns as
   day_file_open. */
int day_file_upgrade(const char *path);

/* Deletes the windows before BEFORE_MS, at which five minutes begin, from the file at PATH, which
   nobody else writes.  Returns 0 or as day_file_open. */
int day_file_prune(const char *path, uint64_t before_ms);

void day_file_close(struct day_file *file); /* what was not committed is rolled back */

/* Whether landing row ID is in already; the newest that is. */
bool day_file_has(const struct day_file *file, uint64_t id);
uint64_t day_file_settled_id(const struct day_file *file);

/* Whether the file that is open is still the one at PATH: what goes into one without a name is
   lost. */
bool day_file_is_at(struct day_file *file, const char *path);

/* Put batch and losses of landing row ID into the open transaction (begun by the first). */
int day_file_put_batch(struct day_file *file, const struct day_batch *batch);
int day_file_put_loss(struct day_file *file, const struct day_loss *loss);
int day_file_settled(struct day_file *file, uint64_t id);

/* Notes in the open transaction that batch SEQ of RUN of BOARD, of so many RECORDS, is in here.
   Returns 0 or -errno. */
int day_file_note(struct day_file *file, const char *board, uint64_t run, uint64_t seq,
                  uint64_t records);

/* Makes everything put so far durable. */
int day_file_commit(struct day_file *file);

/* Nodes whose hash collided with another's, and frames cut at DAY_NODES_MAX, since open. */
uint64_t day_file_collisions(const struct day_file *file);
uint64_t day_file_cut(const struct day_file *file);

#endif
