/* SPDX-License-Identifier: Apache-2.0 */
/* What a report has no names for. */
#ifndef CLI_REPORT_NAMES_H
#define CLI_REPORT_NAMES_H

#include "report/named_tree.h"

/* Says on stderr which modules of PROFILE, named by NAMER and NAMES (or NULL), have functions
   without a name that are worth a word: how much, why, and what to do about it.  Unless IS_ALL_TOLD
   only of those whose file is another one by now, or not there. */
void report_names_tell(const struct profile *profile, struct namer *namer,
                       const struct answer *names, bool is_all_told);

#endif
