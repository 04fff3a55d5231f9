/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of the mapped symbol index.

   Two depths of distrust.  symbol_index_parse looks at a few dozen bytes, so that opening a cached
   index costs nothing; after it no lookup can leave the tables, because the one reference that a
   lookup follows (piece -> symbol -> name) is checked when it is followed and the strings end in
   NUL.  A wrong index then gives wrong names, never a crash.  symbol_index_verify reads everything
   once, right after the worker made it, so that names which reach pages and terminals are clean.

   It does no I/O and allocates nothing: whoever maps the file owns it. */
#include "symbol_index.h"

#include "name_text.h"

#include <errno.h>

static int find_section(struct span bytes, uint32_t kind, struct index_section *ret) {
  const struct index_header *header = (const struct index_header *)(const void *)bytes.data;
  const struct index_section *table = (const struct index_section *)(const void *)(header + 1);
  for (uint32_t i = 0; i < header->section_count; i++) {
    if (table[i].kind != kind) continue;
    *ret = table[i];
    return 0;
  }
  return -EBADMSG;
}

/* Cuts the table of KIND, of ENTRY_BYTES an entry, out of BYTES. */
static int cut_table(struct span bytes, uint32_t kind, size_t entry_bytes, struct span *ret) {
  struct index_section section;
  int error = find_section(bytes, kind, &section);
  if (error != 0) return error;
  if (section.offset % 8 != 0 || section.offset > bytes.len) return -EBADMSG;
  if (section.bytes > bytes.len - section.offset) return -EBADMSG;
  if (section.entry_bytes != entry_bytes || section.bytes % entry_bytes != 0) return -EBADMSG;
  if (section.bytes / entry_bytes > INDEX_STRINGS_BYTES_MAX) return -EBADMSG;
  *ret = span_of(bytes.data + section.offset, (size_t)section.bytes);
  return 0;
}

static int check_header(struct span bytes) {
  if (bytes.len < sizeof(struct index_header)) return -EBADMSG;
  if ((uintptr_t)bytes.data % _Alignof(struct index_header) != 0) return -EBADMSG;
  const struct index_header *header = (const struct index_header *)(const void *)bytes.data;
  if (memcmp(header->magic, INDEX_MAGIC, sizeof header->magic) != 0) return -EBADMSG;
  if (header->version != INDEX_VERSION || header->order != INDEX_ORDER) return -EPROTO;
  if (header->file_bytes != bytes.len) return -EBADMSG;
  if (header->section_count > INDEX_SECTIONS_MAX) return -EBADMSG;
  size_t table_bytes = header->section_count * sizeof(struct index_section);
  return bytes.len - sizeof *header < table_bytes ? -EBADMSG : 0;
}

int symbol_index_parse(struct span bytes, struct symbol_index *ret) {
  int error = check_header(bytes);
  if (error != 0) return error;
  struct span symbols, pieces, strings;
  error = cut_table(bytes, INDEX_SYMBOLS, sizeof(struct index_symbol), &symbols);
  if (error == 0) error = cut_table(bytes, INDEX_PIECES, sizeof(struct index_piece), &pieces);
  if (error == 0) error = cut_table(bytes, INDEX_STRINGS, 1, &strings);
  if (error != 0) return error;
  if (strings.len == 0 || strings.data[strings.len - 1] != '\0') return -EBADMSG;
  const struct index_header *header = (const struct index_header *)(const void *)bytes.data;
  *ret = (struct symbol_index){
      .symbols = (const struct index_symbol *)(const void *)symbols.data,
      .pieces = (const struct index_piece *)(const void *)pieces.data,
      .strings = strings,
      .symbol_count = (uint32_t)(symbols.len / sizeof(struct index_symbol)),
      .piece_count = (uint32_t)(pieces.len / sizeof(struct index_piece)),
      .flags = header->flags,
  };
  return 0;
}

static int verify_symbols(const struct symbol_index *index) {
  uint64_t last = 0;
  for (uint32_t i = 0; i < index->symbol_count; i++) {
    const struct index_symbol *symbol = &index->symbols[i];
    if (symbol->start < last || symbol->size == 0) return -EBADMSG;
    if (symbol->size > UINT64_MAX - symbol->start) return -EBADMSG;
    if (symbol->name >= index->strings.len) return -EBADMSG;
    last = symbol->start;
  }
  return 0;
}

static int verify_pieces(const struct symbol_index *index) {
  for (uint32_t i = 0; i < index->piece_count; i++) {
    const struct index_piece *piece = &index->pieces[i];
    if (i > 0 && piece->start <= piece[-1].start) return -EBADMSG;
    if (piece->symbol == INDEX_NO_SYMBOL) continue;
    if (piece->symbol >= index->symbol_count || i + 1 == index->piece_count) return -EBADMSG;
    const struct index_symbol *symbol = &index->symbols[piece->symbol];
    if (piece->start < symbol->start) return -EBADMSG;
    if (piece[1].start - symbol->start > symbol->size) return -EBADMSG;
  }
  return 0;
}

static int verify_strings(struct span strings) {
  while (strings.len > 0) {
    const uint8_t *end = memchr(strings.data, '\0', strings.len);
    struct span name;
    if (end == NULL || !span_take(&strings, (size_t)(end - strings.data), &name)) return -EBADMSG;
    if (name.len > INDEX_NAME_BYTES_MAX || !name_text_is_clean(name)) return -EBADMSG;
    span_take(&strings, 1, &name);
  }
  return 0;
}

int symbol_index_verify(const struct symbol_index *index) {
  int error = verify_symbols(index);
  if (error == 0) error = verify_pieces(index);
  return error != 0 ? error : verify_strings(index->strings);
}

/* The last piece that starts at or before ADDRESS, or NULL. */
static const struct index_piece *find_piece(const struct symbol_index *index, uint64_t address) {
  uint32_t low = 0, high = index->piece_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (index->pieces[middle].start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low == 0 ? NULL : &index->pieces[low - 1];
}

int symbol_index_find(const struct symbol_index *index, uint64_t address,
                      struct symbol_match *ret) {
  const struct index_piece *piece = find_piece(index, address);
  if (piece == NULL || piece->symbol >= index->symbol_count) return -ENOENT;
  const struct index_symbol *symbol = &index->symbols[piece->symbol];
  if (address < symbol->start || address - symbol->start >= symbol->size) return -ENOENT;
  if (symbol->name >= index->strings.len) return -ENOENT;
  *ret = (struct symbol_match){
      .name = (const char *)index->strings.data + symbol->name,
      .start = symbol->start,
      .size = symbol->size,
  };
  return 0;
}

int symbol_index_chain(const struct symbol_index *index, uint64_t address,
                       struct symbol_frame frames[SYMBOL_CHAIN_MAX]) {
  struct symbol_match match;
  int error = symbol_index_find(index, address, &match);
  if (error != 0) return error;
  frames[0] = (struct symbol_frame){.name = match.name, .start = match.start, .size = match.size};
  return 1;
}
