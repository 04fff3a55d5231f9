/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of modules, a bundle each build-id, as operators send them.  Served to everybody who may
   read; boards cannot send any.  Any thread. */
#ifndef NAMES_SOURCE_STORE_H
#define NAMES_SOURCE_STORE_H

#include "proto/limits.h"
#include "proto/source_bundle.h"

struct source_store;

/* Opens the store in folder DIR/sources, making it.  Returns 0, or -errno with one line in ERROR.
 */
int source_store_open(const char *dir, struct source_store **ret, char *error, size_t error_len);
void source_store_close(struct source_store *store);

struct source_piece {
  struct span id;     /* of the module */
  struct span sha256; /* of the whole bundle: 32 bytes */
  uint64_t offset, total;
  struct span bytes;
};

/* Writes one piece.  Returns 1 when the bundle is now whole, right, and in the place of the one
   before; 0 when more is expected; -ESPIPE when it is not where the upload goes on, since what was
   there is gone or already whole; -EBADMSG (no bundle, wrong hash), -EOVERFLOW (a limit), or
   -errno; WHY says what.  One thread at a time. */
int source_store_write(struct source_store *store, const struct source_piece *piece, char *why,
                       size_t why_len);

/* Returns how many bytes are there of the bundle that PIECE, with its hash and total, belongs to:
   all of them when it is in its place, 0 when there are none.  Reads it through to know. */
uint64_t source_store_uploaded(const struct source_store *store, const struct source_piece *piece);

/* Maps the bundle of module ID, read-only.  Returns 0, RET to be ended by source_store_unmap, or
   -ENOENT or another -errno. */
int source_store_map(const struct source_store *store, struct span id, struct source_bundle *ret);
void source_store_unmap(struct source_bundle *bundle);

struct source_known {
  const char *build_id; /* hexadecimal */
  uint64_t bytes;
  uint32_t files;
};

/* Calls ON_BUNDLE for each, in no order.  Returns 0, -errno, or what ON_BUNDLE returned. */
int source_store_list(const struct source_store *store,
                      int (*on_bundle)(void *context, const struct source_known *bundle),
                      void *context);

#endif
