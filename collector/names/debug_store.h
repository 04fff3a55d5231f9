/* SPDX-License-Identifier: Apache-2.0 */
/* Debug files from boards and operators, by build-id, with their quality.

   A file from one board names only that board's samples. If a second board sends the same bytes, or
   an operator does, all samples use it. Files are stored under the SHA-256 of their bytes. Requests
   to boards are in debug_wishes.h. Any thread. */
#ifndef NAMES_DEBUG_STORE_H
#define NAMES_DEBUG_STORE_H

#include "common/span.h"
#include "debug_file.h"
#include "proto/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debug_store;

int debug_store_open(const char *dir, struct debug_store **ret, char *error, size_t error_len);
void debug_store_close(struct debug_store *store);

/* Writes the store number of DIR's landing file to the catalogue. Call it once the landing file is
   open. */
void debug_store_mark(struct debug_store *store, const char *dir);

/* Returns the reason why DIR's catalogue as a whole is unusable, even if undamaged; NULL: usable.
   Changes nothing. */
const char *debug_store_find_loss(const char *dir);

/* Returns the problem of the catalogue when it was opened; NULL: none. */
const char *debug_store_loss(const struct debug_store *store);

/* Records that BOARD cannot send module ID; requests to it are suspended for a while. */
void debug_store_unavailable(struct debug_store *store, const char *board, struct span id,
                             const char *reason);

struct debug_piece {
  const char *board; /* sender's name; NULL for an operator */
  struct span id;
  uint64_t offset, total;
  struct span sha256; /* of the whole file; 32 bytes, or empty from an operator */
  struct span bytes;
};

/* Writes one piece. Returns 1 when the file is complete and its hash right; symbolizer_prepare then
   has the worker read it and check its module. Returns 0 when more is expected, and -ESPIPE if an
   operator's piece does not continue the upload. Returns -EBADMSG for a wrong hash, an invalid or
   rejected file, or another module's; -EOVERFLOW over a limit; or -errno. WHY has the reason. The
   last piece takes as long as hashing the whole file. */
int debug_store_write(struct debug_store *store, const struct debug_piece *piece, char *why,
                      size_t why_len);

/* Finds the best file for module ID that BOARD may see (NULL: an operator, sees all), or the
   supplement ID. Returns 0 or -ENOENT. */
int debug_store_find(struct debug_store *store, const char *board, struct span id,
                     struct debug_file *ret);

/* Writes to RET at most DEBUG_PUBLIC_MAX files of module ID that are visible to all, best first: an
   operator, or two boards, have sent them. Writes the module's path on a board to PATH ("" if no
   board uses it). Returns their number or -errno. */
int debug_store_public(struct debug_store *store, struct span id,
                       struct debug_file ret[DEBUG_PUBLIC_MAX], char path[LIMIT_PATH_BYTES + 1]);

/* Writes to FILES, of DEBUG_SOURCES_MAX, the best file of each quality for module ID that BOARD may
   see, best first. Returns their number, or -errno. */
int debug_store_sources(struct debug_store *store, const char *board, struct span id,
                        struct debug_file *files);

/* Finds an unread file that was sent for module ID and would name BOARD's samples. Returns 0 or
   -ENOENT. */
int debug_store_find_unread(struct debug_store *store, const char *board, struct span id,
                            struct debug_file *ret);

/* Records the build-id that the worker found in a file; empty: it has none, and is identified by
   its SHA-256. Requests to boards that sent it for another module are suspended, with the
   reason. */
int debug_store_set_identity(struct debug_store *store, const uint8_t sha256[32],
                             struct span build_id);

/* The same for a file without an identity, a list of symbols. It belongs to a module that it was
   sent for; an operator's claim takes precedence. */
int debug_store_adopt_identity(struct debug_store *store, const uint8_t sha256[32]);

/* Records the worker's result for a file. A file of quality DEBUG_BAD is deleted from disk. */
int debug_store_set_quality(struct debug_store *store, const uint8_t sha256[32],
                            enum debug_quality quality, const char *reason);

/* Checks the file that BOARD (NULL: an operator) sent last for module ID. Returns 0, also while it
   waits to be read; -EBADMSG if it was rejected or is another module's, with the reason in WHY;
   -ENOENT if there is none. */
int debug_store_judge(struct debug_store *store, const char *board, struct span id, char *why,
                      size_t why_len);

/* Increases whenever an answer about module ID may have changed. */
uint64_t debug_store_generation(const struct debug_store *store, struct span id);

/* Calls ON_FILE, which must not call the store, for each file that an operator has sent and that
   was not rejected. Returns 0, -errno, or the result of ON_FILE. */
int debug_store_list_files(struct debug_store *store,
                           int (*on_file)(void *context, const struct debug_known *file),
                           void *context);

struct debug_module {
  struct span id;
  const char *path;
  enum debug_quality quality;
  bool is_wanted;
  const char *reason; /* why it has no better name */
};

/* Calls ON_MODULE, which must not call the store, for each known module. Returns 0, -errno, or the
   result of ON_MODULE. */
int debug_store_list(struct debug_store *store,
                     int (*on_module)(void *context, const struct debug_module *module),
                     void *context);

#endif
