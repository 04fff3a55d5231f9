/* SPDX-License-Identifier: Apache-2.0 */
/* Whether day files are sound: at a glance, and to the last row. */
#ifndef STORE_DAY_CHECK_H
#define STORE_DAY_CHECK_H

#include "tier.h"

#include <stddef.h>
#include <stdint.h>

/* Looks at the files of days in DIR, the newest first, for two seconds at most, and sets the
   damaged ones aside.  Returns how many; RET_UNSEEN is how many there was no time for.  Nobody may
   have one open. */
unsigned day_check_start(const char *dir, unsigned *ret_unseen);

/* Reads the file PATH of KIND through as queries do, every block unpacked.  Returns 0; -EUCLEAN
   with WHY; or -errno.  Beside a collector: behind db_stay_beside. */
int day_check_whole(const char *path, enum day_kind kind, char *why, size_t why_len);

/* Which kind of day file NAME, in a collector's folder, is; DAY_KINDS: none. */
enum day_kind day_check_kind(const char *name);

#endif
