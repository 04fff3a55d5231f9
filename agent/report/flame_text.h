/* SPDX-License-Identifier: Apache-2.0 */
/* A flame graph of text: a function a line, a bar as wide as its share. */
#ifndef REPORT_FLAME_TEXT_H
#define REPORT_FLAME_TEXT_H

#include "top_text.h"

enum { FLAME_TEXT_DEPTH_MAX = 200 };

/* Texts that terminals can be sent; what is not of UTF-8 is shown as '?'. */
struct flame_node {
  const char *name, *module; /* module: "" for none */
  uint32_t parent;           /* an index below its own; the root's own is UINT32_MAX */
  uint64_t self, total;
};

struct flame {
  const struct flame_node *nodes; /* the first is the root of all */
  uint32_t count;
  uint32_t depth;  /* callees below the root that are shown, FLAME_TEXT_DEPTH_MAX at most */
  bool is_partial; /* light nodes are missing */
};

/* Appends FLAME to RET: of each function what it and its callees take, heaviest first, at most as
   many lines of them as STYLE's limit; small branches of one caller share a line.  Nodes whose
   parent does not stand before them are left out.  Returns 0 or -ENOMEM.  Pure. */
int flame_text_print(const struct flame *flame, const struct top_text *style, struct buf *ret);

#endif
