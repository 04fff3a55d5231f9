/* SPDX-License-Identifier: Apache-2.0 */
/* Link-time optimization leaves two descriptions of one file. That of its own compilation often has
   a folder made relative for reproducible builds; that of the link has an absolute one. Functions
   are declared in the first and have their lines in the second. Readers expect one file, and lines
   in the file where the function is declared take less room. */
#include "source_files.h"

#include <errno.h>
#include <stdlib.h>

enum { ENDING_PARTS_MAX = 64 };

struct unite {
  const struct buf *strings;
  const uint32_t *files; /* offsets in the strings */
  uint32_t count;
  struct table endings; /* hash of the text after a slash of an absolute path -> file */
  uint32_t *same;       /* by file, from 0 on: the file that replaces it */
  uint32_t *number;     /* by file: its new number; 0: unused */
  struct interner kept; /* the new files */
};

static const char *path_of(const struct unite *unite, uint32_t file) {
  return (const char *)unite->strings->data + unite->files[file];
}

/* Adds the shorter endings of the path of FILE, at most ENDING_PARTS_MAX. Each is hashed whole, and
   a path of slashes alone has as many endings as bytes. */
static int add_endings(struct unite *unite, uint32_t file) {
  int error = 0;
  const char *path = path_of(unite, file);
  if (path[0] != '/') return 0;
  size_t at = strlen(path);
  const char *end = path + at;
  for (int parts = 0; error == 0 && parts < ENDING_PARTS_MAX && at > 0; at--) {
    if (path[at - 1] != '/') continue;
    parts++;
    error = table_add(&unite->endings, table_hash(path + at, (size_t)(end - path) - at, 0), file);
  }
  return error;
}

static bool ends_with(const char *path, const char *ending) {
  size_t len = strlen(path), ending_len = strlen(ending);
  if (len <= ending_len || path[len - ending_len - 1] != '/') return false;
  return memcmp(path + len - ending_len, ending, ending_len) == 0;
}

/* Returns the only absolute path that ends with the path of FILE; FILE if there is none, or
   several. */
static uint32_t find_whole(const struct unite *unite, uint32_t file) {
  uint32_t cursor, found = file;
  const char *path = path_of(unite, file);
  if (path[0] == '/' || path[0] == '.' || strchr(path, '/') == NULL) return file;
  uint64_t key = table_hash(path, strlen(path), 0);
  for (uint32_t at = table_find(&unite->endings, key, &cursor); at != TABLE_NONE;
       at = table_next(&unite->endings, key, &cursor)) {
    if (!ends_with(path_of(unite, at), path)) continue;
    if (found != file) return file;
    found = at;
  }
  return found;
}

static int renumber(struct unite *unite, struct index_names *names, uint32_t *file) {
  if (*file == 0) return 0;
  uint32_t same = unite->same[*file - 1], text, number;
  if (unite->number[same] == 0) {
    int error = index_names_add_text(names, span_of_string(path_of(unite, same)), &text);
    if (error == 0)
      error = interner_record(&unite->kept, span_of(&text, sizeof text), SOURCE_PATHS_BYTES_MAX,
                              &number);
    if (error != 0) return error;
    unite->number[same] = number + 1;
  }
  *file = unite->number[same];
  return 0;
}

static int renumber_all(struct unite *unite, struct source_map *map, struct index_names *names) {
  struct index_function *functions = (struct index_function *)(void *)map->functions.bytes.data;
  size_t function_count = map->functions.bytes.len / sizeof *functions;
  int error = 0;
  for (size_t i = 0; error == 0 && i < function_count; i++) {
    uint32_t file = functions[i].decl_file;
    error = renumber(unite, names, &file);
    functions[i].decl_file = file & INDEX_DECL_MAX;
  }
  for (uint32_t i = 0; error == 0 && i < map->call_count; i++)
    error = renumber(unite, names, &map->calls[i].file);
  for (uint32_t i = 0; error == 0 && i < map->row_count; i++)
    error = renumber(unite, names, &map->rows[i].file);
  return error;
}

int source_files_settle(struct source_map *map, struct index_names *names) {
  struct unite unite = {.strings = &map->paths.bytes,
                        .files = (const uint32_t *)(const void *)map->files.bytes.data,
                        .count = (uint32_t)(map->files.bytes.len / sizeof(uint32_t))};
  if (unite.count == 0) return 0;
  int error = 0;
  for (uint32_t file = 0; error == 0 && file < unite.count; file++)
    error = add_endings(&unite, file);
  unite.same = calloc(unite.count, sizeof *unite.same);
  unite.number = calloc(unite.count, sizeof *unite.number);
  if (unite.same == NULL || unite.number == NULL) error = -ENOMEM;
  for (uint32_t file = 0; error == 0 && file < unite.count; file++)
    unite.same[file] = find_whole(&unite, file);
  if (error == 0) error = renumber_all(&unite, map, names);
  free(unite.same);
  free(unite.number);
  table_fini(&unite.endings);
  interner_fini(&map->files);
  map->files = unite.kept;
  return error;
}
