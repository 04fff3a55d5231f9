/* SPDX-License-Identifier: Apache-2.0 */
/* The entries (DIEs) of a unit: functions, and the functions inlined into them.

   A function with code refers to its source function through up to REFERENCES_MAX references
   (abstract origin, specification). They may lead into other units, for example the partial units
   of dwz. The linkage name is preferred to the short name because it has namespaces and arguments.
   Without a linkage name, dwarf_scopes may supply a full name. A function without a readable name
   is left out, and functions inlined into it count as inlined into its caller.

   Entries are only read forwards, and no more of them than the unit has bytes. Otherwise references
   to siblings could lead round in circles, or make a tree with 2^n places from n entries. */
#include "dwarf_unit.h"
#include "symbol_set.h"

#include <dwarf.h>
#include <errno.h>

enum {
  REFERENCES_MAX = 16,
  ENTRY_DEPTH_MAX = 512, /* nesting depth of entries; each block is a level */
  CALL_DEPTH_MAX = INDEX_DEPTH_MAX,
};

#define NAMELESS (UINT32_MAX - 1)

/* Attributes of one entry. */
struct facts {
  const char *name, *linkage_name;
  const void *name_place; /* of the entry that has the name */
  Dwarf_Attribute decl_file, reference;
  uint64_t decl_line, call_file, call_line;
  bool has_decl_file, has_reference, has_code;
};

static int on_attribute(Dwarf_Attribute *attribute, void *context) {
  struct facts *facts = context;
  switch (dwarf_whatattr(attribute)) {
  case DW_AT_name:
    facts->name = dwarf_formstring(attribute);
    break;
  case DW_AT_linkage_name:
  case DW_AT_MIPS_linkage_name:
    facts->linkage_name = dwarf_formstring(attribute);
    break;
  case DW_AT_decl_file:
    facts->decl_file = *attribute;
    facts->has_decl_file = true;
    break;
  case DW_AT_decl_line:
    dwarf_formudata(attribute, &facts->decl_line);
    break;
  case DW_AT_call_file:
    dwarf_formudata(attribute, &facts->call_file);
    break;
  case DW_AT_call_line:
    dwarf_formudata(attribute, &facts->call_line);
    break;
  case DW_AT_abstract_origin:
  case DW_AT_specification:
    facts->reference = *attribute;
    facts->has_reference = true;
    break;
  case DW_AT_low_pc:
  case DW_AT_ranges:
    facts->has_code = true;
    break;
  default:
    break;
  }
  return DWARF_CB_OK;
}

static bool read_facts(Dwarf_Die *entry, struct facts *ret) {
  memset(ret, 0, sizeof *ret);
  ret->name_place = entry->addr;
  return dwarf_getattrs(entry, on_attribute, ret, 0) >= 0;
}

static uint32_t as_line(uint64_t line) {
  return line <= INT32_MAX ? (uint32_t)line : 0;
}

/* Adds the file at INDEX in the file table of the unit CU and returns its number; 0 if it has
   none. */
static int add_file(struct dwarf_context *context, Dwarf_CU *cu, uint64_t index, uint32_t *ret) {
  Dwarf_Die unit;
  Dwarf_Files *files;
  size_t count;
  *ret = 0;
  if (dwarf_cu_die(cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) == NULL) return 0;
  if (dwarf_getsrcfiles(&unit, &files, &count) != 0 || index >= count) return 0;
  const char *path = dwarf_filesrc(files, (size_t)index, NULL, NULL);
  return dwarf_context_add_file(context, cu, path, ret);
}

/* Follows the references of the entry of FACTS for attributes that it lacks. */
static void complete(struct facts *facts) {
  struct facts next = *facts;
  for (int i = 0; i < REFERENCES_MAX && next.has_reference; i++) {
    Dwarf_Die entry;
    Dwarf_Attribute reference = next.reference;
    if (dwarf_formref_die(&reference, &entry) == NULL || !read_facts(&entry, &next)) return;
    if (facts->name == NULL) {
      facts->name = next.name;
      facts->name_place = next.name_place;
    }
    if (facts->linkage_name == NULL) facts->linkage_name = next.linkage_name;
    if (facts->decl_line == 0) facts->decl_line = next.decl_line;
    if (!facts->has_decl_file && next.has_decl_file) {
      facts->decl_file = next.decl_file;
      facts->has_decl_file = true;
    }
  }
}

