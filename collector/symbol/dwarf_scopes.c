/* SPDX-License-Identifier: Apache-2.0 */
/* Compilers give linkage names only to functions that are visible to other files. A function of an
   anonymous namespace, a static function and a lambda have the names `step`, `parse` and
   `operator()`. Other functions of the program share these names, and a table would merge them in
   one row. The full name follows from the enclosing entries, so a unit of C++ is walked once before
   its functions are read:

     namespace alpha { namespace { struct Stage { int step(int); }; } }
       a symbol starts at an instance of it   _ZN5alpha12_GLOBAL__N_15Stage4stepEi
       none does: all of them were inlined    alpha::(anonymous namespace)::Stage::step(int)

     int stir(int x) { auto f = [](int y) ...
       likewise                               stir(int)::{lambda(int)#1}::operator()(int) const

   Entries without a name are numbered in the entry that declares them, as in symbols: one more line
   above does not change the name. Scopes and parameters, with template arguments, are written as in
   a symbol, as far as debug information has them (dwarf_signature.h). So a build that inlined the
   function everywhere gives it the same name as a build that did not.

   A copy that the compiler made (`.constprop.0`) is the same function, so the suffix from the point
   on is dropped. All instances, inlined or not, refer to the entry that has the name, so all get
   the same name. */
#include "dwarf_scopes.h"

#include "common/array.h"
#include "common/buf.h"
#include "demangle.h"
#include "dwarf_signature.h"
#include "symbol_set.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRY_DEPTH_MAX = 512, REFERENCES_MAX = 16, NAMES_MAX = 4 << 20 };

/* Information about the function named at a place. */
struct scoped_name {
  const char *scope;      /* the enclosing scopes, each followed by "::"; may be "" */
  const char *symbol;     /* or NULL */
  const char *signature;  /* text after its name if it has no symbol; or NULL */
  const char *whole;      /* the full name once it is built; or NULL */
  Dwarf_Die named, class; /* of a template or its member: the entry with its name, and its class */
  bool is_template, has_class;
};

struct scoped_class {
  const char *around, *whole; /* as in struct dwarf_classes */
};

struct scope_walk {
  struct dwarf_scopes *scopes;
  const struct symbol_set *set;
  bool numbers_all_lambdas; /* number all lambdas of a function in one sequence, whatever their
                               parameters */
};

/* A function that contains entries. */
struct outer_function {
  Dwarf_Die named;    /* the entry that has its name */
  const char *symbol; /* or NULL */
  bool is_there;
};

struct scope_level {
  Dwarf_Die entry;
  const char *scope;
  struct outer_function function;
  Dwarf_Die class; /* that contains the entries */
  bool has_class;
};

void dwarf_scopes_fini(struct dwarf_scopes *scopes) {
  if (scopes->has_texts) arena_fini(&scopes->texts);
  table_fini(&scopes->by_place);
  table_fini(&scopes->symbols);
  table_fini(&scopes->by_kind);
  table_fini(&scopes->by_class);
  free(scopes->classes);
  free(scopes->names);
  free(scopes->numbers);
  *scopes = (struct dwarf_scopes){0};
}

/* Codes that the list of languages (dwarfstd.org) received after DWARF 5; elfutils' header lacks
   them. Clang uses them. Dialects of C++ count as C++. */
enum {
  LANG_C_PLUS_PLUS_17 = 0x2a,
  LANG_C_PLUS_PLUS_20 = 0x2b,
  LANG_HIP = 0x30,
  LANG_OPENCL_C_PLUS_PLUS = 0x37,
  LANG_C_PLUS_PLUS_FOR_OPENCL = 0x38,
  LANG_SYCL = 0x39,
  LANG_C_PLUS_PLUS_23 = 0x3a,
};

