/* SPDX-License-Identifier: Apache-2.0 */
/* The package or file that a user has to install for names. */
#ifndef REPORT_DEBUG_HINT_H
#define REPORT_DEBUG_HINT_H

#include "profile.h"

enum { DEBUG_HINT_BYTES = 320 };

/* Writes to RET where names of MODULE are available.  This is the debug package, if a Debian
   package under ROOT ("" except in tests) owns its path; else the path of its debug file by
   build-id. */
void debug_hint_print(const char *root, const struct profile_module *module,
                      char ret[DEBUG_HINT_BYTES]);

#endif
