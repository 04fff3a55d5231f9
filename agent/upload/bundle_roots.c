/* SPDX-License-Identifier: Apache-2.0 */
/* Debug information selects the files that are sent to the collector, and it is untrusted: it could
   name this user's keys.  So a source is taken only from the given folders, after following links,
   and only if it has the name of a source.  Hidden files are never taken (.git/config may have a
   build's token). */
#include "bundle_roots.h"

#include "bundle_name.h"
#include "elf/regular_file.h"
#include "proto/limits.h"
#include "symbol/source_path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct root {
  char *from; /* prefix in debug information, with a trailing slash only if it is "/"; "": relative
                 paths */
  char *folder; /* the local folder, free of links */
};

struct bundle_roots {
  struct root roots[2 * OPTION_LIST_MAX];
  unsigned count;
};

static int add(struct bundle_roots *roots, const char *from, const char *folder) {
  struct root *root = &roots->roots[roots->count++];
  struct buf whole = {0};
  root->folder = realpath(folder, NULL);
  if (root->folder == NULL) return -errno;
  if (from != NULL) source_path_join("", from, &whole);
  const char *text = from != NULL ? buf_text(&whole) : root->folder;
  root->from = text != NULL ? strdup(text) : NULL;
  buf_fini(&whole);
  return root->from != NULL ? 0 : -ENOMEM;
}

static int add_map(struct bundle_roots *roots, const char *map) {
  const char *equals = strchr(map, '=');
  if (equals == NULL || equals == map) return -EINVAL;
  char *from = strndup(map, (size_t)(equals - map));
  int error = from != NULL ? add(roots, from, equals + 1) : -ENOMEM;
  free(from);
  return error;
}

int bundle_roots_open(const struct option_list *folders, const struct option_list *maps,
                      struct bundle_roots **ret, char *why, size_t why_len) {
  struct bundle_roots *roots = calloc(1, sizeof *roots);
  int error = roots != NULL ? 0 : -ENOMEM;
  const char *word = "";
  for (unsigned i = 0; error == 0 && i < folders->count; i++)
    error = add(roots, NULL, word = folders->values[i]);
  for (unsigned i = 0; error == 0 && i < maps->count; i++)
    error = add_map(roots, word = maps->values[i]);
  if (error == 0) {
    *ret = roots;
    return 0;
  }
  bundle_roots_close(roots);
  snprintf(why, why_len, "%s: %s", word,
           error == -EINVAL ? "is not FROM=FOLDER" : strerror(-error));
  return error;
}

void bundle_roots_close(struct bundle_roots *roots) {
  if (roots == NULL) return;
  for (unsigned i = 0; i < roots->count; i++) {
    free(roots->roots[i].from);
    free(roots->roots[i].folder);
  }
  free(roots);
}

/* Returns the rest of PATH below FOLDER, without its slash; NULL if PATH is not below it.  A
   relative path may begin with "../", which is skipped. */
static const char *below(const char *path, const char *folder) {
  size_t len = strlen(folder);
  if (len == 0) {
    while (strncmp(path, "../", 3) == 0) path += 3;
    return path[0] != '/' ? path : NULL;
  }
  if (strncmp(path, folder, len) != 0) return NULL;
  if (folder[len - 1] == '/') return path + len;
  return path[len] == '/' ? path + len + 1 : NULL;
}

/* Whether a component of PATH begins with a dot. */
static bool is_hidden(const char *path) {
  return path[0] == '.' || strstr(path, "/.") != NULL;
}

static bool may_be_read(const struct bundle_roots *roots, const char *real) {
  for (unsigned i = 0; i < roots->count; i++) {
    const char *rest = below(real, roots->roots[i].folder);
    if (rest != NULL && !is_hidden(rest)) return true;
  }
  return false;
}

/* Opens REST below ROOT. */
static int open_below(const struct bundle_roots *roots, const struct root *root, const char *rest,
                      uint64_t *ret_bytes) {
  char path[PATH_MAX], real[PATH_MAX];
  struct stat status;
  if (snprintf(path, sizeof path, "%s/%s", root->folder, rest) >= (int)sizeof path)
    return -ENAMETOOLONG;
  if (realpath(path, real) == NULL) return -errno;
  if (!may_be_read(roots, real) || !bundle_name_is_source(real)) return -EPERM;
  int fd = regular_file_open(real, &status);
  if (fd < 0) return fd;
  *ret_bytes = (uint64_t)status.st_size;
  return fd;
}

int bundle_roots_find(const struct bundle_roots *roots, const char *path, uint64_t *ret_bytes) {
  int result = -ENOENT;
  for (unsigned i = roots->count; i > 0 && result < 0; i--) { /* maps before folders */
    const struct root *root = &roots->roots[i - 1];
    const char *rest = below(path, root->from);
    int opened = rest != NULL ? open_below(roots, root, rest, ret_bytes) : -ENOENT;
    if (opened >= 0 || result == -ENOENT) result = opened;
  }
  return result;
}