/* Rust is absent: rustc gives all its functions linkage names. */
static bool is_of_cplusplus(Dwarf_Die *unit) {
  switch (dwarf_srclang(unit)) {
  case DW_LANG_C_plus_plus:
  case DW_LANG_C_plus_plus_03:
  case DW_LANG_C_plus_plus_11:
  case DW_LANG_C_plus_plus_14:
  case DW_LANG_ObjC_plus_plus:
  case LANG_C_PLUS_PLUS_17:
  case LANG_C_PLUS_PLUS_20:
  case LANG_C_PLUS_PLUS_23:
  case LANG_HIP:
  case LANG_OPENCL_C_PLUS_PLUS:
  case LANG_C_PLUS_PLUS_FOR_OPENCL:
  case LANG_SYCL:
    return true;
  default:
    return false;
  }
}

/* Returns FIRST SECOND THIRD. Returns NULL if that is too long or memory runs out; then the name is
   left out. */
static const char *join(struct dwarf_scopes *scopes, const char *first, struct span second,
                        const char *third) {
  size_t before = strlen(first), after = strlen(third);
  if (second.len > SCOPE_BYTES_MAX || before + second.len + after > SCOPE_BYTES_MAX) return NULL;
  if (!scopes->has_texts) arena_init(&scopes->texts, SCOPE_TEXTS_BYTES_MAX);
  scopes->has_texts = true;
  char *text = arena_alloc(&scopes->texts, before + second.len + after + 1);
  if (text == NULL) return NULL;
  memcpy(text, first, before);
  memcpy(text + before, second.data, second.len);
  memcpy(text + before + second.len, third, after + 1);
  return text;
}

/* ---- symbols ---- */

static int list_symbols(struct scope_walk *walk) {
  struct dwarf_scopes *scopes = walk->scopes;
  int error = 0;
  for (uint32_t i = 0; i < walk->set->count && error == 0; i++)
    if (walk->set->candidates[i].rank >= SYMBOL_LOCAL)
      error = table_add(&scopes->symbols, walk->set->candidates[i].start, i);
  scopes->has_symbols = error == 0;
  return error;
}

/* Returns the symbol of the function with the code of ENTRY, without the suffix of a copy;
   empty if there is none. */
static struct span symbol_of(const struct scope_walk *walk, Dwarf_Die *entry) {
  Dwarf_Addr base, start, end;
  uint32_t cursor;
  if (dwarf_ranges(entry, 0, &base, &start, &end) <= 0) return span_of("", 0);
  uint32_t at = table_find(&walk->scopes->symbols, start, &cursor);
  if (at == TABLE_NONE || at >= walk->set->count) return span_of("", 0);
  struct span name = walk->set->candidates[at].name;
  const uint8_t *point = name.len > 0 ? memchr(name.data + 1, '.', name.len - 1) : NULL;
  return point != NULL ? span_of(name.data, (size_t)(point - name.data)) : name;
}

/* ---- functions ---- */

static const char *string_of(Dwarf_Die *entry, unsigned name) {
  Dwarf_Attribute attribute;
  return dwarf_formstring(dwarf_attr(entry, name, &attribute));
}

static const char *linkage_name(Dwarf_Die *entry) {
  const char *name = string_of(entry, DW_AT_linkage_name);
  return name != NULL ? name : string_of(entry, DW_AT_MIPS_linkage_name);
}

/* Follows ENTRY to the entry that has the function's name. Returns whether it exists. RET_LINKAGE:
   the first linkage name on the way, or NULL. */
static bool find_named(Dwarf_Die *entry, Dwarf_Die *ret, const char **ret_linkage) {
  *ret = *entry;
  *ret_linkage = linkage_name(ret);
  for (int i = 0; i < REFERENCES_MAX && !dwarf_hasattr(ret, DW_AT_name); i++) {
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    bool refers = dwarf_attr(ret, DW_AT_abstract_origin, &attribute) != NULL ||
                  dwarf_attr(ret, DW_AT_specification, &attribute) != NULL;
    if (!refers || dwarf_formref_die(&attribute, &next) == NULL) return false;
    *ret = next;
    if (*ret_linkage == NULL) *ret_linkage = linkage_name(ret);
  }
  return dwarf_hasattr(ret, DW_AT_name);
}

