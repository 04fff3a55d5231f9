/* SPDX-License-Identifier: Apache-2.0 */
/* One file has many paths: build/../src/a.c and src/a.c. Removing ".." makes them equal, which is
   wrong only where a build folder was a symbolic link. */
#include "source_path.h"

static struct span next_part(const char **at) {
  while (**at == '/') (*at)++;
  const char *start = *at;
  while (**at != '/' && **at != '\0') (*at)++;
  return span_of(start, (size_t)(*at - start));
}

/* Returns the length of PATH without its last part, or its own length if no part can be removed. */
static size_t parent_len(const struct buf *path) {
  size_t len = path->len;
  while (len > 0 && path->data[len - 1] != '/') len--;
  struct span last = span_of(path->data + len, path->len - len);
  if (last.len == 0 || span_is_equal(last, span_of("..", 2))) return path->len;
  return len > 1 ? len - 1 : len;
}

static void add_part(struct buf *ret, struct span part) {
  if (part.len == 0 || span_is_equal(part, span_of(".", 1))) return;
  if (span_is_equal(part, span_of("..", 2))) {
    size_t len = parent_len(ret);
    bool is_root = ret->len == 1 && ret->data[0] == '/';
    if (len < ret->len)
      ret->len = len;
    else if (!is_root) {
      if (ret->len > 0) buf_append_byte(ret, '/');
      buf_append(ret, part.data, part.len);
    }
    return;
  }
  if (ret->len > 0 && ret->data[ret->len - 1] != '/') buf_append_byte(ret, '/');
  buf_append(ret, part.data, part.len);
}

static void add_parts(struct buf *ret, const char *path) {
  if (path[0] == '/') {
    buf_clear(ret);
    buf_append_byte(ret, '/');
  }
  for (struct span part; (part = next_part(&path)).len > 0;) add_part(ret, part);
}

static bool begins_with(const char *path, const char *folder) {
  size_t len = strlen(folder);
  return len > 0 && strncmp(path, folder, len) == 0 && path[len] == '/';
}

void source_path_join(const char *folder, const char *path, struct buf *ret) {
  buf_clear(ret);
  if (!begins_with(path, folder)) add_parts(ret, folder);
  add_parts(ret, path);
}
