/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions a question means.  Pure. */
#ifndef QUERY_ASKED_NAME_H
#define QUERY_ASKED_NAME_H

#include <stdbool.h>

/* Whether ASKED is NAME, or NAME without what C++ writes around a function's name: the return type
   before it, and from its arguments on everything behind.  `shop::order` means
   `int shop::order(std::string const&) const`, as well as each of its overloads. */
bool asked_name_is(const char *asked, const char *name);

struct view_function;

/* Whether FUNCTION is what ASKED means: a name as above, or of one without a name its address in
   any build (`app+0x1f40`) or in its own (`app+0x1f40 [01020304]`), whether its name tells that or
   not. */
bool asked_function_is(const char *asked, const struct view_function *function);

#endif
