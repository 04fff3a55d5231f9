/* SPDX-License-Identifier: Apache-2.0 */
/* The unwind tables of all modules that are walked through. They are requested by a module's ID,
   and found on disk or made, one after the other, by a child (table_job.h). */
#ifndef WALK_TABLE_STORE_H
#define WALK_TABLE_STORE_H

#include "table_job.h"

struct table_store;

enum {
  TABLE_STORE_TABLES_MAX = 2048, /* entries, READY or not */
  TABLE_STORE_QUEUE_MAX = 256,   /* waiting to be made */
  TABLE_STORE_AGAIN_MS = 30000,  /* until a temporary result is first retried; doubles each time */
};

struct table_store_limits {
  uint64_t mapped_bytes; /* of READY tables */
  uint64_t cache_bytes;  /* of files in the folder */
  uint32_t again_ms;     /* first delay before UNREADABLE or FAILED is retried */
};

struct table_store_figures {
  uint32_t ready, nothing, unreadable, refused, failed, waiting; /* numbers of modules */
  uint32_t made, left_out; /* made by a child; postponed because the queue was full */
  uint64_t mapped_bytes;   /* of READY tables */
  /* Omissions in the READY tables (unwind_table.h). */
  uint64_t functions_refused, functions_left, untold_rows;
  char functions_why[TABLE_FILE_WHY_BYTES]; /* last table with a refused function; its file */
  char functions_path[LIMIT_PATH_BYTES + 1];
  char why[TABLE_FILE_WHY_BYTES]; /* the last module without a table, and its file */
  char path[LIMIT_PATH_BYTES + 1];
};

/* FOLDER (created if missing) keeps tables from one daemon to the next; NULL: no disk cache. BUILD:
   table_job_build. Returns 0 or -ENOMEM; an unusable folder is ignored. */
int table_store_new(const char *folder, table_build *build, struct table_store **ret);
/* This board's limits for tables with a FOLDER (NULL: none): a share of its memory and of the
   folder's file system. */
void table_store_limits_of_board(const char *folder, struct table_store_limits *ret);
/* Replaces those limits, before the first request. */
void table_store_set_limits(struct table_store *store, const struct table_store_limits *limits);
/* STORE may be NULL. */
void table_store_free(struct table_store *store);

/* The state of WANTED's table. If READY, RET is the table, valid until the next step. The first
   request starts the search and does not wait. */
enum table_state table_store_find(struct table_store *store, const struct table_wanted *wanted,
                                  const struct unwind_table **ret);

/* Takes over the child's result and starts the next child. */
void table_store_step(struct table_store *store);

/* True if a table is being made or queued. */
bool table_store_is_busy(const struct table_store *store);

/* Changes whenever table_store_find may return another result, or a table was unmapped. */
uint64_t table_store_serial(const struct table_store *store);

void table_store_figures(const struct table_store *store, struct table_store_figures *ret);

/* The table of this machine's vDSO, which is the same in all programs; NULL: none. */
const struct unwind_table *table_store_vdso(struct table_store *store);

#endif
