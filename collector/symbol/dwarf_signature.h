/* SPDX-License-Identifier: Apache-2.0 */
/* What debug information tells of a C++ function's parameters, in the words of demanglers.  Pure.
 */
#ifndef SYMBOL_DWARF_SIGNATURE_H
#define SYMBOL_DWARF_SIGNATURE_H

#include "common/span.h"

#include <elfutils/libdw.h>

struct buf;

enum { SIGNATURE_CHILDREN_MAX = 1024 }; /* of an entry that are looked at */

/* What is around classes.  FIND tells it of CLASS, each part with "::" behind it, or in RET_WHOLE
   what CLASS is called with that, the same way; it returns false where that is not known.  KEEP is
   told what was found out, TEXT being empty where CLASS cannot be told. */
struct dwarf_classes {
  bool (*find)(void *context, const Dwarf_Die *class, const char **ret_around,
               const char **ret_whole);
  void (*keep)(void *context, const Dwarf_Die *class, struct span text);
  void *context;
};

enum { SIGNATURE_BYTES_MAX = 4096 };

/* Appends the parameters of FUNCTION to RET, "(int, char const*)"; RET_IS_CONST: it is a member
   that leaves its object as it is.  Returns true; false, with anything in RET, when one of them is
   an array or a function or, unless CLASSES are known, of a class, or there are more than are
   looked at. */
bool dwarf_signature_print(const struct dwarf_classes *classes, Dwarf_Die *function,
                           struct buf *ret, bool *ret_is_const);

/* Appends the parameters of CALL, an instance of a lambda's that takes auto, as the source has
   them: "(auto:1&&, int)".  Returns false, with anything in RET, when that cannot be told. */
bool dwarf_signature_print_generic(const struct dwarf_classes *classes, Dwarf_Die *call,
                                   struct buf *ret);

/* Appends CLASS with what is around it, as symbols say it.  Returns false, with anything in RET,
   when that cannot be told. */
bool dwarf_signature_print_class(const struct dwarf_classes *classes, const Dwarf_Die *class,
                                 struct buf *ret);

/* Appends FUNCTION, which has a name and is in AROUND, likewise: its template's arguments, what it
   returns if it is a template, and its parameters if all of them can be told. */
bool dwarf_signature_print_function(const struct dwarf_classes *classes, const char *around,
                                    Dwarf_Die *function, struct buf *ret);

#endif
