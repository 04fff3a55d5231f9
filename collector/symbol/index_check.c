/* SPDX-License-Identifier: Apache-2.0 */
/* Two levels of checks of an index. symbol_index_parse reads a few dozen bytes, so opening a cached
   index is cheap; lookups in an index that it accepts are memory-safe. symbol_index_verify reads
   everything once, right after the worker made it, so that names on pages and terminals are
   clean. */
#include "alias_name.h"
#include "common/buf.h"
#include "name_text.h"
#include "symbol_index.h"

#include <errno.h>
#include <stdlib.h>

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

/* Cuts the table of KIND, with entries of ENTRY_BYTES, out of BYTES. */
static int cut_table(struct span bytes, uint32_t kind, size_t entry_bytes, struct span *ret) {
  struct index_section section;
  int error = find_section(bytes, kind, &section);
  if (error != 0) return error;
  if (section.offset % 8 != 0 || section.offset > bytes.len) return -EBADMSG;
  if (section.bytes > bytes.len - section.offset) return -EBADMSG;
  if (section.entry_bytes != entry_bytes || section.bytes % entry_bytes != 0) return -EBADMSG;
  if (section.bytes > INDEX_BLOB_BYTES_MAX) return -EBADMSG;
  *ret = span_of(bytes.data + section.offset, (size_t)section.bytes);
  return 0;
}

/* Aliases are optional. */
static int cut_aliases(struct span bytes, struct symbol_index *index) {
  struct index_section section;
  struct span aliases;
  if (find_section(bytes, INDEX_ALIASES, &section) != 0) return 0;
  int error = cut_table(bytes, INDEX_ALIASES, sizeof *index->aliases, &aliases);
  if (error != 0) return error;
  index->aliases = (const struct index_alias *)(const void *)aliases.data;
  index->alias_count = (uint32_t)(aliases.len / sizeof *index->aliases);
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
  struct span blocks, functions, files, texts, strings;
  struct symbol_index index = {0};
  error = cut_table(bytes, INDEX_BLOCKS, sizeof(struct index_block), &blocks);
  if (error == 0)
    error = cut_table(bytes, INDEX_FUNCTIONS, sizeof(struct index_function), &functions);
  if (error == 0) error = cut_table(bytes, INDEX_FILES, sizeof(uint32_t), &files);
  if (error == 0) error = cut_table(bytes, INDEX_ROWS, 1, &index.rows);
  if (error == 0) error = cut_table(bytes, INDEX_NODES, 1, &index.nodes);
  if (error == 0) error = cut_table(bytes, INDEX_TEXTS, sizeof(struct index_text_block), &texts);
  if (error == 0) error = cut_table(bytes, INDEX_STRINGS, 1, &strings);
  if (error == 0) error = cut_aliases(bytes, &index);
  if (error == 0) error = index_texts_init(&index.texts, texts, strings);
  if (error != 0) return error;
  index.blocks = (const struct index_block *)(const void *)blocks.data;
  index.block_count = (uint32_t)(blocks.len / sizeof *index.blocks);
  index.functions = (const struct index_function *)(const void *)functions.data;
  index.function_count = (uint32_t)(functions.len / sizeof *index.functions);
  index.files = (const uint32_t *)(const void *)files.data;
  index.file_count = (uint32_t)(files.len / sizeof *index.files);
  index.flags = ((const struct index_header *)(const void *)bytes.data)->flags;
  lr_tables_parse(bytes, &index.lr);
  *ret = index;
  return 0;
}

void symbol_index_fini(struct symbol_index *index) {
  index_texts_fini(&index->texts);
  *index = (struct symbol_index){0};
}

/* The index and two bitmaps with a bit for each byte: starts of strings, and starts of valid nodes.
 */
struct check {
  const struct symbol_index *index;
  uint8_t *starts, *sound;
};

static bool is_string_start(const struct check *check, uint32_t offset) {
  if (offset / INDEX_TEXT_BLOCK_BYTES >= check->index->texts.count) return false;
  return (check->starts[offset / 8] >> offset % 8 & 1) != 0;
}

/* Marks where the strings in BLOCK start. Returns -EBADMSG if a string is not clean. */
static int read_strings(struct span block, uint8_t *starts) {
  size_t at = 0;
  while (at < block.len) {
    const uint8_t *end = memchr(block.data + at, '\0', block.len - at);
    if (end == NULL) return -EBADMSG;
    struct span name = span_of(block.data + at, (size_t)(end - block.data) - at);
    if (name.len > INDEX_NAME_BYTES_MAX || !name_text_is_clean(name)) return -EBADMSG;
    starts[at / 8] |= (uint8_t)(1 << at % 8);
    at += name.len + 1;
  }
  return 0;
}

