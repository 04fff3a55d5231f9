/* SPDX-License-Identifier: Apache-2.0 */
/* Writes types as symbols do. A symbol has (unsigned long, char const*); debug information has the
   parts of these types, each referring to the next:

     pointer ─▶ const ─▶ char                  char const*
     typedef size_t ─▶ long unsigned int       unsigned long

   The name of a type lacks its namespace. struct dwarf_classes supplies it for classes; without it,
   a function with parameters of classes gets no parameter list, because it would differ from the
   symbol's. Names of templates have arguments in the compiler's words, where two lambdas look
   alike. So the arguments are spelled anew, from the entries that they refer to:

     sort<main()::<lambda(int)> >      sort<main::{lambda(int)#2}> */
#include "dwarf_signature.h"

#include "common/buf.h"

#include <dwarf.h>
#include <stddef.h>
#include <string.h>

enum { PARTS_MAX = 16 /* of one type */, ARGUMENTS_DEPTH_MAX = 3, AUTOS_MAX = 16 };

static const char call_name[] = "operator()";

/* GCC's names of the language's types, with the demanglers' names. */
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

/* Returns the text after the name of the type that TYPE refers to; NULL if TYPE refers to none, or
   has no spelling here. */
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

static bool is_class(Dwarf_Die *type) {
  int tag = dwarf_tag(type);
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
         tag == DW_TAG_enumeration_type;
}

/* Appends the name of TYPE, a plain type or a class. */
static bool append_name(const struct dwarf_classes *classes, Dwarf_Die *type, struct buf *ret) {
  const char *name = plain_name(type);
  if (name != NULL) buf_append_string(ret, name);
  if (name != NULL) return true;
  return classes != NULL && is_class(type) && dwarf_signature_print_class(classes, type, ret);
}

/* Appends the type of ENTRY. If it IS_PARAMETER, its outermost const is left out, as in
   signatures. */
static bool append_type(const struct dwarf_classes *classes, const Dwarf_Die *entry,
                        bool is_parameter, struct buf *ret) {
  const char *parts[PARTS_MAX];
  unsigned count = 0;
  Dwarf_Die type = *entry;
  bool is_void = !next_type(&type);
  if (is_void && is_parameter) return false;
  for (const char *part; !is_void && (part = part_of(&type)) != NULL;) {
    if (count == PARTS_MAX) return false;
    bool is_told = *part != '\0' && (count > 0 || *part != ' ' || !is_parameter);
    if (is_told) parts[count++] = part;
    is_void = !next_type(&type);
  }
  if (is_void)
    buf_append_string(ret, "void");
  else if (!append_name(classes, &type, ret))
    return false;
  while (count > 0) buf_append_string(ret, parts[--count]);
  return true;
}

/* Whether PARAMETER, a pointer to the object, points to a const object. */
static bool is_of_const(const Dwarf_Die *parameter) {
  Dwarf_Die type = *parameter;
  if (!next_type(&type)) return false;
  if (dwarf_tag(&type) == DW_TAG_const_type && !next_type(&type)) return false;
  return dwarf_tag(&type) == DW_TAG_pointer_type && next_type(&type) &&
         dwarf_tag(&type) == DW_TAG_const_type;
}

bool dwarf_signature_print(const struct dwarf_classes *classes, Dwarf_Die *function,
                           struct buf *ret, bool *ret_is_const) {
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
    else if (!append_type(classes, &child, true, ret))
      return false;
  }
  if (error < 0) return false;
  buf_append_string(ret, *separator == '(' ? "()" : ")");
  *ret_is_const = is_const;
  return true;
}

/* ---- lambdas with auto ---- */

/* The parameters of one instance of a lambda's call: types, in order. */
struct instance {
  Dwarf_Die autos[AUTOS_MAX], parameters[AUTOS_MAX];
  const char *first_auto; /* name of the first auto */
  bool are_all;           /* all autos are in the list */
  unsigned auto_count, parameter_count;
};

static bool is_auto(const char *name) {
  return name != NULL && strncmp(name, "auto:", strlen("auto:")) == 0;
}

