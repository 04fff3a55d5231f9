/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps regular expressions from the C library that it cannot compile in bounded time and memory.
 */
#ifndef QUERY_REGEX_GUARD_H
#define QUERY_REGEX_GUARD_H

#include <stddef.h>

enum { REGEX_SIZE_MAX = 1024 };

/* Looks at REGEX (POSIX extended, at most SELECTOR_REGEX_MAX bytes).  Returns NULL, or what is
   wrong with it; RET_SIZE is how many atoms and loops it has with its counts written out. */
const char *regex_guard(const char *regex, size_t *ret_size);

#endif
