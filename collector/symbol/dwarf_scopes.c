/* SPDX-License-Identifier: Apache-2.0 */
/* Compilers give linkage names to what other files can see.  A function of an anonymous namespace,
   a static one and a lambda's have `step`, `parse` and `operator()` for a name, the same as others
   of the program: rows of a table that are not one function.  What they are called stands around
   them, so a unit of C++ is walked once before its functions are read:

     namespace alpha { namespace { struct Stage { int step(); }; } }
       a symbol starts where an instance of it does    _ZN5alpha12_GLOBAL__N_15Stage4stepEv
       none does: all of them were inlined             alpha::(anonymous namespace)::Stage::step

   A copy that the compiler made (`.constprop.0`) is the same function, so what follows a point is
   left out.  Instances, inlined or not, refer to the entry that has the name, and that is how all
   of them get the same. */
#include "dwarf_scopes.h"

#include "symbol_set.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRY_DEPTH_MAX = 512, REFERENCES_MAX = 16, NAMES_MAX = 4 << 20 };

/* What is known of the function whose name is at a place. */
struct scoped_name {
  const char *scope;  /* what is around it, each part with "::" behind it; may be "" */
  const char *symbol; /* or NULL */
};

struct scope_walk {
  struct dwarf_scopes *scopes;
  const struct symbol_set *set;
};

struct scope_level {
  Dwarf_Die entry;
  const char *scope;
};

void dwarf_scopes_fini(struct dwarf_scopes *scopes) {
  if (scopes->has_texts) arena_fini(&scopes->texts);
  table_fini(&scopes->by_place);
  table_fini(&scopes->symbols);
  free(scopes->names);
  *scopes = (struct dwarf_scopes){0};
}

/* Codes that the list of languages (dwarfstd.org) got after DWARF 5, and elfutils' header has not.
   Clang uses them; dialects of C++ are C++ to us. */
enum {
  LANG_C_PLUS_PLUS_17 = 0x2a,
  LANG_C_PLUS_PLUS_20 = 0x2b,
  LANG_HIP = 0x30,
  LANG_OPENCL_C_PLUS_PLUS = 0x37,
  LANG_C_PLUS_PLUS_FOR_OPENCL = 0x38,
  LANG_SYCL = 0x39,
  LANG_C_PLUS_PLUS_23 = 0x3a,
};

/* Rust is not among them: rustc gives all of its functions linkage names. */
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

/* FIRST SECOND THIRD; NULL when that is too long or there is no memory for it: then it is not
   told. */
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

/* The symbol of the function that ENTRY is the code of, without what tells copies apart; empty:
   there is none. */
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

static bool has_linkage_name(Dwarf_Die *entry) {
  return dwarf_hasattr(entry, DW_AT_linkage_name) || dwarf_hasattr(entry, DW_AT_MIPS_linkage_name);
}

/* Follows ENTRY to the one that has the function's name.  Returns whether there is one;
   RET_IS_SHORT: none on the way has a linkage name. */
