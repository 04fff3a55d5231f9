/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one of the files of a day, in its state at one moment. One thread at a time. */
#ifndef STORE_DAY_READER_H
#define STORE_DAY_READER_H

#include "store_read.h"
#include "tier_plan.h"

struct arena;
struct day_reader;

/* Opens the file of KIND at PATH. Returns 0; -ENOENT; -EUCLEAN if it is damaged; or -errno. */
int day_reader_open(const char *path, enum day_kind kind, struct day_reader **ret);
void day_reader_close(struct day_reader *reader);

/* The first ends the read transaction and frees memory and a map of more than MAPPED_MAX nodes
   (below). The reader is then woken for a new transaction, or closed. Returns 0 or -errno. Waking
   needs the PATH of the open: it returns -ESTALE if PATH is now a different file or has another
   version. */
int day_reader_rest(struct day_reader *reader, uint32_t mapped_max);
int day_reader_wake(struct day_reader *reader, const char *path);

/* A number that the owner stores with the reader. */
void day_reader_set_lent(struct day_reader *reader, uint64_t number);
uint64_t day_reader_lent(const struct day_reader *reader);

/* The first reads which windows the file has. The second reads which parts of DAY a rollup has, and
   up to which ids of the file of windows SOURCE (0: none) they are made. Return 0, -EUCLEAN or
   -errno. */
int day_reader_windows(struct day_reader *reader, struct tier_windows *ret);
int day_reader_rolled(struct day_reader *reader, uint32_t day, uint64_t source,
                      struct tier_rolled *ret);

/* Sets the pieces that are read from now on. Borrows PIECES. */
void day_reader_set_pieces(struct day_reader *reader, const struct tier_piece *pieces,
                           size_t count);

uint32_t day_reader_node_count(const struct day_reader *reader);

/* Sets the node numbers in blocks from now on: index I of the forest becomes MAP[I] (NULL: I), in
   the numbering of EPOCH. Takes ownership of MAP, and keeps it at rest. */
void day_reader_take_map(struct day_reader *reader, uint32_t *map, uint64_t epoch);

/* Uses the map taken before, if it has EPOCH and covers all nodes. Returns false otherwise. */
bool day_reader_use_map(struct day_reader *reader, uint64_t epoch);

struct day_series {
  uint64_t id;
  const char *text; /* its labels; valid until the next call of day_reader_next_series */
  uint32_t type;    /* enum sample_type */
  uint32_t group;   /* as in struct store_series */
};

/* Steps through the series of TYPES (one bit each) that the pieces may contain. They are ordered by
   label text, so those of a board are adjacent, as are those of a group. Returns 1, 0 at the end,
   or -errno. */
int day_reader_next_series(struct day_reader *reader, uint32_t types, struct day_series *ret);

struct day_block {
  uint64_t id; /* of windows only */
  uint64_t start_ms, end_ms;
  uint32_t marks;               /* enum batch_mark */
  const struct store_row *rows; /* node: index into the forest; valid until the next call */
  size_t count;
};

/* Steps through the blocks of SERIES in the pieces. The first call with another SERIES starts over.
   Returns 1, 0 at the end, or -errno. */
int day_reader_next_block(struct day_reader *reader, const struct day_series *series,
                          struct day_block *ret);

/* The same, but returns each block as one row without a node: the stored sums of its rows, which
   are not read. So damage in them is not detected. Takes a hundredth of the time. */
int day_reader_next_sum(struct day_reader *reader, const struct day_series *series,
                        struct day_block *ret);

/* Returns whether SERIES has a block in the pieces: 1, 0, or -errno. */
int day_reader_has_block(struct day_reader *reader, const struct day_series *series);

/* Loads all nodes and modules into ARENA. The caller sets the forest's id. Returns 0, -ENOMEM,
   -EUCLEAN or -errno. */
int day_reader_forest(struct day_reader *reader, struct arena *arena, struct store_forest *ret);

/* A selection of losses in a file. In a file of windows: those at FROM_MS..TO_MS with a row number
   above AFTER_ID. In a file of hours: those of hours with their middle in that range. */
struct day_losses {
  uint64_t from_ms, to_ms, after_id;
  const struct store_names *boards; /* NULL: all boards */
};

/* Adds the changes of LOSSES to SUM[LOSS_REASON_COUNT]. Returns 0 or -errno. */
int day_reader_loss(struct day_reader *reader, const struct day_losses *losses, int64_t *sum);

/* Sets RET to the newest loss of the file of windows SOURCE that the hours include. Returns 0 or
   -errno. */
int day_reader_rolled_loss(struct day_reader *reader, uint64_t source, uint64_t *ret);

/* Calls ON_LOSS for each loss with a row number above AFTER_ID in a file of windows. Returns 0, the
   result of ON_LOSS, or -errno. */
struct day_loss_row {
  uint64_t id, at_ms, reason, records;
  const char *board;
};
int day_reader_losses_after(struct day_reader *reader, uint64_t after_id,
                            int (*on_loss)(void *context, const struct day_loss_row *row),
                            void *context);

#endif
