/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue of debug files: their senders, the modules that they name, and modules without a
   file. An operator is the board "" as a sender. As the reader of a query, an operator is NULL and
   sees all files. One thread at a time. */
#ifndef NAMES_DEBUG_CATALOGUE_H
#define NAMES_DEBUG_CATALOGUE_H

#include "debug_store.h"
#include "proto/limits.h"

#include <sqlite3.h>

struct catalogue_file {
  uint8_t sha256[32];
  uint64_t bytes;
  enum debug_quality quality;
  uint8_t build_id[LIMIT_MODULE_ID_BYTES];
  uint32_t build_id_len; /* 0: not read yet */
  uint32_t sender;       /* below INDEX_TEXTS_SENDERS: the operators, or a board */
  bool is_seen;          /* set only by catalogue_each_operator_file: a board uses its module */
  char reason[LIMIT_VALUE_BYTES];
};

/* Records that BOARD has sent the whole FILE for module ID. */
int catalogue_add_file(sqlite3 *db, const struct catalogue_file *file, const char *board,
                       struct span id);
/* Also deletes its origins. */
int catalogue_remove_file(sqlite3 *db, struct span sha256);

/* Stores the build-id that the worker found. */
int catalogue_set_identity(sqlite3 *db, struct span sha256, struct span build_id);
/* Finds a module that the file was sent for; an operator's claim takes precedence over a board's.
   Returns 0, -ENOENT or -EIO. */
int catalogue_first_module(sqlite3 *db, struct span sha256, uint8_t ret_id[LIMIT_MODULE_ID_BYTES],
                           size_t *ret_len);
int catalogue_set_quality(sqlite3 *db, struct span sha256, enum debug_quality quality,
                          const char *reason);

/* Each finds one file; returns 0, -ENOENT or another -errno. */
int catalogue_find(sqlite3 *db, struct span sha256, struct catalogue_file *ret);
/* Finds the best file of module ID that was read and is visible to BOARD. */
int catalogue_best(sqlite3 *db, const char *board, struct span id, struct catalogue_file *ret);
/* Writes to RET at most MAX files of module ID that were read and are visible to all, best first.
   Returns their number or -errno. */
int catalogue_public(sqlite3 *db, struct span id, struct catalogue_file *ret, unsigned max);
/* Writes the path of module ID on a board to PATH; "" if no board uses it. */
void catalogue_module_path(sqlite3 *db, struct span id, char *path, size_t path_len);
/* Writes the best file of each quality, best first, to FILES of DEBUG_SOURCES_MAX. Returns their
   number or -errno. */
int catalogue_sources(sqlite3 *db, const char *board, struct span id, struct catalogue_file *files);
/* Finds a supplement with build-id ID. */
int catalogue_supplement(sqlite3 *db, struct span id, struct catalogue_file *ret);
/* Finds an unread file that BOARD, an operator or two boards sent for module ID. */
int catalogue_unread(sqlite3 *db, const char *board, struct span id, struct catalogue_file *ret);
/* Finds the newest file that BOARD, never NULL here, sent for module ID. */
int catalogue_latest(sqlite3 *db, const char *board, struct span id, struct catalogue_file *ret);
/* Finds the file to evict first: no board has used its module since BEFORE_S. */
int catalogue_idle(sqlite3 *db, int64_t before_s, struct catalogue_file *ret);

/* Whether FILE, which a worker has read, belongs to module ID. */
bool catalogue_is_file_of(const struct catalogue_file *file, struct span id);

/* Whether BOARD sees a file with every function of module ID. */
bool catalogue_has_whole(sqlite3 *db, const char *board, struct span id);

uint64_t catalogue_bytes(sqlite3 *db);
/* Bytes, including partial uploads, and number of the files that only BOARD has sent. */
uint64_t catalogue_bytes_of(sqlite3 *db, const char *board);
uint64_t catalogue_files_of(sqlite3 *db, const char *board);

/* Records that BOARD uses module ID. Beyond DEBUG_MODULES_PER_BOARD the least recently used modules
   are deleted. */
int catalogue_note_module(sqlite3 *db, const char *board, struct span id, const char *path);
/* Suspends requests to BOARD for module ID until UNTIL_S. */
int catalogue_refuse_module(sqlite3 *db, const char *board, struct span id, const char *reason,
                            int64_t until_s);
/* The same for every module and board in the origins of SHA256. If BUT is not empty, it is the
   file's build-id, and modules that the file belongs to are left out. */
int catalogue_refuse_senders(sqlite3 *db, struct span sha256, struct span but, const char *reason,
                             int64_t until_s);
/* Calls ON_MODULE, until it returns false, for at most MAX modules that may be requested from BOARD
   at NOW_S, the last used first. Returns 0 or -errno. */
int catalogue_each_unrefused(sqlite3 *db, const char *board, int64_t now_s, int64_t max,
                             bool (*on_module)(void *context, struct span id, const char *path),
                             void *context);
int64_t catalogue_refused_until(sqlite3 *db, const char *board, struct span id);

/* Calls ON_FILE for each file that an operator has sent and that was not rejected. */
int catalogue_each_operator_file(sqlite3 *db,
                                 int (*on_file)(void *context, const struct catalogue_file *file),
                                 void *context);

int catalogue_each_module(sqlite3 *db,
                          int (*on_module)(void *context, const struct debug_module *module),
                          void *context);

int64_t catalogue_now_s(void);

#endif