static uint32_t find_number(const struct dwarf_scopes *scopes, const void *place) {
  uint32_t cursor;
  return table_find(&scopes->by_place, (uintptr_t)place, &cursor);
}

static int add_name(struct dwarf_scopes *scopes, const void *place,
                    const struct scoped_name *name) {
  if (scopes->count == NAMES_MAX) return 0;
  struct scoped_name *more =
      array_grow(scopes->names, scopes->count, &scopes->room, 256, sizeof *more);
  if (more == NULL) return -ENOMEM;
  scopes->names = more;
  scopes->names[scopes->count] = *name;
  return table_add(&scopes->by_place, (uintptr_t)place, scopes->count++);
}

static struct scoped_class *class_of(const struct dwarf_scopes *scopes, const Dwarf_Die *class) {
  uint32_t cursor, at = table_find(&scopes->by_class, (uintptr_t) class->addr, &cursor);
  return at != TABLE_NONE ? &scopes->classes[at] : NULL;
}

static bool find_class(void *context, const Dwarf_Die *class, const char **ret_around,
                       const char **ret_whole) {
  const struct scoped_class *known = class_of(context, class);
  if (known == NULL || known->around == NULL) return false;
  *ret_around = known->around;
  *ret_whole = known->whole;
  return true;
}

/* Keeps the name of CLASS: many templates consist of few classes. */
static void keep_class(void *context, const Dwarf_Die *class, struct span text) {
  struct dwarf_scopes *scopes = context;
  struct scoped_class *known = class_of(scopes, class);
  if (known == NULL) return;
  if (text.len > 0)
    known->whole = join(scopes, "", text, "::");
  else if (scopes->is_walked) /* while walking, the parts of the name may follow later */
    known->around = NULL;
}

/* Returns the text after the name of the function of ENTRY; NULL if it is unknown. An external
   function without a linkage name is a C function, which has none. */
static const char *signature_of(struct dwarf_scopes *scopes, Dwarf_Die *entry) {
  const struct dwarf_classes classes = {find_class, keep_class, scopes}; /* those read so far */
  struct buf text = {0};
  const char *signature = NULL;
  bool is_const;
  if (dwarf_hasattr(entry, DW_AT_external)) return NULL;
  if (dwarf_signature_print(&classes, entry, &text, &is_const) && !text.failed)
    signature = join(scopes, "", buf_span(&text), is_const ? " const" : "");
  buf_fini(&text);
  return signature;
}

/* Notes in NAME which entries describe its arguments; they may not have been read yet. */
static void note_template(const struct scope_level *level, Dwarf_Die *named,
                          struct scoped_name *name) {
  const char *text = string_of(named, DW_AT_name);
  name->is_template =
      (text != NULL && strchr(text, '<') != NULL) || strchr(name->scope, '<') != NULL;
  name->named = *named;
  name->class = level->class;
  name->has_class = level->has_class;
}

/* Notes the scope and the symbol of the function of LEVEL at the place of its name. INSIDE: the
   scope of entries in it. */
static int read_function(struct scope_walk *walk, struct scope_level *level,
                         struct scope_level *inside) {
  struct dwarf_scopes *scopes = walk->scopes;
  struct scoped_name name = {.scope = level->scope};
  Dwarf_Die named;
  const char *linkage;
  int error = 0;
  if (!find_named(&level->entry, &named, &linkage)) return 0;
  uint32_t known = find_number(scopes, named.addr);
  if (known != TABLE_NONE) name = scopes->names[known];
  struct span symbol = linkage == NULL ? symbol_of(walk, &level->entry) : span_of("", 0);
  if (symbol.len > 0) name.symbol = join(scopes, "", symbol, "");
  if (known == TABLE_NONE && linkage == NULL && name.symbol == NULL && name.scope[0] != '\0')
    name.signature = signature_of(scopes, &named);
  if (known == TABLE_NONE && linkage == NULL && name.symbol == NULL)
    note_template(level, &named, &name);
  if (known != TABLE_NONE)
    scopes->names[known] = name;
  else if (name.scope[0] != '\0' || name.symbol != NULL || name.is_template)
    error = add_name(scopes, named.addr, &name);
  const char *text = string_of(&named, DW_AT_name);
  const char *scope = text != NULL ? join(scopes, name.scope, span_of_string(text), "::") : NULL;
  if (scope == NULL) return error;
  inside->scope = scope;
  inside->has_class = false;
  inside->function = (struct outer_function){named, linkage != NULL ? linkage : name.symbol, true};
  return error;
}

