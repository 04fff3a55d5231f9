/* SPDX-License-Identifier: Apache-2.0 */
/* What debug information tells of a C++ function's parameters, in the words of demanglers.  Pure.
 */
#ifndef SYMBOL_DWARF_SIGNATURE_H
#define SYMBOL_DWARF_SIGNATURE_H

#include <stdbool.h>

#include <elfutils/libdw.h>

struct buf;

enum { SIGNATURE_CHILDREN_MAX = 1024 }; /* of an entry that are looked at */

/* Appends the parameters of FUNCTION to RET, "(int, char const*)"; RET_IS_CONST: it is a member
   that leaves its object as it is.  Returns true; false, with anything in RET, when one of them is
   of a class, an array or a function, or there are more than are looked at. */
bool dwarf_signature_print(Dwarf_Die *function, struct buf *ret, bool *ret_is_const);

#endif
