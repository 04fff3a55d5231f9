/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the file of one day, as it was at one moment.  One thread at a time. */
#ifndef STORE_DAY_READER_H
#define STORE_DAY_READER_H

#include "store_read.h"

struct arena;
struct day_reader;

struct day_range {
  uint64_t from_ms, to_ms; /* of midpoints: from <= mid < to */
};

/* Opens the file at PATH.  Returns 0, -ENOENT, -EUCLEAN when it is damaged, or -errno. */
int day_reader_open(const char *path, struct day_range range, struct day_reader **ret);
void day_reader_close(struct day_reader *reader);

struct day_series {
  uint64_t id;
  const char *text; /* its labels; valid until the next call */
  uint32_t type;    /* enum sample_type */
};

/* Steps through the series of TYPES (one bit each) in the order of their label texts: those of a
   board stand together.  Returns 1, 0 at the end, or -errno. */
int day_reader_next_series(struct day_reader *reader, uint32_t types, struct day_series *ret);

struct day_block {
  uint64_t start_ms, end_ms;
  uint32_t marks;               /* enum batch_mark */
  const struct store_row *rows; /* node: index into the forest; valid until the next call */
  size_t count;
};

/* Steps through the blocks of SERIES in the range; the first call with another SERIES starts over.
   Returns 1, 0 at the end, or -errno. */
int day_reader_next_block(struct day_reader *reader, uint64_t series, struct day_block *ret);

/* Whether SERIES has a block in the range: 1, 0, or -errno. */
int day_reader_has_block(struct day_reader *reader, uint64_t series);

/* Loads all nodes and modules into ARENA; their id is the caller's to set.  Returns 0, -ENOMEM,
   -EUCLEAN or -errno. */
int day_reader_forest(struct day_reader *reader, struct arena *arena, struct store_forest *ret);

/* Adds the changes of losses of BOARD (NULL: all) in the range.  Returns 0 or -errno. */
int day_reader_loss(struct day_reader *reader, const char *board, int64_t *sum);

#endif
