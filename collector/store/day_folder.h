/* SPDX-License-Identifier: Apache-2.0 */
/* The files of days in the data directory: `day-YYYY-MM-DD.db` and the coarser `minutes-` and
   `hours-`; days in UTC, numbered since 1970. */
#ifndef STORE_DAY_FOLDER_H
#define STORE_DAY_FOLDER_H

#include "tier.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DAY_PATH_BYTES = 4096, DAY_MS = 24 * 3600 * 1000 };

/* The last day that has a four-digit year: 9999-12-31. */
enum { DAY_LAST = 2932896 };

/* The day that a window belongs to: that of its midpoint, so that a day's file holds exactly the
   blocks of that day. */
uint64_t day_midpoint(uint64_t start_ms, uint64_t end_ms);
uint32_t day_of(uint64_t ms);

/* Whether no window can be of DAY, where it is NOW_MS: it is before 2024 or after tomorrow.  A
   clock that is before 2024 itself judges nothing.  Pure. */
bool day_is_misdated(uint32_t day, uint64_t now_ms);

/* Writes the path of DAY's file of KIND in DIR.  Returns 0 or -ENAMETOOLONG. */
int day_folder_path(const char *dir, enum day_kind kind, uint32_t day, char path[DAY_PATH_BYTES]);

/* Whether NAME is what day_folder_path calls a day's file, of whatever kind. */
bool day_folder_is_day(const char *name, uint32_t *ret_day);

/* Lists the days that have a file of KIND (DAY_KINDS: of any) in DIR, ascending; RET is the
   caller's to free. */
int day_folder_list(const char *dir, enum day_kind kind, uint32_t **ret, size_t *ret_count);

/* Bytes that DAY's file of KIND takes, its WAL included; 0 when there is none. */
uint64_t day_folder_bytes(const char *dir, enum day_kind kind, uint32_t day);

/* Deletes DAY's file of KIND, or renames it to `*.corrupt`, with what SQLite keeps beside it.
   Nobody may have it open. */
int day_folder_remove(const char *dir, enum day_kind kind, uint32_t day);
int day_folder_set_aside(const char *dir, enum day_kind kind, uint32_t day);

#endif
