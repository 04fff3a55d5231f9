/* SPDX-License-Identifier: Apache-2.0 */
/* Valid board names: 1 to LIMIT_NAME_BYTES of [A-Za-z0-9._-], the first a letter or a digit. So a
   name is safe, without escaping, in a certificate, a URI, a file name and a log line. */
#ifndef IDENTITY_BOARD_NAME_H
#define IDENTITY_BOARD_NAME_H

#include "proto/limits.h"

#include <stdbool.h>
#include <string.h>

enum { BOARD_NAME_BYTES = LIMIT_NAME_BYTES + 1 };

#define BOARD_NAME_ALNUM "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

static inline bool board_name_is_valid(const char *name) {
  size_t len = strnlen(name, BOARD_NAME_BYTES);
  if (len == 0 || len > LIMIT_NAME_BYTES) return false;
  return strspn(name, BOARD_NAME_ALNUM) > 0 && strspn(name, BOARD_NAME_ALNUM "._-") == len;
}

#endif