static int verify_strings(struct check *check) {
  const struct index_texts *texts = &check->index->texts;
  struct buf block = {0};
  int error = 0;
  for (uint32_t i = 0; error == 0 && i < texts->count; i++) {
    buf_clear(&block);
    error = index_texts_unpack(texts, i, &block);
    if (error == 0)
      error = read_strings(buf_span(&block), check->starts + i * (INDEX_TEXT_BLOCK_BYTES / 8));
  }
  buf_fini(&block);
  return error;
}

static int verify_functions(const struct check *check) {
  const struct symbol_index *index = check->index;
  for (uint32_t i = 0; i < index->file_count; i++)
    if (!is_string_start(check, index->files[i])) return -EBADMSG;
  for (uint32_t i = 0; i < index->function_count; i++) {
    const struct index_function *function = &index->functions[i];
    if (!is_string_start(check, function->name >> 1)) return -EBADMSG;
    if (function->decl_file > index->file_count) return -EBADMSG;
  }
  return 0;
}

/* Whether the node AT can be read and all its references are valid. */
static bool is_node_sound(const struct check *check, uint32_t at, struct index_node *ret) {
  const struct symbol_index *index = check->index;
  if (!index_node_read(index->nodes, at, ret)) return false;
  if (ret->function != UINT32_MAX && ret->function >= index->function_count) return false;
  if (ret->is_inlined) {
    if (ret->has_call_file && ret->call_file > index->file_count) return false;
    return ret->function != UINT32_MAX;
  }
  if (ret->has_symbol_name && !is_string_start(check, ret->symbol_name >> 1)) return false;
  if ((!ret->has_symbol_name && ret->function == UINT32_MAX) || ret->size == 0) return false;
  uint64_t start = index->blocks[0].address + ret->start;
  return ret->size <= UINT64_MAX - start;
}

/* Whether the node AT and its chain of callers are valid. Callers stand before their callees. No
   row may refer to some of them. */
static bool is_sound(const struct check *check, uint32_t at) {
  struct index_node node;
  while (at < check->index->nodes.len && (check->sound[at / 8] >> at % 8 & 1) == 0) {
    if (!is_node_sound(check, at, &node)) return false;
    check->sound[at / 8] |= (uint8_t)(1 << at % 8);
    if (!node.is_inlined) return true;
    at = node.caller;
  }
  return at < check->index->nodes.len;
}

/* Whether the rows of block NUMBER ascend, up to the first address of the next block. */
static bool is_block_sound(const struct check *check, uint32_t number, bool is_last) {
  const struct symbol_index *index = check->index;
  struct row_reader reader;
  uint64_t last = 0;
  uint32_t node = INDEX_NO_NODE;
  row_reader_init(&reader, index->rows, &index->blocks[number]);
  while (row_reader_next(&reader)) {
    struct index_row row = row_reader_row(&reader);
    if (reader.count > 1 && row.address <= last) return false;
    last = row.address;
    if (row.file > index->file_count) return false;
    if (row.node != INDEX_NO_NODE && row.node != node && !is_sound(check, row.node)) return false;
    node = row.node;
  }
  if (reader.count == 0) return false;
  if (is_last) return node == INDEX_NO_NODE;
  return reader.count == INDEX_BLOCK_ROWS && last < index->blocks[number + 1].address;
}

static int verify_blocks(const struct check *check) {
  uint32_t count = check->index->block_count;
  for (uint32_t i = 0; i < count; i++)
    if (!is_block_sound(check, i, i + 1 == count)) return -EBADMSG;
  return 0;
}

int symbol_index_verify(const struct symbol_index *index) {
  struct check check = {index, calloc(index->texts.count, INDEX_TEXT_BLOCK_BYTES / 8),
                        calloc(index->nodes.len / 8 + 1, 1)};
  int error = check.starts != NULL && check.sound != NULL ? 0 : -ENOMEM;
  if (error == 0) error = verify_strings(&check);
  if (error == 0) error = verify_functions(&check);
  if (error == 0) error = verify_blocks(&check);
  free(check.starts);
  free(check.sound);
  return error;
}
