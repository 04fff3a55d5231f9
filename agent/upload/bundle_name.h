/* SPDX-License-Identifier: Apache-2.0 */
/* Recognizes source files by name.  Pure. */
#ifndef UPLOAD_BUNDLE_NAME_H
#define UPLOAD_BUNDLE_NAME_H

#include <stdbool.h>

/* Whether PATH has the name of a source: x.c, x.rs, or any name without a suffix below a folder
   `include` (C++ headers). */
bool bundle_name_is_source(const char *path);

#endif
