/* SPDX-License-Identifier: Apache-2.0 */
/* Folded stacks, one a line: `root;...;leaf weight`, as flame graph scripts read them. The
   artificial root is left out. Characters that the format does not allow in names, `;` and line
   ends, are replaced. */
#include "view.h"

#include "common/arena.h"
#include "common/buf.h"
#include "common/cutoff.h"

#include <errno.h>
#include <string.h>

static void append_name(struct buf *ret, const char *name) {
  for (;;) {
    size_t clean = strcspn(name, ";\n\r");
    buf_append(ret, name, clean);
    name += clean;
    if (*name == '\0') return;
    buf_append_byte(ret, *name++ == ';' ? ':' : ' ');
  }
}

int view_folded(const struct view_tree *tree, struct arena *arena, struct buf *ret) {
  char weight[WIDE_SUM_DIGITS + 1];
  uint32_t *path = arena_array(arena, tree->node_count, sizeof *path);
  if (path == NULL) return -ENOMEM;
  for (uint32_t i = 1; i < tree->node_count; i++) {
    uint32_t depth = 0;
    if (cutoff_is_at(tree->cutoff, i)) return -ETIMEDOUT;
    if (tree->nodes[i].self_weight == 0) continue;
    for (uint32_t at = i; at != 0; at = tree->nodes[at].parent) path[depth++] = at;
    while (depth > 0) {
      append_name(ret, tree->functions[tree->nodes[path[--depth]].function].name);
      buf_append_byte(ret, depth > 0 ? ';' : ' ');
    }
    wide_sum_print(tree->nodes[i].self_weight, weight);
    buf_printf(ret, "%s\n", weight);
    if (ret->failed) return -ENOMEM;
  }
  return 0;
}
