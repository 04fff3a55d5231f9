/* SPDX-License-Identifier: Apache-2.0 */
/* `report --format counts`: addresses without names, for external pipelines. */
#ifndef CLI_REPORT_COUNTS_H
#define CLI_REPORT_COUNTS_H

#include "report/profile.h"
#include "report_settings.h"

/* Writes the counts of PROFILE to stdout, and to the fifo if one is named.  Returns 0, or -errno
   with one line on stderr. */
int report_counts(const struct report_settings *settings, const struct profile *profile);

/* Reports that PROFILE has no module WANTED, and lists its modules. */
void report_counts_tell_modules(const char *wanted, const struct profile *profile);

#endif