/* ---- enclosing scopes ---- */

static const char *enter(struct scope_walk *walk, const struct scope_level *level,
                         const char *name) {
  const char *inside = join(walk->scopes, level->scope, span_of_string(name), "::");
  return inside != NULL ? inside : level->scope;
}

static const char *enter_namespace(struct scope_walk *walk, struct scope_level *level) {
  const char *name = string_of(&level->entry, DW_AT_name);
  return enter(walk, level, name != NULL ? name : "(anonymous namespace)");
}

/* Returns the scope of entries of LEVEL as in a symbol: a function with its parameters. */
static const char *around(struct scope_walk *walk, const struct scope_level *level) {
  struct dwarf_scopes *scopes = walk->scopes;
  struct outer_function function = level->function;
  const char *scope = NULL;
  if (!function.is_there) return level->scope;
  struct buf text = {0};
  if (function.symbol != NULL && demangle_scope(span_of_string(function.symbol), &text)) {
    scope = join(scopes, "", buf_span(&text), "::");
  } else if (function.symbol == NULL) {
    const char *signature = signature_of(scopes, &function.named);
    size_t len = strlen(level->scope) - strlen("::");
    buf_append(&text, level->scope, len);
    if (signature != NULL) buf_append_string(&text, signature);
    if (!text.failed) scope = join(scopes, "", buf_span(&text), "::");
  }
  buf_fini(&text);
  return scope != NULL ? scope : level->scope;
}

/* Finds the call operator of CLASS; a lambda has one. RET_IS_ONE: it is not a template's. */
static bool find_call(Dwarf_Die *class, Dwarf_Die *ret, bool *ret_is_one) {
  static const char call[] = "operator()";
  int error = dwarf_child(class, ret);
  for (unsigned i = 0; error == 0 && i < SIGNATURE_CHILDREN_MAX; i++) {
    const char *name = string_of(ret, DW_AT_name);
    *ret_is_one = name != NULL && strcmp(name, call) == 0;
    if (dwarf_tag(ret) == DW_TAG_subprogram && name != NULL &&
        strncmp(name, call, sizeof call - 1) == 0)
      return true;
    error = dwarf_siblingof(ret, ret);
  }
  return false;
}

/* Appends the demangler's name for the nameless CLASS, without its number. RET_NUMBERED: the part
   of the text that the number counts. */
static void print_kind(struct scope_walk *walk, Dwarf_Die *class, struct buf *ret,
                       struct span *ret_numbered) {
  const struct dwarf_classes classes = {find_class, keep_class, walk->scopes};
  Dwarf_Die call;
  bool is_one = false, is_const;
  bool is_lambda = find_call(class, &call, &is_one);
  buf_append_string(ret, is_lambda ? "lambda" : "unnamed type");
  size_t len = ret->len;
  bool is_told = is_lambda && (is_one ? dwarf_signature_print(&classes, &call, ret, &is_const)
                                      : dwarf_signature_print_generic(&classes, &call, ret));
  if (is_lambda && !is_told) ret->len = len;
  *ret_numbered = span_of(ret->data, walk->numbers_all_lambdas ? len : ret->len);
}

/* Counts one more of KIND in SCOPE, in this unit. Returns its number; 0 if there is no room. */
static uint32_t count_kind(struct dwarf_scopes *scopes, const char *scope, struct span kind) {
  uint64_t key = table_hash(kind.data, kind.len, table_hash(scope, strlen(scope), 0));
  uint32_t cursor, at = table_find(&scopes->by_kind, key, &cursor);
  if (at == TABLE_NONE) {
    at = scopes->kind_count;
    if (at >= NAMES_MAX) return 0;
    uint32_t *more = array_grow(scopes->numbers, at, &scopes->kind_room, 64, sizeof *more);
    if (more == NULL) return 0;
    scopes->numbers = more;
    if (table_add(&scopes->by_kind, key, at) != 0) return 0;
    scopes->numbers[scopes->kind_count++] = 0;
  }
  return ++scopes->numbers[at];
}

