/* SPDX-License-Identifier: Apache-2.0 */
/* Debug information is untrusted: the uploaded files may be built from third-party code.  So the
   collector's worker parses it, in its sandbox.  Of the resulting index only the file list is used:
   files that have lines of code, or inlined functions. */
#include "bundle_paths.h"

#include "proto/limits.h"
#include "symbol/index_file.h"
#include "symbol/nursery.h"
#include "symbol/nursery_index.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MS_MAX = 120000 };

struct bundle_reader {
  struct nursery *nursery;
};

int bundle_reader_open(struct bundle_reader **ret) {
  struct bundle_reader *reader = calloc(1, sizeof *reader);
  const struct nursery_options options = {.deadline_ms = FILE_MS_MAX, .deadlines = 1};
  int error = reader != NULL ? nursery_open(&options, &reader->nursery) : -ENOMEM;
  if (error == 0)
    *ret = reader;
  else
    free(reader);
  return error;
}

void bundle_reader_close(struct bundle_reader *reader) {
  if (reader == NULL) return;
  nursery_close(reader->nursery);
  free(reader);
}

static int take_paths(const struct symbol_index *index, struct arena *arena,
                      struct bundle_paths *ret) {
  struct bundle_paths paths = {.arena = arena};
  paths.paths = arena_array(arena, index->file_count + 1u, sizeof *paths.paths);
  if (paths.paths == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < index->file_count; i++) {
    const char *path = index_texts_at(&index->texts, index->files[i]);
    if (path == NULL) return -EBADMSG;
    size_t len = strlen(path);
    if (len == 0 || len > LIMIT_PATH_BYTES) continue;
    path = paths.paths[paths.count++] = arena_string(arena, path, len);
    if (path == NULL) return -ENOMEM;
  }
  *ret = paths;
  return 0;
}

static int read_index(int fd, struct arena *arena, struct bundle_paths *ret) {
  struct index_file file;
  int error = index_file_read(fd, &file);
  if (error != 0) return error;
  error = take_paths(&file.index, arena, ret);
  index_file_close(&file);
  return error;
}

int bundle_paths_read(struct bundle_reader *reader, int fd, struct arena *arena,
                      struct bundle_paths *ret, char *why, size_t why_len) {
  *why = '\0';
  const struct worker_job job = {.elf = fd, .depth = INDEX_ALL};
  int index = nursery_index(reader->nursery, &job, why, why_len);
  if (index >= 0) *why = '\0'; /* paths of missing files are not needed */
  int error = index < 0 ? index : read_index(index, arena, ret);
  if (index >= 0) close(index);
  if (error != 0 && *why == '\0') snprintf(why, why_len, "%s", strerror(-error));
  return error;
}
