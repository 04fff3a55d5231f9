/* SPDX-License-Identifier: Apache-2.0 */
#include "found.h"

#include "common/array.h"

#include <errno.h>
#include <stdlib.h>

enum { FIRST_ROOM = 64 };

#define NAMES_BYTES_MAX ((size_t)1 << 30)

void found_init(struct found *found) {
  *found = (struct found){0};
  arena_init(&found->names, NAMES_BYTES_MAX);
}

void found_fini(struct found *found) {
  free(found->files);
  arena_fini(&found->names);
  *found = (struct found){0};
}

/* Returns a copy of SOURCE.  Files of one archive are consecutive and share it. */
static const char *keep_source(struct found *found, const char *source) {
  const char *last = found->count > 0 ? found->files[found->count - 1].source : NULL;
  if (last != NULL && strcmp(last, source) == 0) return last;
  return arena_string(&found->names, source, strlen(source));
}

int found_add(struct found *found, const struct found_file *file) {
  if (found->count == FOUND_FILES_MAX) return -EOVERFLOW;
  void *files =
      array_grow(found->files, found->count, &found->cap, FIRST_ROOM, sizeof *found->files);
  if (files == NULL) return -ENOMEM;
  found->files = files;
  struct found_file copy = *file;
  copy.source = keep_source(found, file->source);
  copy.name = arena_string(&found->names, file->name, strlen(file->name));
  if (copy.source == NULL || copy.name == NULL) return -ENOMEM;
  found->files[found->count++] = copy;
  return 0;
}