/* Enters a class without a name; most are lambdas. */
static const char *enter_nameless(struct scope_walk *walk, struct scope_level *level) {
  struct scope_level outside = {.scope = around(walk, level)};
  struct buf kind = {0}, text = {0};
  struct span numbered;
  print_kind(walk, &level->entry, &kind, &numbered);
  uint32_t number = kind.failed ? 0 : count_kind(walk->scopes, outside.scope, numbered);
  buf_append_byte(&text, '{');
  buf_append(&text, kind.data, kind.len);
  if (number > 0) buf_printf(&text, "#%u", (unsigned)number);
  buf_append_string(&text, "}");
  const char *inside = text.failed ? NULL : enter(walk, &outside, buf_text(&text));
  buf_fini(&kind);
  buf_fini(&text);
  return inside != NULL ? inside : level->scope;
}

/* Notes the scope of the class at PLACE. If there is no room, names with this class are left
   out. */
static void note_class(struct dwarf_scopes *scopes, const void *place,
                       const struct scoped_class *class) {
  if (scopes->class_count == NAMES_MAX) return;
  struct scoped_class *more =
      array_grow(scopes->classes, scopes->class_count, &scopes->class_room, 256, sizeof *more);
  if (more == NULL) return;
  scopes->classes = more;
  scopes->classes[scopes->class_count] = *class;
  if (table_add(&scopes->by_class, (uintptr_t)place, scopes->class_count) == 0)
    scopes->class_count++;
}

static const char *enter_class(struct scope_walk *walk, struct scope_level *level) {
  const char *name = string_of(&level->entry, DW_AT_name);
  struct scoped_class class = {.around = level->scope};
  const char *inside;
  if (name == NULL || strncmp(name, "<lambda", strlen("<lambda")) == 0) {
    inside = class.whole = enter_nameless(walk, level);
  } else {
    const struct scope_level outside = {.scope = around(walk, level)};
    class.around = outside.scope;
    inside = enter(walk, &outside, name);
  }
  /* An entry that refers to a class in a type unit does not have the scope of that class. */
  if (!dwarf_hasattr(&level->entry, DW_AT_signature))
    note_class(walk->scopes, level->entry.addr, &class);
  return inside;
}

/* Returns 0 or -ENOMEM. *RET_DESCENDS: functions can be nested in it. INSIDE, a copy of LEVEL at
   first, is the level of nested entries. */
static int read_entry(struct scope_walk *walk, struct scope_level *level, bool *ret_descends,
                      struct scope_level *inside) {
  *ret_descends = true;
  switch (dwarf_tag(&level->entry)) {
  case DW_TAG_namespace:
    inside->scope = enter_namespace(walk, level);
    return 0;
  case DW_TAG_structure_type:
  case DW_TAG_class_type:
  case DW_TAG_union_type:
  case DW_TAG_enumeration_type:
    inside->scope = enter_class(walk, level);
    inside->function.is_there = false;
    inside->class = level->entry;
    inside->has_class = true;
    return 0;
  case DW_TAG_subprogram:
    return read_function(walk, level, inside);
  case DW_TAG_lexical_block:
  case DW_TAG_try_block:
  case DW_TAG_catch_block:
    return 0;
  default:
    *ret_descends = false;
    return 0;
  }
}

/* Advances from the deepest level. Returns the number of remaining levels; 0 if the tree is
   malformed. */
static int go_on(struct scope_level *levels, int count) {
  for (; count > 0; count--) {
    Dwarf_Die *entry = &levels[count - 1].entry;
    const void *before = entry->addr;
    int result = dwarf_siblingof(entry, entry);
    if (result < 0 || (result == 0 && (const char *)entry->addr <= (const char *)before)) return 0;
    if (result == 0) return count;
  }
  return 0;
}

