/* SPDX-License-Identifier: Apache-2.0 */
/* What `perf script` prints, for readers that know nothing else (stackcollapse-perf.pl, the
   Firefox profiler, speedscope):

     comm pid [cpu] seconds.usec:     period event:
     <TAB>          address symbol (module)              leaf first
     <empty line>

   A sum has no single samples any more: each different stack is one event, whose period is all of
   its weight.  Readers that weigh by time get the same: events follow each other at the distance of
   their weights, from the start of the profile on.

   A tree knows functions and no addresses.  What has no name is `[unknown]` at its offset, as perf
   has it; of all else the address is 0.  There is no process either: all is process 1. */
#include "export.h"

#include "common/buf.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { COMM_BYTES_MAX = 15, NS_PER_US = 1000, US_PER_S = 1000000 };

/* TEXT up to LIMIT bytes; what is no letter of one word becomes '_' where IS_WORD. */
static void put_text(struct buf *out, const char *text, size_t limit, bool is_word) {
  for (size_t i = 0; text[i] != '\0' && i < limit; i++) {
    bool is_odd = iscntrl((unsigned char)text[i]) != 0;
    if (is_word) is_odd |= text[i] == ' ' || text[i] == '/';
    buf_append_byte(out, is_odd ? '_' : (uint8_t)text[i]);
  }
}

/* Readers want two letters at least. */
static void put_comm(struct buf *out, const char *title) {
  const char *slash = title != NULL ? strrchr(title, '/') : NULL;
  const char *name = slash != NULL ? slash + 1 : title != NULL ? title : "";
  if (strlen(name) < 2) buf_append_string(out, "all");
  put_text(out, name, COMM_BYTES_MAX, true);
}

static void put_header(struct buf *out, const struct view_origin *origin, uint64_t at_ns,
                       uint64_t weight) {
  uint64_t us = at_ns / NS_PER_US;
  put_comm(out, origin->title);
  buf_printf(out, " 1 [000] %llu.%06llu: %10llu cpu-clock: \n", (unsigned long long)(us / US_PER_S),
             (unsigned long long)(us % US_PER_S), (unsigned long long)weight);
}

/* Whether NAME is MODULE+0xOFFSET, and that offset. */
static bool find_offset(const struct view_function *function, uint64_t *ret) {
  size_t len = strlen(function->module);
  if (strncmp(function->name, function->module, len) != 0) return false;
  if (strncmp(function->name + len, "+0x", 3) != 0) return false;
  *ret = strtoull(function->name + len + 1, NULL, 16);
  return true;
}

static void put_frame(struct buf *out, const struct view_function *function) {
  uint64_t address = 0;
  bool is_unknown = find_offset(function, &address);
  buf_printf(out, "\t%16llx ", (unsigned long long)address);
  put_text(out, is_unknown ? "[unknown]" : function->name, SIZE_MAX, false);
  buf_append_string(out, " (");
  put_text(out, function->module, SIZE_MAX, false);
  buf_append_string(out, ")\n");
}

int view_perf_script(const struct view_tree *tree, const struct view_origin *origin,
                     struct arena *arena, struct buf *ret) {
  uint64_t at_ns = origin->start_ns;
  (void)arena;
  for (uint32_t i = 1; i < tree->node_count; i++) {
    uint64_t weight = tree->nodes[i].self_weight;
    if (weight == 0) continue;
    put_header(ret, origin, at_ns, weight);
    for (uint32_t at = i; at != 0; at = tree->nodes[at].parent)
      put_frame(ret, &tree->functions[tree->nodes[at].function]);
    buf_append_byte(ret, '\n');
    if (ret->failed) return -ENOMEM;
    at_ns += weight;
  }
  return 0;
}
