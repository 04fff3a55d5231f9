/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of the memory of tables that targets map (keeper/table_memory.h): each module's
   table once, by the module's ID. */
#ifndef TARGETS_TABLE_SHARE_H
#define TARGETS_TABLE_SHARE_H

#include "common/table.h"
#include "keeper/table_memory.h"
#include "unwind/unwind_walk.h"

#include "common/span.h"

enum { TABLE_SHARE_MODULES_MAX = 2048 };

struct table_share_row;

struct table_share {
  const struct table_memory *memory; /* borrowed */
  struct table_share_row *rows;
  struct table by_id;
  uint32_t count, room; /* tables held back because no walk needs them yet are not counted */
  uint32_t left_out;    /* part of count: modules without room for their table */
  uint64_t used;        /* bytes */
};

/* Finds the tables that earlier workers have put into MEMORY (borrowed; it may have no base). */
void table_share_open(struct table_share *share, const struct table_memory *memory);
void table_share_close(struct table_share *share);

/* A request for a module's table. */
struct table_share_request {
  struct span id;
  uint32_t uid;   /* of the program's user */
  bool is_needed; /* a walk needs it (modules_need) */
};

/* The place of TABLE, which is copied there if it is new: bytes from the memory's base, valid as
   long as the daemon lives. UNWIND_NO_TABLE if there is no room; if the user has added three
   quarters of all bytes or modules (0 may add all); or if the table is not needed yet and would be
   in the last three eighths of the memory. */
uint64_t table_share_place(struct table_share *share, const struct table_share_request *request,
                           const struct unwind_table *table);

#endif
