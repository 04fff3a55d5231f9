/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a linker's map. Firmware is often shipped without symbols, and only the linker's map of
   its build was kept.

   GNU ld, and gold:                                        LLD:

     Linker script and memory map                           VMA  LMA  Size Align Out     In Symbol
     .text     0x0000000000001050  0x151                   1bd0 1bd0   30a    16 .text
      .text.work                                           1cb9 1cb9    26     1 a.o:(.text.work)
               0x0000000000001139   0x26 a.o               1cb9 1cb9    26     1 work
               0x0000000000001139        work

   GNU ld lists global symbols, without sizes. The name and size of a section with a single function
   (-ffunction-sections) give that function, even a static one. Every other symbol reaches to the
   end of its section, the part from one object file. It may include the next symbols; of two that
   cover an address the smaller is used, as in every list with sizes. So a static function is taken
   for the global one before it in its file, never for another file's. Without a global one before
   it, it has no name.

   The linkage table (PLT) is one symbol, [plt], as in docs/symbols.md: GNU ld's entries in it are
   functions of other files. Symbols from a linker script (name = expression) are no functions. */
#include "linker_map.h"

#include "number_text.h"

#include <errno.h>
#include <string.h>

enum { HEAD_LINES = 16, COLUMNS_IN = 9, COLUMNS_SYMBOL = 17 };

static const char plt_name[] = "[plt]";

/* ---- words ---- */

static struct span take_line(struct span *text) {
  const uint8_t *newline = memchr(text->data, '\n', text->len);
  size_t len = newline ? (size_t)(newline - text->data) : text->len;
  struct span line = span_of(text->data, len);
  size_t taken = newline ? len + 1 : len;
  *text = span_of(text->data + taken, text->len - taken);
  while (line.len > 0 && (line.data[line.len - 1] == '\r' || line.data[line.len - 1] == ' '))
    line.len--;
  return line;
}

/* Removes blanks from the front of TEXT. Returns their number. */
static size_t skip_blanks(struct span *text) {
  size_t count = 0;
  while (count < text->len && text->data[count] == ' ') count++;
  *text = span_of(text->data + count, text->len - count);
  return count;
}

static struct span take_word(struct span *text) {
  size_t len = 0;
  skip_blanks(text);
  while (len < text->len && text->data[len] != ' ') len++;
  struct span word = span_of(text->data, len);
  *text = span_of(text->data + len, text->len - len);
  return word;
}

static bool starts_with(struct span text, const char *word) {
  size_t len = strlen(word);
  return text.len >= len && memcmp(text.data, word, len) == 0;
}

static bool contains(struct span text, const char *word) {
  return text.len > 0 && memmem(text.data, text.len, word, strlen(word)) != NULL;
}

/* Takes a hexadecimal number from the front of TEXT, which begins with PREFIX. Returns false, with
   no change, if there is none. */
static bool take_number(struct span *text, const char *prefix, uint64_t *ret) {
  struct span rest = *text, word = take_word(&rest);
  if (!starts_with(word, prefix)) return false;
  word = span_of(word.data + strlen(prefix), word.len - strlen(prefix));
  if (!number_text_parse_hex(word, ret)) return false;
  *text = rest;
  return true;
}

/* ---- sections ---- */

static bool is_code_name(struct span name) {
  return starts_with(name, ".init") || starts_with(name, ".fini") || starts_with(name, ".plt") ||
         starts_with(name, ".iplt") || contains(name, "text") || contains(name, "code");
}

static bool is_data_name(struct span name) {
  static const char *const beginnings[] = {".rodata",     ".data",       ".bss",      ".sdata",
                                           ".sbss",       ".tdata",      ".tbss",     ".debug",
                                           ".init_array", ".fini_array", ".gnu.lto_", ".eh_frame"};
  for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
    if (starts_with(name, beginnings[i])) return true;
  return false;
}

/* The input section decides if possible: linker scripts put constants beside code. */
static bool is_code(const struct linker_map *map) {
  if (is_data_name(map->in.name)) return false;
  return is_code_name(map->in.name) ||
         (is_code_name(map->out.name) && !is_data_name(map->out.name));
}

static bool is_plt(struct span name) {
  return starts_with(name, ".plt") || starts_with(name, ".iplt");
}

