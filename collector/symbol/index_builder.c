/* SPDX-License-Identifier: Apache-2.0 */
/* Lays out the symbol index of one file: names demangled and cleaned, then three tables behind a
   header.  Which symbols there are is elf_image's business, which of them wins symbol_set's.

   The index is made in memory and handed out whole: the worker has no file to seek in, and a
   reader never sees half of one. */
#include "index_builder.h"

#include "common/buf.h"
#include "demangle.h"
#include "kernel_base.h"
#include "map_text.h"
#include "name_text.h"
#include "symbol_set.h"

#include <errno.h>
#include <stdio.h>

struct layout {
  struct buf symbols, names;
  struct buf scratch; /* one demangled name */
};

static int add_name(struct layout *layout, struct span raw, uint32_t *ret_offset) {
  if (layout->names.len + INDEX_NAME_BYTES_MAX + 1 > INDEX_STRINGS_BYTES_MAX) return -EOVERFLOW;
  *ret_offset = (uint32_t)layout->names.len;
  buf_clear(&layout->scratch);
  struct span name = demangle(raw, &layout->scratch) ? buf_span(&layout->scratch) : raw;
  name_text_append(name, INDEX_NAME_BYTES_MAX, &layout->names);
  return 0;
}

static int lay_symbols(struct layout *layout, const struct symbol_set *set) {
  for (uint32_t i = 0; i < set->count; i++) {
    const struct candidate *candidate = &set->candidates[i];
    struct index_symbol symbol = {.start = candidate->start, .size = candidate->size};
    int error = add_name(layout, candidate->name, &symbol.name);
    if (error != 0) return error;
    buf_append(&layout->symbols, &symbol, sizeof symbol);
  }
  if (layout->names.len == 0) buf_append_byte(&layout->names, '\0');
  return layout->symbols.failed || layout->names.failed ? -ENOMEM : 0;
}

static void put_table(struct buf *out, struct span table) {
  static const uint8_t zeros[8];
  buf_append(out, table.data, table.len);
  buf_append(out, zeros, (8 - table.len % 8) % 8);
}

static uint64_t padded(size_t len) {
  return (len + 7) / 8 * 8;
}

static int write_index(const struct layout *layout, const struct symbol_set *set, uint32_t flags,
                       struct buf *ret) {
  struct span pieces = span_of(set->pieces, set->piece_count * sizeof *set->pieces);
  struct index_section sections[] = {
      {INDEX_SYMBOLS, sizeof(struct index_symbol), 0, layout->symbols.len},
      {INDEX_PIECES, sizeof(struct index_piece), 0, pieces.len},
      {INDEX_STRINGS, 1, 0, layout->names.len},
  };
  enum { SECTION_COUNT = sizeof sections / sizeof sections[0] };
  uint64_t at = sizeof(struct index_header) + sizeof sections;
  for (size_t i = 0; i < SECTION_COUNT; i++) {
    sections[i].offset = at;
    at += padded((size_t)sections[i].bytes);
  }
  struct index_header header = {.magic = INDEX_MAGIC,
                                .version = INDEX_VERSION,
                                .order = INDEX_ORDER,
                                .file_bytes = at,
                                .section_count = SECTION_COUNT,
                                .flags = flags};
  buf_append(ret, &header, sizeof header);
  buf_append(ret, sections, sizeof sections);
  put_table(ret, buf_span(&layout->symbols));
  put_table(ret, pieces);
  put_table(ret, buf_span(&layout->names));
  return ret->failed ? -ENOMEM : 0;
}

static int lay_out(const struct symbol_set *set, const struct elf_image *image, struct buf *ret) {
  struct layout layout = {0};
  uint32_t flags =
      (image->has_symtab ? 0 : INDEX_FROM_DYNSYM) | (image->has_dwarf ? INDEX_HAS_DWARF : 0);
  int error = lay_symbols(&layout, set);
  if (error == 0) error = write_index(&layout, set, flags, ret);
  buf_fini(&layout.symbols);
  buf_fini(&layout.names);
  buf_fini(&layout.scratch);
  return error;
}

static int read_file(struct span file, struct symbol_set *set, struct elf_image *ret, char *why,
                     size_t why_len) {
  int error = map_text_is(file) ? map_text_read(file, set, ret, why, why_len)
                                : elf_image_read(file, set, ret, why, why_len);
  if (error == 0) kernel_base_apply(set);
  return error;
}

int index_builder_build(struct span file, enum index_depth depth, struct buf *ret,
                        struct index_summary *ret_summary, char *why, size_t why_len) {
  (void)depth;
  struct symbol_set set = {0};
  struct index_summary summary = {0};
  int error = read_file(file, &set, &summary.image, why, why_len);
  if (error == 0 && summary.image.function_count == 0 && summary.image.bounds_count == 0) {
    snprintf(why, why_len, "it has no function symbols%s",
             summary.image.is_map ? "" : ": stripped");
    error = -EBADMSG;
  }
  if (error == 0) error = symbol_set_settle(&set);
  if (error == 0) error = lay_out(&set, &summary.image, ret);
  summary.symbol_count = set.count;
  symbol_set_fini(&set);
  if (error == -ENOMEM) snprintf(why, why_len, "its index takes more memory than is allowed");
  *ret_summary = summary;
  return error;
}
