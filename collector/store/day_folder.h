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

/* The day of a window: that of its midpoint, so that a day's file holds exactly the blocks of
   that day. */
uint64_t day_midpoint(uint64_t start_ms, uint64_t end_ms);
uint32_t day_of(uint64_t ms);

/* Whether DAY is impossible at NOW_MS: before 2024 or after tomorrow. False if NOW_MS itself is
   before 2024. Pure. */
bool day_is_misdated(uint32_t day, uint64_t now_ms);

/* Writes the path of DAY's file of KIND in DIR.  Returns 0 or -ENAMETOOLONG. */
int day_folder_path(const char *dir, enum day_kind kind, uint32_t day, char path[DAY_PATH_BYTES]);

/* Whether NAME is a name of day_folder_path, of any kind. */
bool day_folder_is_day(const char *name, uint32_t *ret_day);

/* Lists the days that have a file of KIND (DAY_KINDS: of any) in DIR, ascending. The caller
   frees RET. */
int day_folder_list(const char *dir, enum day_kind kind, uint32_t **ret, size_t *ret_count);

/* Bytes that DAY's file of KIND takes, its WAL included; 0 when there is none. */
uint64_t day_folder_bytes(const char *dir, enum day_kind kind, uint32_t day);

/* Deletes DAY's file of KIND, or renames it to `*.corrupt`, with SQLite's files beside it. The
   file must not be open. */
int day_folder_remove(const char *dir, enum day_kind kind, uint32_t day);
int day_folder_set_aside(const char *dir, enum day_kind kind, uint32_t day);

#endif