/* A group in a section's name, at the place of a function's name. */
static bool is_group(struct span name) {
  static const char *const groups[] = {"unlikely", "exit",  "startup", "hot",
                                       "sorted",   "split", "unknown", "eh"};
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
    if (span_is_equal(name, span_of_string(groups[i]))) return true;
  return false;
}

/* Removes ".WORD" from the front of NAME if more follows. */
static struct span without_group(struct span name) {
  const uint8_t *dot = name.len > 0 ? memchr(name.data, '.', name.len) : NULL;
  if (dot == NULL) return name;
  size_t len = (size_t)(dot - name.data);
  if (!is_group(span_of(name.data, len))) return name;
  return span_of(dot + 1, name.len - len - 1);
}

/* The function for which section NAME was made; empty: none. */
static struct span function_of(struct span name) {
  static const char *const beginnings[] = {".text.", ".gnu.linkonce.t."};
  for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
    size_t len = strlen(beginnings[i]);
    if (!starts_with(name, beginnings[i])) continue;
    struct span function = without_group(span_of(name.data + len, name.len - len));
    return is_group(function) ? span_of(name.data, 0) : function;
  }
  return span_of(name.data, 0);
}

/* ---- symbols ---- */

/* Fills RET with NAME at ADDRESS; SIZE 0 means up to the end of its section. Returns false if
   ADDRESS is outside the section. */
static bool make_symbol(const struct linker_map *map, uint64_t address, uint64_t size,
                        struct span name, struct symbol_line *ret) {
  const struct linker_section *in = &map->in;
  if (name.len == 0 || address < in->start || address - in->start >= in->size) return false;
  if (is_plt(in->name)) return false;
  *ret = (struct symbol_line){.address = address,
                              .size = size > 0 ? size : in->size - (address - in->start),
                              .type = is_code(map) ? 'T' : 'D',
                              .name = name,
                              .module = in->file};
  return true;
}

/* Fills RET if the current section is itself a symbol. */
static bool make_section(const struct linker_map *map, struct symbol_line *ret) {
  const struct linker_section *in = &map->in;
  struct span name = is_plt(in->name)              ? span_of_string(plt_name)
                     : map->form == LINKER_MAP_GNU ? function_of(in->name)
                                                   : span_of(NULL, 0);
  if (in->size == 0 || name.len == 0) return false;
  *ret = (struct symbol_line){
      .address = in->start, .size = in->size, .type = 't', .name = name, .module = in->file};
  return true;
}

/* ---- GNU ld ---- */

/* Reads "0xADDRESS 0xSIZE [FILE]" of the section PENDING. Returns false if LINE is not of that
   form. HAS_SYMBOL is true if the section is a symbol; RET is then set. */
static bool take_section(struct linker_map *map, struct span line, struct symbol_line *ret,
                         bool *has_symbol) {
  struct linker_section section = {.name = map->pending};
  if (map->pending.len == 0 || !take_number(&line, "0x", &section.start) ||
      !take_number(&line, "0x", &section.size))
    return false;
  skip_blanks(&line);
  section.file = line;
  if (map->is_out) {
    map->out = section;
    map->in = (struct linker_section){.start = section.start};
  } else {
    map->in = section;
    *has_symbol = make_section(map, ret);
  }
  map->pending.len = 0;
  return true;
}

/* NAME = EXPRESSION, += and the like; operators of C++ have no blank before them. */
static bool is_assignment(struct span name) {
  for (size_t i = 1; i + 1 < name.len; i++) {
    if (name.data[i] != '=' || name.data[i + 1] != ' ') continue;
    size_t at = i;
    while (at > 0 && strchr("+-*/&|<>", name.data[at - 1]) != NULL) at--;
    if (at > 0 && name.data[at - 1] == ' ') return true;
  }
  return starts_with(name, "PROVIDE") || starts_with(name, "ASSERT");
}

static bool take_gnu_symbol(const struct linker_map *map, struct span line,
                            struct symbol_line *ret) {
  uint64_t address;
  if (!take_number(&line, "0x", &address)) return false;
  skip_blanks(&line);
  if (is_assignment(line) || starts_with(line, "(size before relaxing)")) return false;
  return make_symbol(map, address, 0, line, ret);
}

