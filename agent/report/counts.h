/* SPDX-License-Identifier: Apache-2.0 */
/* Count-PC text: how often each address was seen, for pipelines of addr2line, paste and sort. */
#ifndef REPORT_COUNTS_H
#define REPORT_COUNTS_H

#include "profile.h"

struct buf;

enum { COUNTS_ALL = UINT32_MAX };

/* Appends the names of PROFILE's modules of code, what they could be asked for by, to RET. */
void counts_print_modules(const struct profile *profile, struct buf *ret);

/* Finds the ELF module that WANTED names, a path or the last part of one; the program's own when
   WANTED is NULL.  Returns its number, or BATCH_NONE. */
uint32_t counts_find_module(const struct profile *profile, const char *wanted);

/* Appends `count 0xaddress` lines of module MODULE, by address; of COUNTS_ALL modules, each behind
   a line `# path build-id`.  Returns 0 or -ENOMEM. */
int counts_print(const struct profile *profile, uint32_t module, struct buf *ret);

/* Appends the two columns apart, line by line the same as counts_print, for one MODULE.  Either may
   be NULL.  Returns 0 or -ENOMEM. */
int counts_print_columns(const struct profile *profile, uint32_t module, struct buf *ret_counts,
                         struct buf *ret_pcs);

#endif
