/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a day's file of five minutes or of hours. One thread at a time. All changes since opening
   become durable together or not at all. */
#ifndef STORE_TIER_FILE_H
#define STORE_TIER_FILE_H

#include "siphash.h"
#include "store_read.h"
#include "tier.h"

struct arena;
struct tier_file;

enum { TIER_FILE_VERSION = 2 /* 1: without blocks of version 3 (block.c) */ };

/* Opens or creates the file at PATH to add blocks made from the file of windows SOURCE. Returns 0;
   -EUCLEAN if it is damaged; -EPROTO if a newer program made it; or -errno. */
int tier_file_open(const char *path, const uint8_t key[SIPHASH_KEY_BYTES], uint64_t source,
                   struct tier_file **ret);
void tier_file_close(struct tier_file *file); /* rolls back if not committed */

/* Adds the nodes of FOREST to the file. Sets RET, in ARENA, to the number of each. Returns 0 or
   -errno. */
int tier_file_map(struct tier_file *file, const struct store_forest *forest, struct arena *arena,
                  uint32_t **ret);

/* Identifies one block: of a board's series, or (GROUP not 0) merged over boards. */
struct tier_slot {
  const char *labels; /* label_text */
  uint32_t type, group, marks;
  enum tier tier;
  uint64_t start_ms;
};

/* Adds COUNT rows, ordered by node in this file's numbers, to SLOT's block. Returns 0 or -errno. */
int tier_file_add(struct tier_file *file, const struct tier_slot *slot,
                  const struct store_row *rows, size_t count);

/* Records that the block of the file's shortest TIER at START_MS includes all windows of SOURCE up
   to ID. Returns 0 or -errno. */
int tier_file_set_rolled(struct tier_file *file, enum tier tier, uint64_t start_ms, uint64_t id);

/* Records that the block has data that no file of windows has. Returns 0 or -errno. */
int tier_file_set_others(struct tier_file *file, enum tier tier, uint64_t start_ms);

/* Records that the blocks of TIER at START_MS are also merged over boards. Returns 0 or -errno. */
int tier_file_set_grouped(struct tier_file *file, enum tier tier, uint64_t start_ms);

/* The first adds RECORDS lost by BOARD at AT_MS (negative: recovered). The second records that all
   losses of SOURCE up to ID are included. Return 0 or -errno. */
int tier_file_add_loss(struct tier_file *file, const char *board, uint64_t at_ms, uint64_t reason,
                       uint64_t records);
int tier_file_set_rolled_loss(struct tier_file *file, uint64_t id);

/* Marks the file as belonging to STORE and raises its generation; RET is the new one. Returns 0 or
   -errno. */
int tier_file_mark(struct tier_file *file, uint64_t store, uint64_t *ret);

int tier_file_commit(struct tier_file *file);

/* Deletes the blocks of hours from the file at PATH and keeps those of the day. Returns 0, also if
   there are none, or as tier_file_open. */
int tier_file_drop_hours(const char *path);

#endif
