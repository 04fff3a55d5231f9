/* SPDX-License-Identifier: Apache-2.0 */
/* Small tables, a folder for them, and their owners. */
#ifndef WALK_TABLE_FIXTURE_H
#define WALK_TABLE_FIXTURE_H

#include "walk/table_job.h"

enum { FIXTURE_TABLE_BYTES = 64 + 8 + 4 + 4 + 16 };

/* A whole table of one row: from address 0 on every frame address is at the stack pointer + OFFSET.
 */
void fixture_table(int offset, struct buf *ret);

/* The module that begins with the byte FIRST. */
struct table_wanted fixture_wanted(uint8_t first);
struct span fixture_id(const struct table_wanted *wanted);
struct table_mark fixture_mark(const struct table_wanted *wanted, enum table_state state);

/* A new folder, deleted at the end with all its files. */
const char *fixture_folder(void);
void fixture_folder_remove(void);
unsigned fixture_files(void); /* in it */

#endif
