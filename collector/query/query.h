/* SPDX-License-Identifier: Apache-2.0 */
/* From stored blocks to answers with names.  Everything here runs on the query thread; an answer
   lives in the caller's arena. */
#ifndef QUERY_QUERY_H
#define QUERY_QUERY_H

#include "proto/loss.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct selector;
struct store;
struct symbolizer;

struct query_source {
  struct store *store;
  struct symbolizer *symbolizer;
};

struct query_range {
  const struct selector *selector; /* NULL: everything */
  uint64_t from_ms, to_ms;
  uint32_t type;
  uint64_t deadline_ns; /* on clock_monotonic_ns; 0: none */
};

/* A function by name and module; frames without a name are "module+0xoffset". */
struct query_function {
  const char *name, *module; /* module: file name of the ELF, or "[kernel]" and the like */
  const char *file;          /* source file, or NULL */
  uint32_t line;
};

struct query_node {
  uint32_t parent; /* index, or UINT32_MAX for the root, which is node 0, named "root" */
  uint32_t function;
  uint64_t self_weight, total_weight;
  uint64_t self_count, total_count;
};

/* What readers of an answer must know of a service in it. */
struct query_mark {
  const char *service;
  uint32_t marks; /* enum batch_mark, of any window in the range */
};

/* The merged, named call tree of everything the range selects; parents come first. */
struct query_tree {
  uint64_t total_weight, total_count;
  uint64_t loss[LOSS_REASON_COUNT];
  uint32_t node_count, function_count;
  struct query_node *nodes;
  struct query_function *functions;
  uint32_t mark_count;
  const struct query_mark *marks; /* one a service that has any; 256 of them at most */
};

/* Builds the tree.  Returns 0; -ENOMEM when ARENA's limit is hit; -EOVERFLOW when the range holds
   more than two million different stacks' nodes; -ETIMEDOUT past the deadline, which is looked at
   between blocks; or -errno from the store. */
int query_tree(const struct query_source *source, const struct query_range *range,
               struct arena *arena, struct query_tree *ret);

struct query_share {
  double share, low, high; /* low..high: Wilson's 95 % interval on record counts */
};

struct query_top_row {
  uint32_t function; /* index into the tree's functions */
  uint64_t self_weight, total_weight, self_count, total_count;
  struct query_share self, total;
};

/* The function table of TREE, by self weight, heaviest first; total counts each stack once however
   often it recurses.  RET points into ARENA.  Returns 0 or -ENOMEM. */
int query_top(const struct query_tree *tree, struct arena *arena, struct query_top_row **ret,
              uint32_t *ret_count);

/* Appends TREE as folded stacks, `outermost;...;leaf weight` lines, to RET.  Returns 0 or
   -ENOMEM. */
int query_folded(const struct query_tree *tree, struct arena *arena, struct buf *ret);

#endif
