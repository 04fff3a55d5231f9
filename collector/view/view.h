/* SPDX-License-Identifier: Apache-2.0 */
/* A call tree with names, wherever its samples came from, and what is derived from it.  Pure: no
   store, no files, no clock. */
#ifndef VIEW_VIEW_H
#define VIEW_VIEW_H

#include "evidence.h"
#include "groups.h"
#include "ratio.h"
#include "view_build.h"

#include "common/sums.h"
#include "proto/limits.h"
#include "proto/loss.h"
#include "proto/stack_end.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct cutoff;

/* A function by name and module; frames without a name are "module+0xoffset", with the beginning of
   the build-id behind it where the tree has several builds of the module. */
struct view_function {
  const char *name, *module; /* module: file name of the ELF, or "[kernel]" and the like */
  const char *file;          /* source file that declares it, or NULL */
  uint32_t line;             /* of the declaration; 0: not known */
  const char *system_name;   /* as its file has it, mangled; NULL: as NAME.  It outlives the tree */
  const char *quality;       /* of what named it, a word that outlives all; NULL: not told */
  const struct view_module *of; /* the build whose address its name is; NULL: it has a name */
  enum stack_end end; /* what it says of the stacks that it is the root of; UNTOLD: a function */
  bool is_apart;      /* without a name, of one build of several: nobody knows it in the others */
};

/* A line of source, a place in code, or both: as much of them as was asked for. */
struct view_place {
  const char *file; /* or NULL */
  uint32_t line;    /* 0: not known */
  uint32_t build;   /* index of the tree's builds; 0: not known, or in no file */
  uint64_t address; /* in that file, as its symbols have it; of a call: inside the instruction */
  uint64_t start;   /* of the symbol that has it; 0: not known */
};

struct view_node {
  uint32_t parent; /* index, or UINT32_MAX for the root, which is node 0, named "root" */
  uint32_t function;
  uint32_t place;  /* index: where in it, in an inner node the call; 0: not known or asked */
  bool is_inlined; /* no call: in all that was added here it was compiled into its parent's code */
  wide_sum self_weight, total_weight;
  uint64_t self_count, total_count;
};

/* What readers of an answer must know of a service in it. */
struct view_mark {
  const char *service;
  uint32_t marks; /* enum batch_mark, of any window in the range */
};

/* A file that a service ran. */
struct view_program {
  const char *service, *exe; /* exe: its name, without the folder */
};

/* A merged, named call tree; parents come first (tree_builder.h makes one).

   What is made of one ends with -ETIMEDOUT past its cutoff.  Between two looks lie CUTOFF_STEPS
   stacks or rows that are written, and at most some passes over VIEW_NODES_MAX nodes or the
   sorting of as many. */
struct view_tree {
  const struct cutoff *cutoff; /* of whoever asked, outlives it; NULL: none */
  wide_sum total_weight;
  uint64_t total_count;     /* samples; what clocks told is weight without any */
  struct evidence evidence; /* of the samples; squares 0: nobody looked */
  struct groups groups;     /* of what nodes weigh themselves */
  struct groups boards;     /* the same by board, where GROUPS are of several boards' times */
  /* The samples of them that are stacks, by how these ended: not what clocks told, no lone PCs. */
  wide_sum stacks_weight[STACK_END_COUNT];
  uint64_t loss[LOSS_REASON_COUNT];
  uint32_t node_count, function_count;
  struct view_node *nodes;
  struct view_function *functions;
  uint32_t place_count; /* 1 unless places were asked for: then nodes differ by them, too */
  const struct view_place *places;
  uint32_t build_count; /* of PLACES; 0 is none */
  const struct view_build *builds;
  uint32_t module_count; /* of the builds that something was named in; a report has none */
  const struct view_module *const *modules;
  uint32_t mark_count;
  const struct view_mark *marks; /* one a service that has any; MARKS_SERVICES_MAX at most */
  bool has_rest; /* some of it is PSEUDO_REST, though there may be no nodes that say so */
  uint32_t program_count;
  const struct view_program *programs; /* PROGRAMS_MAX at most; none where nobody noted any */
};

struct view_share {
  double share, low, high; /* low..high: its 95 % interval (ratio.h) */
};

/* What the intervals of an answer come from (ratio.h). */
struct view_basis {
  const char *unit; /* "boards", "board groups", "stretches of time" or "samples" */
  unsigned units;   /* how many; of samples: 0 */
};

struct view_top_row {
  uint32_t function; /* index into the tree's functions */
  wide_sum self_weight, total_weight;
  uint64_t self_count, total_count;
  struct view_share self, total;
  enum ratio_lack lack; /* of SELF; of TOTAL where the function has no time of its own */
};

/* The function table of TREE, by self weight, heaviest first; total counts each stack once however
   often it recurses.  How stacks ended is no row (stacks.h).  RET is in ARENA.  0, -ENOMEM
   or -ETIMEDOUT. */
int view_top(const struct view_tree *tree, struct arena *arena, struct view_top_row **ret,
             uint32_t *ret_count);

/* What the intervals of TREE's shares come from. */
struct view_basis view_basis(const struct view_tree *tree);

/* Appends TREE as folded stacks, `outermost;...;leaf weight` lines.  Returns 0,
   -ENOMEM or -ETIMEDOUT. */
int view_folded(const struct view_tree *tree, struct arena *arena, struct buf *ret);

#endif
