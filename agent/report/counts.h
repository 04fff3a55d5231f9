/* SPDX-License-Identifier: Apache-2.0 */
/* Counts per address as text, for pipelines of addr2line, paste and sort. */
#ifndef REPORT_COUNTS_H
#define REPORT_COUNTS_H

#include "profile.h"

struct buf;

enum { COUNTS_ALL = UINT32_MAX };

/* Appends the names of PROFILE's code modules, as --module accepts them, to RET. */
void counts_print_modules(const struct profile *profile, struct buf *ret);

/* Finds the ELF module WANTED, a path or its last component; NULL is the program itself.  Returns
   its number, or BATCH_NONE. */
uint32_t counts_find_module(const struct profile *profile, const char *wanted);

/* Appends `count 0xaddress` lines of module MODULE, sorted by address.  For COUNTS_ALL, appends all
   modules, each after a line `# path build-id`.  Returns 0 or -ENOMEM. */
int counts_print(const struct profile *profile, uint32_t module, struct buf *ret);

/* Appends the two columns separately, in the order of counts_print, for one MODULE.  Either may be
   NULL.  Returns 0 or -ENOMEM. */
int counts_print_columns(const struct profile *profile, uint32_t module, struct buf *ret_counts,
                         struct buf *ret_pcs);

#endif