static bool find_named(Dwarf_Die *entry, Dwarf_Die *ret, bool *ret_is_short) {
  *ret = *entry;
  *ret_is_short = !has_linkage_name(ret);
  for (int i = 0; i < REFERENCES_MAX && !dwarf_hasattr(ret, DW_AT_name); i++) {
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    bool refers = dwarf_attr(ret, DW_AT_abstract_origin, &attribute) != NULL ||
                  dwarf_attr(ret, DW_AT_specification, &attribute) != NULL;
    if (!refers || dwarf_formref_die(&attribute, &next) == NULL) return false;
    *ret = next;
    if (has_linkage_name(ret)) *ret_is_short = false;
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
  if (scopes->count == scopes->room) {
    uint32_t room = scopes->room > 0 ? scopes->room * 2 : 256;
    struct scoped_name *more = reallocarray(scopes->names, room, sizeof *more);
    if (more == NULL) return -ENOMEM;
    scopes->names = more;
    scopes->room = room;
  }
  scopes->names[scopes->count] = *name;
  return table_add(&scopes->by_place, (uintptr_t)place, scopes->count++);
}

/* Notes what is around the function of LEVEL and its symbol, where its name is.  RET_SCOPE: what is
   around entries in it. */
static int read_function(struct scope_walk *walk, struct scope_level *level,
                         const char **ret_scope) {
  struct dwarf_scopes *scopes = walk->scopes;
  struct scoped_name name = {.scope = level->scope};
  Dwarf_Die named;
  bool is_short;
  int error = 0;
  if (!find_named(&level->entry, &named, &is_short)) return 0;
  uint32_t known = find_number(scopes, named.addr);
  if (known != TABLE_NONE) name = scopes->names[known];
  struct span symbol = is_short ? symbol_of(walk, &level->entry) : span_of("", 0);
  if (symbol.len > 0) name.symbol = join(scopes, "", symbol, "");
  if (known != TABLE_NONE)
    scopes->names[known] = name;
  else if (name.scope[0] != '\0' || name.symbol != NULL)
    error = add_name(scopes, named.addr, &name);
  const char *text = string_of(&named, DW_AT_name);
  const char *inside = text != NULL ? join(scopes, name.scope, span_of_string(text), "::") : NULL;
  if (inside != NULL) *ret_scope = inside;
  return error;
}

static const char *enter(struct scope_walk *walk, struct scope_level *level, const char *name) {
  const char *inside = join(walk->scopes, level->scope, span_of_string(name), "::");
  return inside != NULL ? inside : level->scope;
}

static const char *enter_namespace(struct scope_walk *walk, struct scope_level *level) {
  const char *name = string_of(&level->entry, DW_AT_name);
  return enter(walk, level, name != NULL ? name : "(anonymous namespace)");
}

/* A class without a name is a lambda's more often than not; a function may have several. */
static const char *enter_class(struct scope_walk *walk, struct scope_level *level) {
  char nameless[48] = "(anonymous class)";
  int line;
  const char *name = string_of(&level->entry, DW_AT_name);
  if (name == NULL && dwarf_decl_line(&level->entry, &line) == 0)
    snprintf(nameless, sizeof nameless, "(anonymous class, line %d)", line);
  return enter(walk, level, name != NULL ? name : nameless);
}

/* *RET_DESCENDS: functions can stand in it; RET_SCOPE is what is around these then. */
static int read_entry(struct scope_walk *walk, struct scope_level *level, bool *ret_descends,
                      const char **ret_scope) {
  *ret_descends = true;
  *ret_scope = level->scope;
  switch (dwarf_tag(&level->entry)) {
  case DW_TAG_namespace:
    *ret_scope = enter_namespace(walk, level);
    return 0;
  case DW_TAG_structure_type:
  case DW_TAG_class_type:
  case DW_TAG_union_type:
  case DW_TAG_enumeration_type:
    *ret_scope = enter_class(walk, level);
    return 0;
  case DW_TAG_subprogram:
    return read_function(walk, level, ret_scope);
  case DW_TAG_lexical_block:
  case DW_TAG_try_block:
  case DW_TAG_catch_block:
    return 0;
  default:
    *ret_descends = false;
    return 0;
  }
}

/* Goes on behind the deepest level.  Returns how many are left; 0 where the tree is malformed. */
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

int dwarf_scopes_read(struct dwarf_scopes *scopes, const struct symbol_set *set, Dwarf_Die *unit,
                      uint64_t dies_max) {
  struct scope_walk walk = {scopes, set};
  struct scope_level levels[ENTRY_DEPTH_MAX];
  int count = 1, error = 0;
  if (!is_of_cplusplus(unit)) return 0;
  if (!scopes->has_symbols) error = list_symbols(&walk);
  levels[0].scope = "";
  if (error != 0 || dwarf_child(unit, &levels[0].entry) != 0) return error;
  for (uint64_t read = 0; count > 0 && error == 0 && read < dies_max; read++) {
    bool descends;
    const char *scope;
    error = read_entry(&walk, &levels[count - 1], &descends, &scope);
    if (error == 0 && descends && count < ENTRY_DEPTH_MAX &&
        dwarf_child(&levels[count - 1].entry, &levels[count].entry) == 0)
      levels[count++].scope = scope;
    else
      count = go_on(levels, count);
  }
  return error;
}

const char *dwarf_scopes_name(struct dwarf_scopes *scopes, const void *place,
                              const char *short_name) {
  uint32_t number = find_number(scopes, place);
  if (number == TABLE_NONE) return short_name;
  const struct scoped_name *name = &scopes->names[number];
  if (name->symbol != NULL) return name->symbol;
  const char *joined = join(scopes, name->scope, span_of_string(short_name), "");
  return joined != NULL ? joined : short_name;
}