static bool take_gnu_line(struct linker_map *map, struct span line, struct symbol_line *ret) {
  bool has_symbol = false;
  if (!map->has_begun) {
    map->has_begun = span_is_equal(line, span_of_string("Linker script and memory map")) ||
                     span_is_equal(line, span_of_string("Memory map"));
    return false;
  }
  size_t blanks = skip_blanks(&line);
  if (line.len == 0 || line.data[0] == '*') return false; /* a pattern of the script, or padding */
  if (blanks <= 1) {
    map->pending = take_word(&line);
    map->is_out = blanks == 0;
  }
  if (take_section(map, line, ret, &has_symbol)) return has_symbol;
  if (blanks <= 1) return false;
  map->pending.len = 0;
  return take_gnu_symbol(map, line, ret);
}

/* ---- LLD ---- */

/* "FILE:(SECTION)" */
static void set_lld_section(struct linker_map *map, struct span text, uint64_t start,
                            uint64_t size) {
  size_t at = text.len;
  map->in = (struct linker_section){.start = start, .size = size};
  while (at >= 2 && memcmp(text.data + at - 2, ":(", 2) != 0) at--;
  if (at < 2 || text.data[text.len - 1] != ')') return;
  map->in.file = span_of(text.data, at - 2);
  map->in.name = span_of(text.data + at, text.len - at - 1);
}

static bool take_lld_line(struct linker_map *map, struct span line, struct symbol_line *ret) {
  uint64_t address, unused, size;
  if (!take_number(&line, "", &address) || (map->has_lma && !take_number(&line, "", &unused)) ||
      !take_number(&line, "", &size) || !take_number(&line, "", &unused))
    return false;
  size_t blanks = skip_blanks(&line);
  if (blanks < COLUMNS_IN) {
    map->out = (struct linker_section){.start = address, .size = size, .name = line};
    map->in = (struct linker_section){.start = address};
    return false;
  }
  if (blanks < COLUMNS_SYMBOL) {
    set_lld_section(map, line, address, size);
    return make_section(map, ret);
  }
  if (map->is_thumb && is_code(map)) address &= ~(uint64_t)1;
  return make_symbol(map, address, size, line, ret);
}

/* ---- the map ---- */

/* LLD's heading; older versions have one word "Address" instead of the first two. */
static bool is_lld_heading(struct span line, bool *ret_has_lma) {
  struct span word = take_word(&line);
  bool has_lma = span_is_equal(word, span_of_string("VMA"));
  if (!has_lma && !span_is_equal(word, span_of_string("Address"))) return false;
  if (has_lma && !span_is_equal(take_word(&line), span_of_string("LMA"))) return false;
  if (!span_is_equal(take_word(&line), span_of_string("Size"))) return false;
  *ret_has_lma = has_lma;
  return span_is_equal(take_word(&line), span_of_string("Align"));
}

static bool is_gnu_heading(struct span line) {
  static const char *const beginnings[] = {
      "Archive member included",      "As-needed library included", "Discarded input sections",
      "There are no discarded input", "Memory Configuration",       "Merging program properties",
      "Allocating common symbols",    "Linker script and memory",   "Memory map"};
  for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
    if (starts_with(line, beginnings[i])) return true;
  return false;
}

/* Finds the form of TEXT; for LLD, TEXT is advanced past its heading. */
static enum linker_map_form find_form(struct span *text, bool *ret_has_lma) {
  struct span rest = *text;
  for (int i = 0; i < HEAD_LINES && rest.len > 0; i++) {
    struct span line = take_line(&rest);
    if (is_gnu_heading(line)) return LINKER_MAP_GNU;
    if (!is_lld_heading(line, ret_has_lma)) continue;
    *text = rest;
    return LINKER_MAP_LLD;
  }
  return LINKER_MAP_NONE;
}

bool linker_map_is(struct span bytes) {
  bool has_lma;
  return find_form(&bytes, &has_lma) != LINKER_MAP_NONE;
}

void linker_map_begin(struct span text, struct linker_map *ret) {
  *ret = (struct linker_map){.has_lma = false};
  ret->is_thumb = contains(text, " .ARM.attributes") || contains(text, " .ARM.exidx");
  ret->form = find_form(&text, &ret->has_lma);
  ret->rest = text;
}

int linker_map_next(struct linker_map *map, struct symbol_line *ret) {
  while (map->rest.len > 0 && map->form != LINKER_MAP_NONE) {
    struct span line = take_line(&map->rest);
    bool is_symbol =
        map->form == LINKER_MAP_GNU ? take_gnu_line(map, line, ret) : take_lld_line(map, line, ret);
    if (is_symbol) return 0;
  }
  return -ENOENT;
}