/* GCC before 14 numbers lambdas in symbols this way; later versions number each signature
   separately. */
static bool numbers_all_lambdas(Dwarf_Die *unit) {
  static const char gcc[] = "GNU C++";
  const char *producer = string_of(unit, DW_AT_producer);
  if (producer == NULL || strncmp(producer, gcc, sizeof gcc - 1) != 0) return false;
  const char *version = strchr(producer + sizeof gcc - 1, ' ');
  return version != NULL && strtoul(version, NULL, 10) < 14;
}

int dwarf_scopes_read(struct dwarf_scopes *scopes, const struct symbol_set *set, Dwarf_Die *unit,
                      uint64_t dies_max) {
  struct scope_walk walk = {scopes, set, numbers_all_lambdas(unit)};
  struct scope_level levels[ENTRY_DEPTH_MAX];
  int count = 1, error = 0;
  if (!is_of_cplusplus(unit)) return 0;
  if (!scopes->has_symbols) error = list_symbols(&walk);
  table_clear(&scopes->by_class);
  scopes->class_count = 0;
  scopes->is_walked = false;
  scopes->first_of_unit = scopes->count;
  table_clear(&scopes->by_kind);
  scopes->kind_count = 0;
  levels[0] = (struct scope_level){.scope = ""};
  if (error != 0 || dwarf_child(unit, &levels[0].entry) != 0) return error;
  for (uint64_t read = 0; count > 0 && error == 0 && read < dies_max; read++) {
    bool descends;
    struct scope_level inside = levels[count - 1];
    error = read_entry(&walk, &levels[count - 1], &descends, &inside);
    if (error == 0 && descends && count < ENTRY_DEPTH_MAX &&
        dwarf_child(&levels[count - 1].entry, &inside.entry) == 0)
      levels[count++] = inside;
    else
      count = go_on(levels, count);
  }
  scopes->is_walked = true;
  return error;
}

/* Builds the name of a template or of its member; NULL if it is unknown. */
static const char *whole_name(struct dwarf_scopes *scopes, struct scoped_name *name) {
  const struct dwarf_classes classes = {find_class, keep_class, scopes};
  struct buf around = {0}, text = {0};
  bool is_told = !name->has_class || dwarf_signature_print_class(&classes, &name->class, &around);
  if (name->has_class)
    buf_append_string(&around, "::");
  else
    buf_append_string(&around, name->scope);
  const char *whole = NULL;
  if (is_told && !around.failed)
    is_told = dwarf_signature_print_function(&classes, buf_text(&around), &name->named, &text);
  if (is_told && !around.failed && scopes->has_texts)
    whole = arena_string(&scopes->texts, text.data, text.len);
  buf_fini(&around);
  buf_fini(&text);
  return whole;
}

/* Builds NAME unless that was tried before. */
static void complete(struct dwarf_scopes *scopes, struct scoped_name *name) {
  if (!name->is_template || name->whole != NULL) return;
  name->whole = whole_name(scopes, name);
  name->is_template = name->whole != NULL;
}

void dwarf_scopes_complete(struct dwarf_scopes *scopes) {
  for (uint32_t i = scopes->first_of_unit; i < scopes->count; i++)
    if (scopes->names[i].symbol == NULL) complete(scopes, &scopes->names[i]);
}

const char *dwarf_scopes_name(struct dwarf_scopes *scopes, const void *place,
                              const char *short_name) {
  uint32_t number = find_number(scopes, place);
  if (number == TABLE_NONE) return short_name;
  struct scoped_name *name = &scopes->names[number];
  if (name->symbol != NULL) return name->symbol;
  complete(scopes, name);
  if (name->whole != NULL) return name->whole;
  const char *signature = name->signature != NULL ? name->signature : "";
  const char *joined = join(scopes, name->scope, span_of_string(short_name), signature);
  return joined != NULL ? joined : short_name;
}
