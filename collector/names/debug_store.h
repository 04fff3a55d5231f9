/* SPDX-License-Identifier: Apache-2.0 */
/* Debug files by build-id, as boards and operators send them, and how good each is.

   A file that one board sent names only that board's samples; a second board sending the same
   bytes, or an operator, makes it everybody's.  Files are kept under the SHA-256 of their bytes.
   What boards are asked for is in debug_wishes.h.  Any thread. */
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

/* Notes in the catalogue which store DIR's landing file is; once that is open. */
void debug_store_mark(struct debug_store *store, const char *dir);

/* What is wrong with DIR's catalogue as a whole, though it may be sound; NULL: nothing.  Changes
   nothing. */
const char *debug_store_find_loss(const char *dir);

/* What was wrong with the catalogue when it was opened; NULL: nothing. */
const char *debug_store_loss(const struct debug_store *store);

/* BOARD cannot send module ID; it is not asked again for a while. */
void debug_store_unavailable(struct debug_store *store, const char *board, struct span id,
                             const char *reason);

struct debug_piece {
  const char *board; /* sender's name; NULL for an operator */
  struct span id;
  uint64_t offset, total;
  struct span sha256; /* of the whole file; 32 bytes, or empty from an operator */
  struct span bytes;
};

/* Writes one piece.  Returns 1 when the file is now whole and its hash right (symbolizer_prepare
   then has the worker read it, which tells whether it is that module's), 0 when more is expected,
   -ESPIPE when an operator's is not where the upload goes on, -EBADMSG (wrong hash, no ELF file,
   refused before, another module's), -EOVERFLOW (a limit), or -errno; WHY says what.  The last
   piece takes as long as hashing it all. */
int debug_store_write(struct debug_store *store, const struct debug_piece *piece, char *why,
                      size_t why_len);

/* Finds the best file for module ID as BOARD may see it (NULL: an operator, sees all), or the
   supplement ID.  Returns 0 or -ENOENT. */
int debug_store_find(struct debug_store *store, const char *board, struct span id,
                     struct debug_file *ret);

/* Finds the files of module ID that everybody may see: an operator, or two boards, have sent them.
   The best first, at most DEBUG_PUBLIC_MAX, into RET; where a board has the module into PATH (""
   when none uses it).  Returns their number or -errno. */
int debug_store_public(struct debug_store *store, struct span id,
                       struct debug_file ret[DEBUG_PUBLIC_MAX], char path[LIMIT_PATH_BYTES + 1]);

/* Finds the best file of each quality that names module ID, as BOARD may see it, best first, into
   FILES of DEBUG_SOURCES_MAX.  Returns their number, or -errno. */
int debug_store_sources(struct debug_store *store, const char *board, struct span id,
                        struct debug_file *files);

/* Finds a file that was sent for module ID, would name BOARD's samples, and nobody read: 0 or
   -ENOENT. */
int debug_store_find_unread(struct debug_store *store, const char *board, struct span id,
                            struct debug_file *ret);

/* Records the build-id that the worker found in a file; empty when it carries none: such a file is
   known by its SHA-256.  Boards that sent it for another module are told off. */
int debug_store_set_identity(struct debug_store *store, const uint8_t sha256[32],
                             struct span build_id);

/* The same for a file that does not say whose it is, a list of symbols: it is the
   module's that it was sent for, before others the one an operator named. */
int debug_store_adopt_identity(struct debug_store *store, const uint8_t sha256[32]);

/* Records what the worker made of a file.  One of quality DEBUG_BAD is removed from disk. */
int debug_store_set_quality(struct debug_store *store, const uint8_t sha256[32],
                            enum debug_quality quality, const char *reason);

/* Judges the file that BOARD (NULL: an operator) sent last for module ID.  Returns 0, also while it
   waits to be read; -EBADMSG: refused or another module's, WHY says why; -ENOENT: it sent none. */
int debug_store_judge(struct debug_store *store, const char *board, struct span id, char *why,
                      size_t why_len);

/* Grows whenever an answer about module ID may have changed. */
uint64_t debug_store_generation(const struct debug_store *store, struct span id);

/* Calls ON_FILE, which must not call the store, for each file that an operator has sent and that
   was not refused.  Returns 0, -errno, or what ON_FILE returned. */
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

/* Calls ON_MODULE, which must not call the store, for each known module.  Returns 0, -errno, or
   what ON_MODULE returned. */
int debug_store_list(struct debug_store *store,
                     int (*on_module)(void *context, const struct debug_module *module),
                     void *context);

#endif