/* Notes CHILD of a call. Returns false if no spelling can be derived from it. */
static bool note_child(struct instance *instance, Dwarf_Die *child) {
  const char *name = dwarf_diename(child);
  Dwarf_Die type = *child;
  switch (dwarf_tag(child)) {
  case DW_TAG_template_type_parameter:
    if (!is_auto(name) || !next_type(&type)) return false;
    /* GCC writes the whole list twice. */
    if (instance->auto_count > 0) instance->are_all |= strcmp(name, instance->first_auto) == 0;
    if (instance->are_all) return true;
    if (instance->auto_count == AUTOS_MAX) return false;
    if (instance->auto_count == 0) instance->first_auto = name;
    instance->autos[instance->auto_count++] = type;
    return true;
  case DW_TAG_formal_parameter:
    if (dwarf_hasattr(child, DW_AT_artificial)) return true;
    if (instance->parameter_count == AUTOS_MAX) return false;
    instance->parameters[instance->parameter_count++] = *child;
    return true;
  case DW_TAG_template_value_parameter:
  case DW_TAG_GNU_template_parameter_pack:
  case DW_TAG_GNU_formal_parameter_pack:
    return false;
  default:
    return true;
  }
}

/* Whether PARAMETER can have the type of an auto. PARTS: text after "auto" in that case,
   reversed. */
static bool can_be_auto(const Dwarf_Die *parameter, Dwarf_Die *type, const char *parts[PARTS_MAX],
                        unsigned *ret_count) {
  Dwarf_Die at = *parameter;
  unsigned count = 0;
  if (!next_type(&at)) return false;
  bool is_outermost = true;
  while (at.addr != type->addr) {
    const char *part = part_of(&at);
    if (part == NULL || *part == '\0' || count == PARTS_MAX || !next_type(&at)) return false;
    if (!is_outermost || *part != ' ') parts[count++] = part;
    is_outermost = false;
  }
  /* Only auto&& can be a reference. */
  int tag = dwarf_tag(type);
  bool is_reference = tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
  if (is_reference && count > 0) return false;
  if (is_reference) parts[count++] = "&&";
  *ret_count = count;
  return true;
}

/* Assigns autos to parameters, each as early as possible, or as late. RET: the number of each
   parameter's auto, or AUTOS_MAX. Returns whether all autos were assigned. */
static bool assign_autos(struct instance *instance, bool is_early, unsigned ret[AUTOS_MAX]) {
  unsigned found = 0, count = instance->auto_count, parameters = instance->parameter_count;
  for (unsigned i = 0; i < parameters; i++) {
    const char *parts[PARTS_MAX];
    unsigned unused, at = is_early ? i : parameters - 1 - i;
    unsigned wanted = is_early ? found : count - 1 - found;
    bool is_one = found < count &&
                  can_be_auto(&instance->parameters[at], &instance->autos[wanted], parts, &unused);
    ret[at] = is_one ? wanted : AUTOS_MAX;
    found += is_one;
  }
  return found == count;
}

bool dwarf_signature_print_generic(const struct dwarf_classes *classes, Dwarf_Die *call,
                                   struct buf *ret) {
  struct instance instance = {.auto_count = 0};
  unsigned early[AUTOS_MAX], late[AUTOS_MAX];
  Dwarf_Die child;
  int error = dwarf_child(call, &child);
  for (unsigned i = 0; error == 0; i++, error = dwarf_siblingof(&child, &child))
    if (i == SIGNATURE_CHILDREN_MAX || !note_child(&instance, &child)) return false;
  if (error < 0 || instance.auto_count == 0) return false;
  if (!assign_autos(&instance, true, early) || !assign_autos(&instance, false, late)) return false;
  for (unsigned i = 0; i < instance.parameter_count; i++) {
    const char *parts[PARTS_MAX];
    unsigned count;
    if (early[i] != late[i]) return false; /* ambiguous: another type equals an auto */
    buf_append_string(ret, i == 0 ? "(" : ", ");
    if (early[i] == AUTOS_MAX) {
      if (!append_type(classes, &instance.parameters[i], true, ret)) return false;
      continue;
    }
    can_be_auto(&instance.parameters[i], &instance.autos[early[i]], parts, &count);
    buf_printf(ret, "auto:%u", early[i] + 1);
    while (count > 0) buf_append_string(ret, parts[--count]);
  }
  buf_append_byte(ret, ')');
  return true;
}

