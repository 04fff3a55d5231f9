/* SPDX-License-Identifier: Apache-2.0 */
/* Reports functions without names. */
#ifndef CLI_REPORT_NAMES_H
#define CLI_REPORT_NAMES_H

#include "report/named_tree.h"

/* Reports on stderr the modules of PROFILE with significant weight in functions without names: how
   much, why, and the remedy.  Names come from NAMER and NAMES (or NULL).  Unless IS_ALL_TOLD, only
   modules with a replaced or missing file are reported. */
void report_names_tell(const struct profile *profile, struct namer *namer,
                       const struct answer *names, bool is_all_told);

#endif
