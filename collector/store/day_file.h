/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the file of one day: nodes, modules, series, blocks and losses. One thread at a time. */
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
                               3: without blocks of version 3, and never pruned; 4: without a
                               ledger */
  DAY_NODES_MAX = 16 << 20, /* nodes of distinct stacks a day; deeper frames beyond are cut */
};

struct day_batch {
  uint64_t start_ms, end_ms;
  const struct batch *batch;
  const struct series_rows *series;
  uint32_t series_count;
  struct arena *arena; /* for temporary data */
};

struct day_loss {
  const char *board;
  uint64_t run, at_ms;
  const int64_t *change; /* LOSS_REASON_COUNT differences, in records */
};

/* Opens or creates the file at PATH for rows of the landing file EPOCH. Returns 0; -EUCLEAN if it
   is damaged; -EPROTO if a newer program made it; or -errno. */
int day_file_open(const char *path, const uint8_t key[SIPHASH_KEY_BYTES], uint64_t epoch,
                  struct day_file **ret);
/* Upgrades the file at PATH from an older program to DAY_VERSION. Returns as day_file_open. */
int day_file_upgrade(const char *path);

/* Deletes the windows before BEFORE_MS, a start of five minutes, from the file at PATH. The caller
   is the only writer. Returns 0 or as day_file_open. */
int day_file_prune(const char *path, uint64_t before_ms);

void day_file_close(struct day_file *file); /* rolls back if not committed */

/* The first returns whether landing row ID is already in the file, the second the newest id that
   is. */
bool day_file_has(const struct day_file *file, uint64_t id);
uint64_t day_file_settled_id(const struct day_file *file);

/* Returns whether the open file is still the one at PATH. Writes to a file without a name are
   lost. */
bool day_file_is_at(struct day_file *file, const char *path);

/* Put a landing row's batch, its losses and its id into the open transaction. The first call begins
   it. Return 0 or -errno. */
int day_file_put_batch(struct day_file *file, const struct day_batch *batch);
int day_file_put_loss(struct day_file *file, const struct day_loss *loss);
int day_file_settled(struct day_file *file, uint64_t id);

/* Notes in the open transaction that the file contains batch SEQ of RUN of BOARD, with RECORDS
   records. Returns 0 or -errno. */
int day_file_note(struct day_file *file, const char *board, uint64_t run, uint64_t seq,
                  uint64_t records);

/* Commits the open transaction, durably. Returns 0 or -errno. */
int day_file_commit(struct day_file *file);

/* The number of nodes with a hash collision, and of frames cut at DAY_NODES_MAX, since
   the file was opened. */
uint64_t day_file_collisions(const struct day_file *file);
uint64_t day_file_cut(const struct day_file *file);

#endif
