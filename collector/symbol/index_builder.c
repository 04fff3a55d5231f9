/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the symbol index of one file: its symbols and its debug information, merged (index_layout),
   as tables behind a header. elf_image reads the symbols, symbol_set chooses among them, and
   dwarf_reader reads debug information.

   If debug information is malformed or over a limit, the index is made of the symbols alone and the
   reason is reported.

   The index is made in memory and returned whole: the worker has no file to seek in, and a reader
   never sees an incomplete index. */
#include "index_builder.h"

#include "alias_name.h"
#include "code_reach.h"
#include "common/buf.h"
#include "dwarf_reader.h"
#include "index_layout.h"
#include "index_rows.h"
#include "index_texts.h"
#include "kernel_base.h"
#include "lr_build.h"
#include "lr_format.h"
#include "map_text.h"
#include "packed_symbols.h"
#include "symbol_set.h"

#include <errno.h>
#include <stdio.h>

struct making {
  const struct index_input *input;
  struct buf unpacked; /* contents of .gnu_debugdata */
  struct symbol_set set;
  struct source_map source;
  struct index_names names;
  struct index_tables tables;
  struct buf lr_places, lr_calls, aliases;
  struct buf text_blocks, texts; /* the packed strings */
  struct dwarf_file *dwarf;
  struct code_reach *reach;
  struct index_summary summary;
};

static void making_fini(struct making *making) {
  symbol_set_fini(&making->set);
  source_map_fini(&making->source);
  index_names_fini(&making->names);
  index_tables_fini(&making->tables);
  buf_fini(&making->lr_places);
  buf_fini(&making->lr_calls);
  buf_fini(&making->aliases);
  buf_fini(&making->unpacked);
  buf_fini(&making->text_blocks);
  buf_fini(&making->texts);
  dwarf_file_close(making->dwarf);
  code_reach_close(making->reach);
}

static void put_table(struct buf *out, struct span table) {
  static const uint8_t zeros[8];
  buf_append(out, table.data, table.len);
  buf_append(out, zeros, (8 - table.len % 8) % 8);
}

static uint64_t padded(uint64_t len) {
  return (len + 7) / 8 * 8;
}

static uint32_t flags_of(const struct index_summary *summary) {
  return (summary->image.has_symtab ? 0 : INDEX_FROM_DYNSYM) |
         (summary->image.has_dwarf ? INDEX_HAS_DWARF : 0) |
         (summary->is_from_dwarf ? INDEX_FROM_DWARF : 0);
}

static int write_index(const struct making *making, struct buf *ret) {
  const struct {
    uint32_t kind, entry_bytes;
    const struct buf *bytes;
  } tables[] = {
      {INDEX_BLOCKS, sizeof(struct index_block), &making->tables.blocks},
      {INDEX_FUNCTIONS, sizeof(struct index_function), &making->source.functions.bytes},
      {INDEX_FILES, sizeof(uint32_t), &making->source.files.bytes},
      {INDEX_ROWS, 1, &making->tables.rows},
      {INDEX_NODES, 1, &making->tables.nodes},
      {INDEX_TEXTS, sizeof(struct index_text_block), &making->text_blocks},
      {INDEX_STRINGS, 1, &making->texts},
      {INDEX_ALIASES, sizeof(struct index_alias), &making->aliases},
      {INDEX_LR_PLACES, 1, &making->lr_places},
      {INDEX_LR_CALLS, 1, &making->lr_calls},
  };
  enum { TABLE_COUNT = sizeof tables / sizeof tables[0] };
  struct index_section sections[TABLE_COUNT];
  uint64_t at = sizeof(struct index_header) + sizeof sections;
  for (size_t i = 0; i < TABLE_COUNT; i++) {
    sections[i] =
        (struct index_section){tables[i].kind, tables[i].entry_bytes, at, tables[i].bytes->len};
    at += padded(tables[i].bytes->len);
  }
  struct index_header header = {.magic = INDEX_MAGIC,
                                .version = INDEX_VERSION,
                                .order = INDEX_ORDER,
                                .file_bytes = at,
                                .section_count = TABLE_COUNT,
                                .flags = flags_of(&making->summary)};
  buf_append(ret, &header, sizeof header);
  buf_append(ret, sections, sizeof sections);
  for (size_t i = 0; i < TABLE_COUNT; i++) put_table(ret, buf_span(tables[i].bytes));
  return ret->failed ? -ENOMEM : 0;
}

/* Adds the functions of .gnu_debugdata to the exported ones, which it does not repeat. If it is
   malformed, the set stays as it was and WHY has the reason. */
static void read_packed(struct making *making, char *why, size_t why_len) {
  struct elf_image *image = &making->summary.image, packed;
  uint32_t symbol_count = making->set.count;
  char what[96] = "it is no xz stream of 64 MiB at most";
  int error = packed_symbols_unpack(image->packed, &making->unpacked);
  if (error == 0)
    error = elf_image_read(buf_span(&making->unpacked), &making->set, &packed, what, sizeof what);
  if (error != 0) {
    making->set.count = symbol_count;
    snprintf(why, why_len, "its .gnu_debugdata cannot be read: %s", what);
    return;
  }
  image->has_symtab = packed.has_symtab;
  image->function_count += packed.function_count;
}

static int read_symbols(struct making *making, char *why, size_t why_len) {
  struct span file = making->input->file;
  struct elf_image *image = &making->summary.image;
  if (map_text_is(file)) return map_text_read(file, &making->set, image, why, why_len);
  int error = elf_image_read(file, &making->set, image, why, why_len);
  if (error == 0 && !image->has_symtab && image->packed.len > 0) read_packed(making, why, why_len);
  return error == 0 ? lr_build_trampolines(file, &making->set) : error;
}

