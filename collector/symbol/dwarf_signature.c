/* SPDX-License-Identifier: Apache-2.0 */
/* A symbol says (unsigned long, char const*); debug information has the types that this is made of,
   a reference from each to the next:

     pointer ─▶ const ─▶ char                  char const*
     typedef size_t ─▶ long unsigned int       unsigned long

   Types by name alone do not say in which namespace they are, so parameters of these are left
   untold rather than told unlike the symbol. */
#include "dwarf_signature.h"

#include "common/buf.h"

#include <dwarf.h>
#include <stddef.h>
#include <string.h>

enum { PARTS_MAX = 16 }; /* of one type */

/* GCC's words for types of the language, where they are not the demanglers', and those that are. */
static const struct {
  const char *told, *name;
} plain_types[] = {
    {"bool", "bool"},
    {"char", "char"},
    {"signed char", "signed char"},
    {"unsigned char", "unsigned char"},
    {"short int", "short"},
    {"short", "short"},
    {"short unsigned int", "unsigned short"},
    {"unsigned short", "unsigned short"},
    {"int", "int"},
    {"unsigned int", "unsigned int"},
    {"long int", "long"},
    {"long", "long"},
    {"long unsigned int", "unsigned long"},
    {"unsigned long", "unsigned long"},
    {"long long int", "long long"},
    {"long long", "long long"},
    {"long long unsigned int", "unsigned long long"},
    {"unsigned long long", "unsigned long long"},
    {"__int128", "__int128"},
    {"__int128 unsigned", "unsigned __int128"},
    {"unsigned __int128", "unsigned __int128"},
    {"float", "float"},
    {"double", "double"},
    {"long double", "long double"},
    {"wchar_t", "wchar_t"},
    {"char8_t", "char8_t"},
    {"char16_t", "char16_t"},
    {"char32_t", "char32_t"},
    {"decltype(nullptr)", "decltype(nullptr)"},
};

static const char *plain_name(Dwarf_Die *type) {
  const char *told = dwarf_diename(type);
  for (size_t i = 0; told != NULL && i < sizeof plain_types / sizeof *plain_types; i++)
    if (strcmp(told, plain_types[i].told) == 0) return plain_types[i].name;
  return NULL;
}

static bool next_type(Dwarf_Die *type) {
  Dwarf_Attribute attribute;
  Dwarf_Die next;
  if (dwarf_attr(type, DW_AT_type, &attribute) == NULL) return false;
  if (dwarf_formref_die(&attribute, &next) == NULL) return false;
  *type = next;
  return true;
}

/* What stands behind the name of what TYPE refers to; NULL: it refers to nothing, or is not told.
 */
static const char *part_of(Dwarf_Die *type) {
  switch (dwarf_tag(type)) {
  case DW_TAG_pointer_type:
    return "*";
  case DW_TAG_reference_type:
    return "&";
  case DW_TAG_rvalue_reference_type:
    return "&&";
  case DW_TAG_const_type:
    return " const";
  case DW_TAG_typedef:
    return "";
  default:
    return NULL;
  }
}

/* Appends the type of PARAMETER: that it is const itself is no part of a signature. */
static bool append_type(const Dwarf_Die *parameter, struct buf *ret) {
  const char *parts[PARTS_MAX], *name = NULL;
  unsigned count = 0;
  Dwarf_Die type = *parameter;
  if (!next_type(&type)) return false;
  for (unsigned depth = 0; name == NULL; depth++) {
    const char *part = part_of(&type);
    if (depth == PARTS_MAX) return false;
    if (part == NULL) {
      name = plain_name(&type);
      if (name == NULL) return false;
      break;
    }
    if (*part != '\0' && (count > 0 || *part != ' ')) parts[count++] = part;
    if (!next_type(&type)) name = "void";
  }
  buf_append_string(ret, name);
  while (count > 0) buf_append_string(ret, parts[--count]);
  return true;
}

/* Whether PARAMETER, a pointer to the object, points to what is const. */
static bool is_of_const(const Dwarf_Die *parameter) {
  Dwarf_Die type = *parameter;
  if (!next_type(&type)) return false;
  if (dwarf_tag(&type) == DW_TAG_const_type && !next_type(&type)) return false;
  return dwarf_tag(&type) == DW_TAG_pointer_type && next_type(&type) &&
         dwarf_tag(&type) == DW_TAG_const_type;
}

bool dwarf_signature_print(Dwarf_Die *function, struct buf *ret, bool *ret_is_const) {
  Dwarf_Die child;
  const char *separator = "(";
  bool is_const = false;
  int error = dwarf_child(function, &child);
  for (unsigned i = 0; error == 0; i++, error = dwarf_siblingof(&child, &child)) {
    int tag = dwarf_tag(&child);
    if (i == SIGNATURE_CHILDREN_MAX) return false;
    if (tag != DW_TAG_formal_parameter && tag != DW_TAG_unspecified_parameters) continue;
    if (dwarf_hasattr(&child, DW_AT_artificial)) {
      is_const |= is_of_const(&child);
      continue;
    }
    buf_append_string(ret, separator);
    separator = ", ";
    if (tag == DW_TAG_unspecified_parameters)
      buf_append_string(ret, "...");
    else if (!append_type(&child, ret))
      return false;
  }
  if (error < 0) return false;
  buf_append_string(ret, *separator == '(' ? "()" : ")");
  *ret_is_const = is_const;
  return true;
}
