/* SPDX-License-Identifier: Apache-2.0 */
#include "file_tree.h"

#include <errno.h>
#include <fts.h>
#include <string.h>

static int compare(const FTSENT **a, const FTSENT **b) {
  return strcmp((*a)->fts_name, (*b)->fts_name);
}

int file_tree_walk(const char *path, int (*on_path)(void *context, const char *path, bool is_given),
                   void (*on_trouble)(void *context, const char *path, const char *why),
                   void *context) {
  char *const roots[] = {(char *)(unsigned long)path, NULL}; /* fts does not write to it */
  FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, compare);
  if (tree == NULL) return -errno;
  int result = 0;
  for (FTSENT *entry; result == 0 && (entry = fts_read(tree)) != NULL;) {
    bool is_given = entry->fts_level == 0;
    switch (entry->fts_info) {
    case FTS_F:
      result = on_path(context, entry->fts_path, is_given);
      break;
    case FTS_D:
      if (entry->fts_level < FILE_TREE_DEPTH_MAX) break;
      on_trouble(context, entry->fts_path, "folders are nested too deep (FILE_TREE_DEPTH_MAX)");
      fts_set(tree, entry, FTS_SKIP);
      break;
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
      if (is_given)
        result = -entry->fts_errno;
      else
        on_trouble(context, entry->fts_path, strerror(entry->fts_errno));
      break;
    default: /* links, sockets, devices, post-order visits */
      break;
    }
  }
  fts_close(tree);
  return result;
}
