/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies files of code by build. */
#ifndef VIEW_VIEW_BUILD_H
#define VIEW_VIEW_BUILD_H

#include "proto/limits.h"

#include <stdbool.h>
#include <stdint.h>

/* A file of code, independent of its name: its build-id, or its SHA-256 if it has none. */
struct view_build {
  uint8_t id[LIMIT_MODULE_ID_BYTES];
  uint8_t id_len;
};

/* A build of a module with code in the tree. */
struct view_module {
  const char *name; /* as in functions */
  struct view_build build;
  bool has_others; /* the tree has other builds of that name */
};

#endif
