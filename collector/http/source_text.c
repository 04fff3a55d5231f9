/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of several builds count as one function, and its lines may differ between builds. So all
   text is from one build: the one with the most samples among those with uploaded sources. The
   answer names it. */
#include "source_text.h"

#include "common/arena.h"
#include "hex_id.h"
#include "names/source_store.h"
#include "query/detail.h"
#include "symbol/source_path.h"

enum { LINES_AROUND = 5 };

void source_text_open(const struct source_store *store, const struct detail_rows *builds,
                      struct arena *arena, struct source_text *ret) {
  *ret = (struct source_text){.arena = arena};
  for (uint32_t i = 0; i < builds->count && ret->build_id == NULL; i++) {
    struct hex_id id;
    const char *name = builds->rows[i].name;
    if (hex_id_parse(span_of_string(name), &id) == 0 &&
        source_store_map(store, span_of(id.bytes, id.len), &ret->bundle) == 0)
      ret->build_id = name;
  }
}

void source_text_close(struct source_text *text) {
  for (unsigned i = 0; i < text->file_count; i++) buf_fini(&text->files[i].content);
  source_store_unmap(&text->bundle);
}

/* Finds the lines of FILE's content. Returns false if memory is out: the file then has no lines. */
static bool split(struct source_text_file *file, struct arena *arena) {
  struct span content = buf_span(&file->content);
  uint32_t count = 1;
  for (size_t i = 0; i < content.len; i++) count += content.data[i] == '\n';
  uint32_t *starts = arena_array(arena, (size_t)count + 1, sizeof *starts);
  if (starts == NULL) return false;
  uint32_t line = 0;
  for (size_t i = 0; i < content.len; i++)
    if (content.data[i] == '\n') starts[++line] = (uint32_t)i + 1;
  bool is_ended = starts[line] == content.len; /* the last line ends in a newline */
  if (!is_ended) starts[++line] = (uint32_t)content.len + 1;
  file->starts = starts;
  file->line_count = line;
  return true;
}

/* Returns the file PATH, without lines if it is not available; NULL if there are too many files. */
static const struct source_text_file *find_file(struct source_text *text, const char *path) {
  for (unsigned i = 0; i < text->file_count; i++)
    if (strcmp(text->files[i].path, path) == 0) return &text->files[i];
  if (text->file_count == SOURCE_TEXT_FILES_MAX) return NULL;
  struct source_text_file *file = &text->files[text->file_count++];
  struct source_entry entry;
  *file = (struct source_text_file){.path = path};
  struct buf whole = {0};
  source_path_join("/", path, &whole); /* reproducible builds record ./src/a.c */
  if (!whole.failed && source_bundle_find(&text->bundle, buf_span(&whole), &entry) == 0 &&
      source_entry_unpack(&entry, &file->content) == 0)
    split(file, text->arena);
  buf_fini(&whole);
  return file;
}

bool source_text_line(struct source_text *text, const char *path, uint32_t line, struct span *ret) {
  if (text->build_id == NULL || path == NULL || line == 0) return false;
  const struct source_text_file *file = find_file(text, path);
  if (file == NULL || line > file->line_count) return false;
  size_t start = file->starts[line - 1], end = file->starts[line] - 1;
  if (end > start && file->content.data[end - 1] == '\r') end--;
  if (end - start > SOURCE_TEXT_LINE_BYTES) end = start + SOURCE_TEXT_LINE_BYTES;
  *ret = span_of(file->content.data + start, end - start);
  return true;
}

bool source_text_choose(struct source_text *text, const struct detail_rows *lines,
                        struct source_listing *ret) {
  struct span content;
  uint32_t first = UINT32_MAX, last = 0;
  const char *path = NULL;
  for (uint32_t i = 0; i < lines->count; i++) {
    const struct detail_row *row = &lines->rows[i];
    if (path != NULL && (row->name == NULL || strcmp(row->name, path) != 0)) continue;
    if (!source_text_line(text, row->name, row->line, &content)) continue;
    path = row->name;
    if (row->line < first) first = row->line;
    if (row->line > last) last = row->line;
  }
  if (path == NULL) return false;
  first = first > LINES_AROUND ? first - LINES_AROUND : 1;
  const struct source_text_file *file = find_file(text, path);
  last = file->line_count - last < LINES_AROUND ? file->line_count : last + LINES_AROUND;
  if (last - first >= SOURCE_TEXT_LINES_MAX) last = first + SOURCE_TEXT_LINES_MAX - 1;
  *ret = (struct source_listing){path, first, last};
  return true;
}
