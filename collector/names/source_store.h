/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of modules, one bundle for each build-id, from operators. Served to all readers; boards
   cannot send bundles. Any thread. */
#ifndef NAMES_SOURCE_STORE_H
#define NAMES_SOURCE_STORE_H

#include "proto/limits.h"
#include "proto/source_bundle.h"

struct source_store;

/* Opens the store in folder DIR/sources, and creates it if needed. Returns 0, or -errno with one
   line in ERROR. */
int source_store_open(const char *dir, struct source_store **ret, char *error, size_t error_len);
void source_store_close(struct source_store *store);

struct source_piece {
  struct span id;     /* of the module */
  struct span sha256; /* of the whole bundle: 32 bytes */
  uint64_t offset, total;
  struct span bytes;
};

/* Writes one piece. Returns 1 when the bundle is complete, verified, and has replaced the previous
   one; 0 when more is expected. Returns -ESPIPE if the piece does not continue the upload, since
   the earlier pieces are gone or the bundle is already complete. Returns -EBADMSG (not a bundle,
   wrong hash), -EOVERFLOW (a limit), or -errno; WHY has the reason. One thread at a time. */
int source_store_write(struct source_store *store, const struct source_piece *piece, char *why,
                       size_t why_len);

/* Returns how many bytes of the bundle of PIECE, with its hash and total, are stored: all if the
   bundle is in place, 0 if none. Reads a bundle in place through to compare its hash. */
uint64_t source_store_uploaded(const struct source_store *store, const struct source_piece *piece);

/* Maps the bundle of module ID, read-only. Returns 0 with RET to be released by source_store_unmap,
   or -ENOENT or another -errno. */
int source_store_map(const struct source_store *store, struct span id, struct source_bundle *ret);
void source_store_unmap(struct source_bundle *bundle);

struct source_known {
  const char *build_id; /* hexadecimal */
  uint64_t bytes;
  uint32_t files;
};

/* Calls ON_BUNDLE for each bundle, in no order. Returns 0, -errno, or the result of ON_BUNDLE. */
int source_store_list(const struct source_store *store,
                      int (*on_bundle)(void *context, const struct source_known *bundle),
                      void *context);

#endif