/* Whether FUNCTION is the call of a lambda with auto, in the scope AROUND. Its printed return type
   is "auto": debug information does not show whether the source had another. */
static bool is_generic_call(const char *around, Dwarf_Die *function) {
  size_t len = strlen(around);
  const char *name = dwarf_diename(function);
  Dwarf_Die child;
  if (len < strlen("}::") || strcmp(around + len - strlen("}::"), "}::") != 0) return false;
  if (name == NULL || strncmp(name, call_name, sizeof call_name - 1) != 0) return false;
  int error = dwarf_child(function, &child);
  for (unsigned i = 0; error == 0 && i < SIGNATURE_CHILDREN_MAX; i++) {
    if (is_auto(dwarf_diename(&child))) return true;
    error = dwarf_siblingof(&child, &child);
  }
  return false;
}

/* ---- templates ---- */

struct arguments {
  const struct dwarf_classes *classes;
  struct buf *ret;
  unsigned count;
  const char *first; /* name of the first parameter */
};

/* Appends a number with its type: 3ul, true, (char)97. */
static bool append_value(struct arguments *arguments, Dwarf_Die *entry) {
  static const struct {
    const char *type, *ending;
  } endings[] = {{"int", ""},         {"unsigned int", "u"},
                 {"long", "l"},       {"unsigned long", "ul"},
                 {"long long", "ll"}, {"unsigned long long", "ull"}};
  struct buf *ret = arguments->ret, type = {0};
  Dwarf_Attribute attribute;
  Dwarf_Sword value;
  Dwarf_Die of = *entry;
  if (dwarf_attr(entry, DW_AT_const_value, &attribute) == NULL) return false;
  if (dwarf_formsdata(&attribute, &value) != 0 || !next_type(&of)) return false;
  bool is_told = append_type(arguments->classes, entry, true, &type) && !type.failed;
  if (is_told && strcmp(buf_text(&type), "bool") == 0) {
    buf_append_string(ret, value != 0 ? "true" : "false");
  } else if (is_told) {
    const char *ending = NULL;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
      if (strcmp(buf_text(&type), endings[i].type) == 0) ending = endings[i].ending;
    if (ending == NULL) buf_printf(ret, "(%s)", buf_text(&type));
    buf_printf(ret, "%lld%s", (long long)value, ending != NULL ? ending : "");
  }
  buf_fini(&type);
  return is_told;
}

static bool append_argument(struct arguments *arguments, Dwarf_Die *entry) {
  Dwarf_Attribute attribute;
  buf_append_string(arguments->ret, arguments->count++ == 0 ? "<" : ", ");
  switch (dwarf_tag(entry)) {
  case DW_TAG_template_type_parameter:
    return append_type(arguments->classes, entry, false, arguments->ret);
  case DW_TAG_template_value_parameter:
    return append_value(arguments, entry);
  default: {
    const char *name = dwarf_formstring(dwarf_attr(entry, DW_AT_GNU_template_name, &attribute));
    if (name != NULL) buf_append_string(arguments->ret, name);
    return name != NULL;
  }
  }
}

/* Appends the arguments among the children of ENTRY, and of packs among these. */
static bool append_arguments(struct arguments *arguments, Dwarf_Die *entry, unsigned depth,
                             bool *ret_is_template) {
  Dwarf_Die child;
  int error = dwarf_child(entry, &child);
  for (unsigned i = 0; error == 0; i++, error = dwarf_siblingof(&child, &child)) {
    if (i == SIGNATURE_CHILDREN_MAX || arguments->ret->len > SIGNATURE_BYTES_MAX) return false;
    int tag = dwarf_tag(&child);
    const char *name = dwarf_diename(&child);
    if (arguments->first != NULL && name != NULL && strcmp(name, arguments->first) == 0)
      return true; /* GCC writes those of lambdas with auto twice */
    bool is_pack = tag == DW_TAG_GNU_template_parameter_pack;
    bool is_argument = tag == DW_TAG_template_type_parameter ||
                       tag == DW_TAG_template_value_parameter ||
                       tag == DW_TAG_GNU_template_template_param;
    *ret_is_template |= is_pack || is_argument;
    if (is_pack && depth == ARGUMENTS_DEPTH_MAX) return false;
    if (is_pack && !append_arguments(arguments, &child, depth + 1, ret_is_template)) return false;
    if (is_argument && !append_argument(arguments, &child)) return false;
    if (is_argument && arguments->count == 1) arguments->first = name;
  }
  return error >= 0;
}

