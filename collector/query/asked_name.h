/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which functions a query denotes, without I/O. */
#ifndef QUERY_ASKED_NAME_H
#define QUERY_ASKED_NAME_H

#include <stdbool.h>

/* Returns whether ASKED is NAME, or NAME without the C++ parts around the function's name: the
   return type, and the arguments with all that follows. `shop::order` denotes `int
   shop::order(std::string const&) const` and each of its overloads. */
bool asked_name_is(const char *asked, const char *name);

struct view_function;

/* Returns whether ASKED denotes FUNCTION: by name as above, or for a function without a name by its
   address, in any build (`app+0x1f40`) or in its own (`app+0x1f40 [01020304]`), whether or not its
   own name contains the build. */
bool asked_function_is(const char *asked, const struct view_function *function);

#endif