/* Adds the debug information, or leaves everything unchanged with the reason in WHY. */
static void read_dwarf(struct making *making, char *why, size_t why_len) {
  uint32_t symbol_count = making->set.count;
  struct dwarf_input input = {making->input->file, making->input->supplements,
                              making->input->supplement_count, making->input->missing};
  int error = dwarf_file_read(&input, &making->names, &making->source, &making->set, &making->dwarf,
                              why, why_len);
  if (error == 0) making->summary.missing_units = dwarf_file_missing(making->dwarf);
  making->summary.is_from_dwarf = error == 0 && making->source.run_count > 0;
  if (error == 0 && !making->summary.is_from_dwarf && why[0] == '\0')
    snprintf(why, why_len, "its debug information tells of no function");
  if (error == 0) return;
  making->set.count = symbol_count;
  source_map_fini(&making->source);
  index_names_fini(&making->names);
}

/* Whether a second index of the file, with its debug information, will follow. */
static bool is_first_of_two(const struct making *making) {
  return making->input->depth != INDEX_ALL && making->summary.image.has_dwarf;
}

/* If debug information is still to be read, the code is read later too: names come first. A
   kernel's addresses are moved, and no call edges are requested for it. */
static int read_code(struct making *making, bool is_moved) {
  if (is_first_of_two(making) || is_moved) return 0;
  return lr_build(making->input->file, &making->lr_places, &making->lr_calls);
}

/* Opens the code for code_reach. A list of symbols has no code, and a debug file has no bytes of
   it. */
static int read_reach(struct making *making) {
  const struct elf_image *image = &making->summary.image;
  if (image->is_map) return 0;
  int error = code_reach_open(making->input->file, image->has_symtab, &making->reach);
  making->set.end_context = making->reach;
  if (making->reach != NULL) making->set.end_of = code_reach_end;
  return error;
}

/* Aliases with offsets over 32 bits are left out. */
static int write_aliases(struct making *making) {
  const struct symbol_set *set = &making->set;
  uint64_t base = set->piece_count > 0 ? set->pieces[0].start : 0;
  for (uint32_t i = 0; i < set->alias_count; i++) {
    uint64_t offset = set->aliases[i].start - base;
    const struct index_alias alias = {(uint32_t)offset, set->aliases[i].hash};
    if (offset <= UINT32_MAX) buf_append(&making->aliases, &alias, sizeof alias);
  }
  return making->aliases.failed ? -ENOMEM : 0;
}

static int lay_out(struct making *making) {
  uint64_t moved = kernel_base_apply(&making->set);
  source_map_move(&making->source, moved);
  int error = moved != 0 ? 0 : read_reach(making);
  if (error == 0) error = symbol_set_settle(&making->set);
  making->summary.symbol_count = making->set.count;
  uint32_t offset;
  if (error == 0) error = read_code(making, moved != 0);
  if (error == 0) error = write_aliases(making);
  if (error == 0) error = index_names_add_text(&making->names, span_of("", 0), &offset);
  if (error != 0) return error;
  error = index_layout_make(&making->set, &making->source, &making->names, &making->tables);
  if (error != 0) return error;
  return index_texts_pack(buf_span(&making->names.strings.bytes),
                          is_first_of_two(making) ? INDEX_TEXTS_SOON : INDEX_TEXTS_SMALL,
                          &making->text_blocks, &making->texts);
}

/* A stripped program may have neither names nor bounds, but its code gives return addresses. It
   serves call edges beside its debug file, which has no code. */
static bool has_functions(const struct making *making) {
  const struct elf_image *image = &making->summary.image;
  return making->set.count > 0 &&
         (image->function_count > 0 || image->bounds_count > 0 || making->summary.is_from_dwarf);
}

static int make(struct making *making, struct buf *ret, char *why, size_t why_len) {
  int error = read_symbols(making, why, why_len);
  if (error != 0) return error;
  const struct elf_image *image = &making->summary.image;
  if (image->is_supplement) {
    snprintf(why, why_len, "it is debug information that other files refer to");
    return -EBADMSG;
  }
  if (making->input->depth == INDEX_ALL && image->has_dwarf) read_dwarf(making, why, why_len);
  bool is_nameless = !has_functions(making);
  if (is_nameless) making->set.count = 0;
  error = lay_out(making);
  if (error == 0 && is_nameless && making->lr_calls.len == 0 && !is_first_of_two(making)) {
    snprintf(why, why_len, "it has no function symbols%s", image->is_map ? "" : ": stripped");
    return -EBADMSG;
  }
  if (error == 0) error = write_index(making, ret);
  if (error == -ENOMEM) snprintf(why, why_len, "its index takes more memory than is allowed");
  if (error == -EOVERFLOW) snprintf(why, why_len, "its index would be over a limit of the format");
  return error;
}

int index_builder_build_with(const struct index_input *input, struct buf *ret,
                             struct index_summary *ret_summary, char *why, size_t why_len) {
  struct making making = {.input = input};
  why[0] = '\0';
  int error = make(&making, ret, why, why_len);
  *ret_summary = making.summary;
  making_fini(&making);
  return error;
}

int index_builder_build(struct span file, enum index_depth depth, struct buf *ret,
                        struct index_summary *ret_summary, char *why, size_t why_len) {
  struct index_input input = {.file = file, .depth = depth};
  return index_builder_build_with(&input, ret, ret_summary, why, why_len);
}