/* Returns the length of NAME without its trailing template arguments. Operators may contain < and >
   too. */
static size_t base_len(const char *name) {
  size_t len = strlen(name), at = len, depth = 0;
  if (len == 0 || name[len - 1] != '>') return len;
  while (at > 0) {
    at--;
    if (name[at] == '>' && (at == 0 || name[at - 1] != '-')) depth++;
    if (name[at] == '<' && --depth == 0) return at;
  }
  return len;
}

/* Appends the name of ENTRY with its arguments. */
static bool append_with_arguments(const struct dwarf_classes *classes, Dwarf_Die *entry,
                                  struct buf *ret, bool *ret_is_template) {
  struct arguments arguments = {.classes = classes, .ret = ret};
  const char *name = dwarf_diename(entry);
  size_t before = ret->len;
  *ret_is_template = false;
  if (name == NULL || before > SIGNATURE_BYTES_MAX) return false;
  buf_append(ret, name, base_len(name));
  if (!append_arguments(&arguments, entry, 0, ret_is_template)) return false;
  if (!*ret_is_template) { /* an operator's sign, or a class that is only declared */
    ret->len = before;
    buf_append_string(ret, name);
    return strchr(name, '<') == NULL || strchr(name, '(') == NULL ||
           strncmp(name, "operator", strlen("operator")) == 0;
  }
  if (arguments.count == 0) buf_append_string(ret, "<");
  buf_append_string(ret, ret->data != NULL && ret->data[ret->len - 1] == '>' ? " >" : ">");
  return !ret->failed;
}

bool dwarf_signature_print_class(const struct dwarf_classes *classes, const Dwarf_Die *class,
                                 struct buf *ret) {
  const char *around, *whole;
  bool is_template;
  Dwarf_Die entry = *class;
  if (!classes->find(classes->context, class, &around, &whole)) return false;
  if (whole != NULL) buf_append(ret, whole, strlen(whole) - strlen("::"));
  if (whole != NULL) return true;
  size_t before = ret->len;
  buf_append_string(ret, around);
  bool is_told = append_with_arguments(classes, &entry, ret, &is_template);
  size_t len = is_told && !ret->failed ? ret->len - before : 0;
  classes->keep(classes->context, class, span_of(ret->data + before, len));
  return is_told;
}

bool dwarf_signature_print_function(const struct dwarf_classes *classes, const char *around,
                                    Dwarf_Die *function, struct buf *ret) {
  struct buf parameters = {0}, returned = {0};
  bool is_template = false, is_const = false;
  buf_append_string(ret, around);
  bool is_told = append_with_arguments(classes, function, ret, &is_template);
  bool has_parameters = is_told && dwarf_signature_print(classes, function, &parameters, &is_const);
  if (has_parameters && is_template && is_generic_call(around, function))
    buf_append_string(&returned, "auto");
  else if (has_parameters && is_template)
    has_parameters = append_type(classes, function, false, &returned);
  if (has_parameters) {
    if (is_template) buf_append_string(&returned, " ");
    buf_append(&returned, ret->data, ret->len);
    buf_append(&returned, parameters.data, parameters.len);
    if (is_const) buf_append_string(&returned, " const");
    buf_clear(ret);
    buf_append(ret, returned.data, returned.len);
  }
  is_told &= !ret->failed && !returned.failed && !parameters.failed;
  buf_fini(&parameters);
  buf_fini(&returned);
  return is_told && ret->len <= SIGNATURE_BYTES_MAX;
}