static const char *best_name(struct dwarf_context *context, const struct facts *facts) {
  if (facts->linkage_name != NULL || facts->name == NULL) return facts->linkage_name;
  return dwarf_scopes_name(context->scopes, facts->name_place, facts->name);
}

static int add_function(struct dwarf_context *context, struct facts *facts, uint32_t *ret) {
  struct index_function function = {0};
  uint64_t index;
  uint32_t name, file = 0, line = as_line(facts->decl_line);
  int error = index_names_add(context->names, span_of_string(best_name(context, facts)), &name);
  if (error == 0 && facts->has_decl_file && dwarf_formudata(&facts->decl_file, &index) == 0)
    error = add_file(context, facts->decl_file.cu, index, &file);
  if (error != 0) return error;
  function.name = name;
  if (file != 0 && file <= INDEX_DECL_MAX && line <= INDEX_DECL_MAX) {
    function.decl_file = file & INDEX_DECL_MAX;
    function.decl_line = line & INDEX_DECL_MAX;
  }
  return source_map_add_function(context->map, &function, ret);
}

/* Finds the source function of ENTRY, with FACTS as its own attributes. If RET_NAME is not NULL,
 *RET_NAME is its raw name. *RET is SOURCE_NONE for a function without a name. */
static int find_function(struct dwarf_context *context, Dwarf_Die *entry, struct facts *facts,
                         uint32_t *ret, const char **ret_name) {
  uint64_t place = (uintptr_t)entry->addr;
  uint32_t cursor, known = TABLE_NONE;
  if (ret_name == NULL) known = table_find(&context->functions, place, &cursor);
  int error = 0;
  if (known == TABLE_NONE) {
    complete(facts);
    if (ret_name != NULL) *ret_name = best_name(context, facts);
    known = NAMELESS;
    if (best_name(context, facts) == NULL) context->nameless++;
    if (best_name(context, facts) != NULL) error = add_function(context, facts, &known);
    if (error == 0) error = table_add(&context->functions, place, known);
  }
  *ret = known == NAMELESS ? SOURCE_NONE : known;
  return error;
}

/* A level of the tree of entries. */
struct level {
  Dwarf_Die entry;
  uint32_t call;  /* the function that contains the entry, or SOURCE_NONE */
  uint32_t depth; /* of that function; 0: none */
};

static int add_symbol(struct dwarf_context *context, const struct unit_cover *cover,
                      const struct code_range *code, const char *name) {
  struct candidate candidate = {.start = cover->start,
                                .size = cover->end - cover->start,
                                .limit = code->end,
                                .name = span_of_string(name),
                                .rank = SYMBOL_TOLD};
  return symbol_set_add(context->set, &candidate);
}

/* Adds the ranges of ENTRY as places of CALL. SYMBOL_NAME is not NULL for a function that is not
   inlined. */
static int add_covers(struct dwarf_context *context, Dwarf_Die *entry, uint32_t call,
                      uint32_t depth, const char *symbol_name) {
  enum { NO_LIST = 1 }; /* dwarf_ranges returns this for an entry of one range */
  Dwarf_Addr base = 0, start, end;
  ptrdiff_t at = 0;
  int error = 0;
  while (error == 0 && (at = dwarf_ranges(entry, at, &base, &start, &end)) > 0) {
    if (at != NO_LIST && base == 0) { /* the list sets no base */
      start += context->range_base;
      end += context->range_base;
    }
    const struct code_range *code = dwarf_context_find_code(context, start);
    if (code == NULL || end <= start) continue;
    if (end > code->end) end = code->end;
    struct unit_cover cover = {start, end, call, depth};
    error = unit_rows_add_cover(&context->rows, &cover);
    if (error == 0 && symbol_name != NULL) error = add_symbol(context, &cover, code, symbol_name);
  }
  return error;
}

