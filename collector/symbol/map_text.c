/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of symbols are the only names for a kernel without its vmlinux, and for old firmware. A
   line is ADDRESS [SIZE] TYPE NAME (common/symbol_line.h), in any order, with or without carriage
   returns. Other lines are skipped, as long as there are functions at all.

   Most lists have no sizes: a function then reaches to the next symbol of any type. So data symbols
   are read too, with a rank below every function. The last function reaches up to the maximum
   length of a function. A linker's map (common/linker_map.h) is a list with sizes. Nothing in a
   list proves which file it belongs to; a list made by fleetprofd begins with

     # build-id HEX */
#include "map_text.h"

#include "symbol_set.h"

#include "common/linker_map.h"
#include "common/symbol_line.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
  HEAD_LINES = 16,
  FUNCTION_BYTES_MAX = 1 << 20,
  UNDEFINED_BLANKS_MIN = 9, /* before a symbol's letter: eight digits and a blank */
};

static const char id_word[] = "# build-id ";

/* Whether TEXT begins with a line like "                 U puts": nm -n lists these first. */
static bool is_undefined(struct span text) {
  size_t at = 0;
  while (at < text.len && text.data[at] == ' ') at++;
  if (at < UNDEFINED_BLANKS_MIN || text.len - at < 3 || text.data[at + 1] != ' ') return false;
  return memchr("Uwv", text.data[at], 3) != NULL && text.data[at + 2] > ' ';
}

bool map_text_is(struct span bytes) {
  struct symbol_line line;
  if (bytes.len >= sizeof id_word - 1 && memcmp(bytes.data, id_word, sizeof id_word - 1) == 0)
    return true;
  if (linker_map_is(bytes)) return true;
  for (unsigned i = 0; i < HEAD_LINES; i++) {
    if (is_undefined(bytes)) return true;
    int error = symbol_line_next(&bytes, &line);
    if (error == -ENOENT) return false;
    if (error == 0) return memchr(line.name.data, '\0', line.name.len) == NULL;
  }
  return false;
}

static int digit_of(uint8_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void take_id(struct span text, struct elf_image *ret) {
  struct span word;
  uint32_t len = 0;
  if (!span_take(&text, sizeof id_word - 1, &word) ||
      memcmp(word.data, id_word, sizeof id_word - 1) != 0)
    return;
  for (; text.len >= 2 && len < sizeof ret->build_id; text = span_of(text.data + 2, text.len - 2)) {
    int high = digit_of(text.data[0]), low = digit_of(text.data[1]);
    if (high < 0 || low < 0) break;
    ret->build_id[len++] = (uint8_t)(high << 4 | low);
  }
  ret->build_id_len = len;
}

static enum symbol_rank rank_of(const struct symbol_line *line) {
  static const enum symbol_rank ranks[] = {
      [1] = SYMBOL_LABEL, SYMBOL_LOCAL, SYMBOL_WEAK, SYMBOL_GLOBAL};
  return ranks[symbol_line_rank(line)];
}

/* A symbol list or a linker's map. */
struct lines {
  struct span text;
  struct linker_map map;
  bool is_map;
};

/* Finds the next code place that has a name. Returns 0 or -ENOENT. */
static int next_place(struct lines *lines, struct symbol_line *ret) {
  int error = 0;
  while (error != -ENOENT) {
    error = lines->is_map ? linker_map_next(&lines->map, ret) : symbol_line_next(&lines->text, ret);
    /* A kernel's loadable modules are separate modules; a linker's map has object files here. */
    bool is_ours = error == 0 && (lines->is_map || ret->module.len == 0);
    if (is_ours && symbol_line_rank(ret) > 0) return 0;
  }
  return error;
}

static int add_line(const struct symbol_line *line, struct symbol_set *set) {
  struct candidate candidate = {.start = line->address,
                                .size = line->size,
                                .limit = line->address + FUNCTION_BYTES_MAX,
                                .name = line->name,
                                .rank = rank_of(line)};
  if (candidate.limit < candidate.start) candidate.limit = UINT64_MAX;
  if (candidate.name.len > INDEX_NAME_BYTES_MAX) candidate.name.len = INDEX_NAME_BYTES_MAX;
  return candidate.start < candidate.limit ? symbol_set_add(set, &candidate) : 0;
}

int map_text_read(struct span text, struct symbol_set *set, struct elf_image *ret, char *why,
                  size_t why_len) {
  struct elf_image image = {.has_symtab = true, .is_map = true};
  struct lines lines = {.text = text, .is_map = linker_map_is(text)};
  struct symbol_line line;
  take_id(text, &image);
  if (lines.is_map) linker_map_begin(text, &lines.map);
  while (next_place(&lines, &line) == 0) {
    int error = add_line(&line, set);
    if (error == -EOVERFLOW)
      snprintf(why, why_len, "it lists more than %d symbols (INDEX_SYMBOLS_MAX)",
               INDEX_SYMBOLS_MAX);
    if (error != 0) return error;
    image.function_count += symbol_line_is_code(&line);
  }
  *ret = image;
  return 0;
}
