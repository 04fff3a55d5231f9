/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a day's file of five minutes, or of hours.  One thread at a time; everything put since
   opening becomes durable at once, or not at all. */
#ifndef STORE_TIER_FILE_H
#define STORE_TIER_FILE_H

#include "siphash.h"
#include "store_read.h"
#include "tier.h"

struct arena;
struct tier_file;

enum { TIER_FILE_VERSION = 2 /* 1: without blocks of version 3 (block.c) */ };

/* Opens (makes) the file at PATH to add blocks of the file of windows SOURCE.  Returns 0; -EUCLEAN
   when it is damaged; -EPROTO when it is from a newer program; or -errno. */
int tier_file_open(const char *path, const uint8_t key[SIPHASH_KEY_BYTES], uint64_t source,
                   struct tier_file **ret);
void tier_file_close(struct tier_file *file); /* what was not committed is rolled back */

/* Numbers the nodes of FOREST here: RET, in ARENA, has one for each.  Returns 0 or -errno. */
int tier_file_map(struct tier_file *file, const struct store_forest *forest, struct arena *arena,
                  uint32_t **ret);

/* One block: of a series of a board, or (GROUP not 0) merged over those of boards. */
struct tier_slot {
  const char *labels; /* label_text */
  uint32_t type, group, marks;
  enum tier tier;
  uint64_t start_ms;
};

/* Adds COUNT rows, ordered by node and numbered as here, to what SLOT has.  Returns 0 or -errno. */
int tier_file_add(struct tier_file *file, const struct tier_slot *slot,
                  const struct store_row *rows, size_t count);

/* Notes that a block of the shortest TIER here, from START_MS on, has all up to ID of SOURCE. */
int tier_file_set_rolled(struct tier_file *file, enum tier tier, uint64_t start_ms, uint64_t id);

/* Notes that it has something that no file of windows has. */
int tier_file_set_others(struct tier_file *file, enum tier tier, uint64_t start_ms);

/* Notes that the blocks of TIER from START_MS on are merged over boards, too. */
int tier_file_set_grouped(struct tier_file *file, enum tier tier, uint64_t start_ms);

/* Adds RECORDS lost (or, negative, found again) by BOARD at AT_MS; and notes that all up to ID of
   SOURCE's are in. */
int tier_file_add_loss(struct tier_file *file, const char *board, uint64_t at_ms, uint64_t reason,
                       uint64_t records);
int tier_file_set_rolled_loss(struct tier_file *file, uint64_t id);

/* Notes that the file belongs to STORE, and is the next generation: RET.  Returns 0 or -errno. */
int tier_file_mark(struct tier_file *file, uint64_t store, uint64_t *ret);

int tier_file_commit(struct tier_file *file);

/* Deletes the blocks of hours from the file at PATH, and leaves those of the day.  Returns 0, also
   when there are none, or as tier_file_open. */
int tier_file_drop_hours(const char *path);

#endif
