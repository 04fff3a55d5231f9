/* SPDX-License-Identifier: Apache-2.0 */
/* Which file code is from. */
#ifndef VIEW_VIEW_BUILD_H
#define VIEW_VIEW_BUILD_H

#include "proto/limits.h"

#include <stdbool.h>
#include <stdint.h>

/* A file of code, whatever it is called: its build-id, or the SHA-256 of one without. */
struct view_build {
  uint8_t id[LIMIT_MODULE_ID_BYTES];
  uint8_t id_len;
};

/* A build of a module of which the tree has code. */
struct view_module {
  const char *name; /* as functions have it */
  struct view_build build;
  bool has_others; /* the tree has other builds of that name */
};

#endif
