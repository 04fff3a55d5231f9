/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions a question means.  Pure. */
#ifndef QUERY_ASKED_NAME_H
#define QUERY_ASKED_NAME_H

#include <stdbool.h>

/* Whether ASKED is NAME, or NAME without what C++ writes around a function's name: the return type
   before it, and from its arguments on everything behind.  `shop::order` means
   `int shop::order(std::string const&) const`, as well as each of its overloads. */
bool asked_name_is(const char *asked, const char *name);

#endif
