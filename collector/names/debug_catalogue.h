/* SPDX-License-Identifier: Apache-2.0 */
/* Which debug files there are, who sent them, whom they name; which modules lack one.  An operator
   is the board "" when sending, and NULL, who sees everything, when asking.  One thread at a
   time. */
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
  uint32_t sender;       /* of INDEX_TEXTS_SENDERS: the operators, or a board */
  bool is_seen;          /* catalogue_each_operator_file alone: a board uses its module */
  char reason[LIMIT_VALUE_BYTES];
};

/* BOARD has sent all bytes of file SHA256, as the file of module ID. */
int catalogue_add_file(sqlite3 *db, const struct catalogue_file *file, const char *board,
                       struct span id);
/* Also forgets who sent it. */
int catalogue_remove_file(sqlite3 *db, struct span sha256);

/* What the worker found. */
int catalogue_set_identity(sqlite3 *db, struct span sha256, struct span build_id);
/* A module that a file was sent for, an operator's word before a board's.  Returns 0,
   -ENOENT or -EIO. */
int catalogue_first_module(sqlite3 *db, struct span sha256, uint8_t ret_id[LIMIT_MODULE_ID_BYTES],
                           size_t *ret_len);
int catalogue_set_quality(sqlite3 *db, struct span sha256, enum debug_quality quality,
                          const char *reason);

/* Each finds one file; returns 0, -ENOENT or another -errno. */
int catalogue_find(sqlite3 *db, struct span sha256, struct catalogue_file *ret);
/* The best one of module ID that was read and is visible to BOARD. */
int catalogue_best(sqlite3 *db, const char *board, struct span id, struct catalogue_file *ret);
/* At most MAX of module ID's that were read and are everybody's, the best first, into RET.  Returns
   their number or -errno. */
int catalogue_public(sqlite3 *db, struct span id, struct catalogue_file *ret, unsigned max);
/* Where a board has module ID, into PATH; "" when none uses it. */
void catalogue_module_path(sqlite3 *db, struct span id, char *path, size_t path_len);
/* The best one of each quality, best first, into FILES of DEBUG_SOURCES_MAX.  Returns their number
   or -errno. */
int catalogue_sources(sqlite3 *db, const char *board, struct span id, struct catalogue_file *files);
/* A supplement of which ID is the build-id. */
int catalogue_supplement(sqlite3 *db, struct span id, struct catalogue_file *ret);
/* One that BOARD, an operator or two boards sent for module ID and no worker has read. */
int catalogue_unread(sqlite3 *db, const char *board, struct span id, struct catalogue_file *ret);
/* The newest one that BOARD (never NULL here) sent as module ID's. */
int catalogue_latest(sqlite3 *db, const char *board, struct span id, struct catalogue_file *ret);
/* The one to give up first: no board has used its module since BEFORE_S. */
int catalogue_idle(sqlite3 *db, int64_t before_s, struct catalogue_file *ret);

/* Whether FILE, which a worker has read, is module ID's. */
bool catalogue_is_file_of(const struct catalogue_file *file, struct span id);

/* Whether BOARD sees a file that knows every function of module ID. */
bool catalogue_has_whole(sqlite3 *db, const char *board, struct span id);

uint64_t catalogue_bytes(sqlite3 *db);
/* Bytes, with its uploads under way, and number of the files that BOARD alone has sent. */
uint64_t catalogue_bytes_of(sqlite3 *db, const char *board);
uint64_t catalogue_files_of(sqlite3 *db, const char *board);

/* BOARD uses module ID.  Of more than DEBUG_MODULES_PER_BOARD the longest unused is forgotten. */
int catalogue_note_module(sqlite3 *db, const char *board, struct span id, const char *path);
/* BOARD is not asked for module ID before UNTIL_S. */
int catalogue_refuse_module(sqlite3 *db, const char *board, struct span id, const char *reason,
                            int64_t until_s);
/* The same for every module that SHA256 was sent for, by every board that sent it.  With BUT not
   empty only for those that it is not the file of: BUT is its build-id. */
int catalogue_refuse_senders(sqlite3 *db, struct span sha256, struct span but, const char *reason,
                             int64_t until_s);
/* Calls ON_MODULE, until it returns false, for each of at most MAX modules of BOARD that it may be
   asked for at NOW_S, the last used first.  Returns 0 or -errno. */
int catalogue_each_unrefused(sqlite3 *db, const char *board, int64_t now_s, int64_t max,
                             bool (*on_module)(void *context, struct span id, const char *path),
                             void *context);
int64_t catalogue_refused_until(sqlite3 *db, const char *board, struct span id);

/* Calls ON_FILE for each file that an operator has sent and that was not refused. */
int catalogue_each_operator_file(sqlite3 *db,
                                 int (*on_file)(void *context, const struct catalogue_file *file),
                                 void *context);

int catalogue_each_module(sqlite3 *db,
                          int (*on_module)(void *context, const struct debug_module *module),
                          void *context);

int64_t catalogue_now_s(void);

#endif
