/* SPDX-License-Identifier: Apache-2.0 */
/* What the name of a source says.  Pure. */
#ifndef UPLOAD_BUNDLE_NAME_H
#define UPLOAD_BUNDLE_NAME_H

#include <stdbool.h>

/* Whether PATH has a name that sources of programs have: x.c, x.rs, or any below a folder `include`
   that has no suffix (C++'s headers). */
bool bundle_name_is_source(const char *path);

#endif
