/* SPDX-License-Identifier: Apache-2.0 */
/* Reading one of the files of a day, as it was at one moment.  One thread at a time. */
#ifndef STORE_DAY_READER_H
#define STORE_DAY_READER_H

#include "store_read.h"
#include "tier_plan.h"

struct arena;
struct day_reader;

/* Opens the file of KIND at PATH.  Returns 0, -ENOENT, -EUCLEAN when it is damaged, or -errno. */
int day_reader_open(const char *path, enum day_kind kind, struct day_reader **ret);
void day_reader_close(struct day_reader *reader);

/* Lets go of the moment that is read, of memory, and of a map of more than MAPPED_MAX nodes
   (below); a reader at rest is then woken to read another moment, or closed.  Returns 0 or -errno.
   Waking needs the PATH that it was opened with: -ESTALE when the file there is another one, or
   from another version. */
int day_reader_rest(struct day_reader *reader, uint32_t mapped_max);
int day_reader_wake(struct day_reader *reader, const char *path);

/* A number that its keeper remembers. */
void day_reader_set_lent(struct day_reader *reader, uint64_t number);
uint64_t day_reader_lent(const struct day_reader *reader);

/* What the file has: of windows, or (of another KIND) of which parts of DAY, and how far those are
   made from the file of windows with the number SOURCE (0: there is none).  Returns 0, -EUCLEAN or
   -errno. */
int day_reader_windows(struct day_reader *reader, struct tier_windows *ret);
int day_reader_rolled(struct day_reader *reader, uint32_t day, uint64_t source,
                      struct tier_rolled *ret);

/* What is read from now on; borrows PIECES. */
void day_reader_set_pieces(struct day_reader *reader, const struct tier_piece *pieces,
                           size_t count);

uint32_t day_reader_node_count(const struct day_reader *reader);

/* What nodes are called in blocks from now on: the forest's index I is MAP[I], which it takes over
   (NULL: I), in the numbers of EPOCH.  They are kept at rest. */
void day_reader_take_map(struct day_reader *reader, uint32_t *map, uint64_t epoch);

/* The same with what was taken over before, if that is of EPOCH and of all nodes; or returns
   false. */
bool day_reader_use_map(struct day_reader *reader, uint64_t epoch);

struct day_series {
  uint64_t id;
  const char *text; /* its labels; valid until the next call of day_reader_next_series */
  uint32_t type;    /* enum sample_type */
  uint32_t group;   /* as in struct store_series */
};

/* Steps through the series of TYPES (one bit each) that the pieces may have, in the order of their
   label texts: those of a board stand together, and so do those of a group.  Returns 1, 0 at the
   end, or -errno. */
int day_reader_next_series(struct day_reader *reader, uint32_t types, struct day_series *ret);

struct day_block {
  uint64_t id; /* of windows */
  uint64_t start_ms, end_ms;
  uint32_t marks;               /* enum batch_mark */
  const struct store_row *rows; /* node: index into the forest; valid until the next call */
  size_t count;
};

/* Steps through the blocks of SERIES in the pieces; the first call with another SERIES starts over.
   Returns 1, 0 at the end, or -errno. */
int day_reader_next_block(struct day_reader *reader, const struct day_series *series,
                          struct day_block *ret);

/* The same, each block as one row of no node: what its rows weigh together, by what stands beside
   them; whether they are damaged does not show.  Takes a hundredth of the time. */
int day_reader_next_sum(struct day_reader *reader, const struct day_series *series,
                        struct day_block *ret);

/* Whether SERIES has a block in the pieces: 1, 0, or -errno. */
int day_reader_has_block(struct day_reader *reader, const struct day_series *series);

/* Loads all nodes and modules into ARENA; their id is the caller's to set.  Returns 0, -ENOMEM,
   -EUCLEAN or -errno. */
int day_reader_forest(struct day_reader *reader, struct arena *arena, struct store_forest *ret);

/* Some losses in a file: of windows those at FROM_MS..TO_MS with a number above AFTER_ID, of hours
   those of hours with their middle there. */
struct day_losses {
  uint64_t from_ms, to_ms, after_id;
  const struct store_names *boards; /* NULL: of all */
};

/* Adds the changes of LOSSES to SUM[LOSS_REASON_COUNT].  Returns 0 or -errno. */
int day_reader_loss(struct day_reader *reader, const struct day_losses *losses, int64_t *sum);

/* Sets RET to the newest loss that hours have of the file of windows SOURCE.  Returns 0 or
   -errno. */
int day_reader_rolled_loss(struct day_reader *reader, uint64_t source, uint64_t *ret);

/* Shows ON_LOSS each loss with a number above AFTER_ID in a file of windows.  Returns 0, what
   ON_LOSS returned, or -errno. */
struct day_loss_row {
  uint64_t id, at_ms, reason, records;
  const char *board;
};
int day_reader_losses_after(struct day_reader *reader, uint64_t after_id,
                            int (*on_loss)(void *context, const struct day_loss_row *row),
                            void *context);

#endif
