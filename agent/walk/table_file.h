/* SPDX-License-Identifier: Apache-2.0 */
/* A module's unwind table as a file, and the folder of these files. */
#ifndef WALK_TABLE_FILE_H
#define WALK_TABLE_FILE_H

#include "common/span.h"
#include "proto/limits.h"
#include "unwind/unwind_table.h"

#define UNWIND_CACHE_BYTES_MAX (64ULL << 20) /* for all files in the folder */

enum {
  TABLE_FILE_MAGIC = 0x4b4d5446, /* "FTMK" */
  TABLE_FILE_VERSION = 2,        /* incremented when tables are made or named differently */
  TABLE_FILE_WHY_BYTES = 96,
  TABLE_FILE_NAME_BYTES = 2 * LIMIT_MODULE_ID_BYTES + 16,
};

/* The state of a module's table. */
enum table_state {
  TABLE_WAITING = 0, /* being made: ask again */
  TABLE_READY,
  TABLE_NOTHING,    /* the module has no unwind information */
  TABLE_UNREADABLE, /* its file is gone, or not readable for the daemon */
  TABLE_REFUSED,    /* the file's contents are invalid */
  TABLE_FAILED,     /* the child died, or had no memory */
};

/* At the end of a file, after the table (present only for TABLE_READY). In the machine's own byte
   order. FAILED and UNREADABLE are temporary and never written to disk. */
struct table_mark {
  uint32_t magic;
  uint16_t version;
  uint16_t table_version; /* UNWIND_TABLE_VERSION */
  uint32_t state;         /* enum table_state */
  uint32_t id_bytes;
  uint64_t table_bytes;
  uint64_t checksum; /* table_hash of the table */
  uint8_t id[LIMIT_MODULE_ID_BYTES];
  char why[TABLE_FILE_WHY_BYTES]; /* NUL-terminated */
};

_Static_assert(sizeof(struct table_mark) == 192, "a format");

/* A table that has been read. */
struct table_file {
  enum table_state state;
  const struct unwind_table *table; /* READY: mapped read-only, total_bytes long */
  char why[TABLE_FILE_WHY_BYTES];
};

/* Writes the file's name for ID. */
void table_file_name(struct span id, char ret[TABLE_FILE_NAME_BYTES]);

/* Writes TABLE and its MARK (fills in checksum and versions) to FD. Returns 0 or -errno. */
int table_file_write(int fd, struct span table, struct table_mark *mark);

/* Reads and checks the file at FD, of the module ID. Returns 0, -EPROTO for another version or
   module, -EBADMSG if it is incomplete or corrupt, or another -errno. */
int table_file_read(int fd, struct span id, struct table_file *ret);
void table_file_unmap(struct table_file *file);

/* Stores TABLE and MARK in FOLDER under the name of ID, atomically. Then evicts the least recently
   used files until the total is at most BYTES_MAX. Returns 0 or -errno. */
int table_file_keep(const char *folder, struct span table, struct table_mark *mark,
                    uint64_t bytes_max);

/* Opens the file of ID in FOLDER and records its use. Returns the descriptor or -errno. */
int table_file_open(const char *folder, struct span id);
void table_file_remove(const char *folder, struct span id);

/* The total size in bytes of all files in FOLDER. */
uint64_t table_file_sum(const char *folder);

#endif
