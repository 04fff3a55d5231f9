/* SPDX-License-Identifier: Apache-2.0 */
/* A flame graph as text: a function per line, with a bar as wide as its share. */
#ifndef REPORT_FLAME_TEXT_H
#define REPORT_FLAME_TEXT_H

#include "top_text.h"

enum { FLAME_TEXT_DEPTH_MAX = 200 };

/* Texts must be safe for a terminal; bytes that are not UTF-8 are shown as '?'. */
struct flame_node {
  const char *name, *module; /* module: "" for none */
  uint32_t parent;           /* a smaller index than its own; UINT32_MAX for the root */
  uint64_t self, total;
};

struct flame {
  const struct flame_node *nodes; /* the first is the root */
  uint32_t count;
  uint32_t depth;  /* number of callee levels shown, at most FLAME_TEXT_DEPTH_MAX */
  bool is_partial; /* light nodes are missing */
};

/* Appends FLAME to RET: each function with its total, heaviest first, in at most as many lines as
   STYLE's limit.  Small branches of a caller share a line.  Nodes that precede their parent are
   left out.  Returns 0 or -ENOMEM.  Pure. */
int flame_text_print(const struct flame *flame, const struct top_text *style, struct buf *ret);

#endif
