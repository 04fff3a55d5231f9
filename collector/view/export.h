/* SPDX-License-Identifier: Apache-2.0 */
/* A tree in file formats of other tools. */
#ifndef VIEW_EXPORT_H
#define VIEW_EXPORT_H

#include "view.h"

/* Data of a file besides the tree; zero and "" mean "unknown". */
struct view_origin {
  const char *title;         /* the subject of the profile */
  const char *main_module;   /* name of its executable */
  uint64_t start_ns, end_ns; /* wall time */
  uint64_t period_ns;        /* between two samples of one thread */
};

/* Each appends to RET: a gzipped profile.proto of the pprof tools; a speedscope file with one
   sampled profile; text for callgrind_annotate and KCachegrind; text like that of `perf script`.
   Weights are nanoseconds, names are unchanged. Return 0, -ETIMEDOUT past TREE's cutoff, or
   -ENOMEM, also if RET is full: pprof's limit is on its compressed bytes. */
int view_pprof(const struct view_tree *tree, const struct view_origin *origin, struct arena *arena,
               struct buf *ret);
int view_speedscope(const struct view_tree *tree, const struct view_origin *origin,
                    struct arena *arena, struct buf *ret);
int view_callgrind(const struct view_tree *tree, const struct view_origin *origin,
                   struct arena *arena, struct buf *ret);
int view_perf_script(const struct view_tree *tree, const struct view_origin *origin,
                     struct arena *arena, struct buf *ret);

#endif
