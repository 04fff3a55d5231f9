/* SPDX-License-Identifier: Apache-2.0 */
/* What a reader has to install to see names. */
#ifndef REPORT_DEBUG_HINT_H
#define REPORT_DEBUG_HINT_H

#include "profile.h"

enum { DEBUG_HINT_BYTES = 320 };

/* Says in RET where the names of MODULE are to be had: the package with its debug file when a
   Debian package under ROOT ("" but in tests) owns its path, else the place of the debug file by
   build-id. */
void debug_hint_print(const char *root, const struct profile_module *module,
                      char ret[DEBUG_HINT_BYTES]);

#endif
