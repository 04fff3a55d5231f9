/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether day files are intact: briefly, or every row. */
#ifndef STORE_DAY_CHECK_H
#define STORE_DAY_CHECK_H

#include "tier.h"

#include <stddef.h>
#include <stdint.h>

/* Checks the day files in DIR, the newest first, for at most two seconds, and sets damaged ones
   aside. Returns their number; sets RET_UNSEEN to the number of days not checked for lack of time.
   No other code may have a day file open. */
unsigned day_check_start(const char *dir, unsigned *ret_unseen);

/* Reads the whole file PATH of KIND as queries do, and unpacks every block. Returns 0; -EUCLEAN
   with the reason in WHY; or -errno. Beside a running collector call db_stay_beside first. */
int day_check_whole(const char *path, enum day_kind kind, char *why, size_t why_len);

/* Returns the kind of the day file NAME, or DAY_KINDS if NAME is none. */
enum day_kind day_check_kind(const char *name);

#endif