static int read_subprogram(struct dwarf_context *context, struct level *level,
                           struct level *ret_inside) {
  struct facts facts;
  struct source_call call = {.caller = SOURCE_NONE};
  const char *name = NULL;
  *ret_inside = (struct level){.call = SOURCE_NONE};
  if (!read_facts(&level->entry, &facts) || !facts.has_code) return 0;
  int error = find_function(context, &level->entry, &facts, &call.function, &name);
  if (error != 0 || call.function == SOURCE_NONE) return error;
  ret_inside->depth = 1;
  error = source_map_add_call(context->map, &call, &ret_inside->call);
  return error != 0 ? error : add_covers(context, &level->entry, ret_inside->call, 1, name);
}

static int read_inlined(struct dwarf_context *context, struct level *level,
                        struct level *ret_inside) {
  struct facts facts, origin_facts;
  Dwarf_Die origin;
  struct source_call call = {.caller = level->call};
  *ret_inside = (struct level){.call = level->call, .depth = level->depth};
  if (level->call == SOURCE_NONE || level->depth == CALL_DEPTH_MAX) return 0;
  if (!read_facts(&level->entry, &facts) || !facts.has_code || !facts.has_reference) return 0;
  if (dwarf_formref_die(&facts.reference, &origin) == NULL) {
    context->nameless++;
    return 0;
  }
  if (!read_facts(&origin, &origin_facts)) return 0;
  int error = find_function(context, &origin, &origin_facts, &call.function, NULL);
  if (error != 0 || call.function == SOURCE_NONE) return error;
  error = add_file(context, level->entry.cu, facts.call_file, &call.file);
  if (error == 0) {
    call.line = call.file == 0 ? 0 : as_line(facts.call_line);
    error = source_map_add_call(context->map, &call, &ret_inside->call);
  }
  ret_inside->depth = level->depth + 1;
  return error != 0 ? error
                    : add_covers(context, &level->entry, ret_inside->call, ret_inside->depth, NULL);
}

/* Reads the entry of LEVEL. *RET_DESCENDS: whether functions can be nested in it. RET_INSIDE: the
   level of nested entries. */
static int read_entry(struct dwarf_context *context, struct level *level, bool *ret_descends,
                      struct level *ret_inside) {
  *ret_descends = true;
  *ret_inside = (struct level){.call = level->call, .depth = level->depth};
  switch (dwarf_tag(&level->entry)) {
  case DW_TAG_subprogram:
    return read_subprogram(context, level, ret_inside);
  case DW_TAG_inlined_subroutine:
    return read_inlined(context, level, ret_inside);
  case DW_TAG_lexical_block:
  case DW_TAG_try_block:
  case DW_TAG_catch_block:
  case DW_TAG_with_stmt:
  case DW_TAG_namespace:
  case DW_TAG_module:
  case DW_TAG_structure_type:
  case DW_TAG_class_type:
  case DW_TAG_union_type:
  case DW_TAG_enumeration_type:
    return 0;
  default:
    *ret_descends = false;
    return 0;
  }
}

/* Advances from the entry of the deepest LEVEL to its sibling, or to a sibling of an enclosing
   entry. Returns the number of remaining levels, or -EBADMSG. */
static int go_on(struct level *levels, int count) {
  for (; count > 0; count--) {
    Dwarf_Die *entry = &levels[count - 1].entry;
    const void *before = entry->addr;
    int result = dwarf_siblingof(entry, entry);
    if (result < 0 || (result == 0 && (const char *)entry->addr <= (const char *)before))
      return -EBADMSG;
    if (result == 0) return count;
  }
  return 0;
}

int dwarf_functions_read(struct dwarf_context *context, Dwarf_Die *unit, uint64_t dies_max) {
  struct level levels[ENTRY_DEPTH_MAX], inside;
  int count = 1;
  int error = dwarf_scopes_read(context->scopes, context->set, unit, dies_max);
  levels[0] = (struct level){.call = SOURCE_NONE};
  if (error != 0 || dwarf_child(unit, &levels[0].entry) != 0) return error;
  for (uint64_t read = 0; count > 0 && error == 0; read++) {
    bool descends;
    if (read == dies_max) count = -EBADMSG;
    if (count < 0) break;
    error = read_entry(context, &levels[count - 1], &descends, &inside);
    if (error != 0) break;
    if (descends && count < ENTRY_DEPTH_MAX &&
        dwarf_child(&levels[count - 1].entry, &inside.entry) == 0)
      levels[count++] = inside;
    else
      count = go_on(levels, count);
  }
  if (count < 0) context->malformed++;
  return error;
}
