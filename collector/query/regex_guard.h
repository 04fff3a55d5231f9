/* SPDX-License-Identifier: Apache-2.0 */
/* Rejects regular expressions that the C library cannot compile in bounded time and memory. */
#ifndef QUERY_REGEX_GUARD_H
#define QUERY_REGEX_GUARD_H

#include <stddef.h>

enum { REGEX_SIZE_MAX = 1024 };

/* Checks REGEX (POSIX extended, at most SELECTOR_REGEX_MAX bytes). Returns NULL or an error
   message. RET_SIZE is the number of its atoms and loops after expanding counts. */
const char *regex_guard(const char *regex, size_t *ret_size);

#endif
