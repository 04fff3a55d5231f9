/* SPDX-License-Identifier: Apache-2.0 */
/* Spells a C++ function's parameters from debug information as demanglers do. Pure. */
#ifndef SYMBOL_DWARF_SIGNATURE_H
#define SYMBOL_DWARF_SIGNATURE_H

#include "common/span.h"

#include <elfutils/libdw.h>

struct buf;

enum { SIGNATURE_CHILDREN_MAX = 1024 }; /* children of an entry to read */

/* Scopes of classes. FIND sets RET_AROUND to the scope of CLASS, each part followed by "::", or
   RET_WHOLE to the full name of CLASS followed by "::". It returns false if CLASS is unknown. KEEP
   receives the derived name; TEXT is empty if CLASS has no spelling. */
struct dwarf_classes {
  bool (*find)(void *context, const Dwarf_Die *class, const char **ret_around,
               const char **ret_whole);
  void (*keep)(void *context, const Dwarf_Die *class, struct span text);
  void *context;
};

enum { SIGNATURE_BYTES_MAX = 4096 };

/* Appends the parameters of FUNCTION to RET, "(int, char const*)". RET_IS_CONST: it is a const
   member function. Returns true. Returns false, with undefined text in RET, if a parameter is an
   array, a function, or a class that CLASSES does not have. So it does with more than
   SIGNATURE_CHILDREN_MAX children. */
bool dwarf_signature_print(const struct dwarf_classes *classes, Dwarf_Die *function,
                           struct buf *ret, bool *ret_is_const);

/* Appends the parameters of CALL, an instance of the call of a lambda with auto, as in the source:
   "(auto:1&&, int)". Returns false, with undefined text in RET, if they cannot be derived. */
bool dwarf_signature_print_generic(const struct dwarf_classes *classes, Dwarf_Die *call,
                                   struct buf *ret);

/* Appends CLASS with its scope, as in symbols. Returns false, with undefined text in RET, if it has
   no spelling. */
bool dwarf_signature_print_class(const struct dwarf_classes *classes, const Dwarf_Die *class,
                                 struct buf *ret);

/* Appends FUNCTION, which has a name and the scope AROUND, likewise: its template arguments, its
   return type if it is a template, and its parameters if all of them have a spelling. */
bool dwarf_signature_print_function(const struct dwarf_classes *classes, const char *around,
                                    Dwarf_Die *function, struct buf *ret);

#endif
