/* SPDX-License-Identifier: Apache-2.0 */
/* The unwind tables of all modules that are walked through: asked for by a module's id, found on
   the disk or made, one after the other, by a child (table_job.h). */
#ifndef WALK_TABLE_STORE_H
#define WALK_TABLE_STORE_H

#include "table_job.h"

struct table_store;

enum {
  TABLE_STORE_TABLES_MAX = 2048, /* known at once, READY or not */
  TABLE_STORE_QUEUE_MAX = 256,   /* that wait to be made */
  TABLE_STORE_AGAIN_MS = 30000,  /* until what is of the moment is tried again; then twice that */
};

struct table_store_limits {
  uint64_t mapped_bytes; /* of tables that are ready */
  uint64_t cache_bytes;  /* of files in the folder */
  uint32_t again_ms;     /* before UNREADABLE or FAILED is tried again, the first time */
};

struct table_store_figures {
  uint32_t ready, nothing, unreadable, refused, failed, waiting; /* modules */
  uint32_t made, left_out; /* by a child; not at once, as too many waited */
  uint64_t mapped_bytes;   /* of those that are ready */
  /* In the tables that are ready: what could not be said of functions (unwind_table.h). */
  uint64_t functions_refused, functions_left, untold_rows;
  char functions_why[TABLE_FILE_WHY_BYTES]; /* of the last with a refused one, and which file */
  char functions_path[LIMIT_PATH_BYTES + 1];
  char why[TABLE_FILE_WHY_BYTES]; /* of the last one without a table, and of which file */
  char path[LIMIT_PATH_BYTES + 1];
};

/* FOLDER (made where it is missing) keeps tables from one daemon to the next; NULL: nothing does.
   BUILD: table_job_build.  Returns 0 or -ENOMEM; a folder that cannot be had is done without. */
int table_store_new(const char *folder, table_build *build, struct table_store **ret);
/* What this board has for tables with a FOLDER (NULL: none): a share of its memory and of the
   folder's file system. */
void table_store_limits_of_board(const char *folder, struct table_store_limits *ret);
/* Others than those, before the first question. */
void table_store_set_limits(struct table_store *store, const struct table_store_limits *limits);
/* NULL is fine. */
void table_store_free(struct table_store *store);

/* What is known of WANTED's table; READY: it is RET, good until the next step.  Asked for the first
   time it is looked for, and waited for by nobody. */
enum table_state table_store_find(struct table_store *store, const struct table_wanted *wanted,
                                  const struct unwind_table **ret);

/* Takes what the child has made and lets it make the next. */
void table_store_step(struct table_store *store);

/* A table is being made, or waits to be. */
bool table_store_is_busy(const struct table_store *store);

/* Another number whenever table_store_find might say something else, or a table has gone. */
uint64_t table_store_serial(const struct table_store *store);

void table_store_figures(const struct table_store *store, struct table_store_figures *ret);

/* The table of this machine's vDSO, which is the same in all its programs; NULL: none. */
const struct unwind_table *table_store_vdso(struct table_store *store);

#endif
