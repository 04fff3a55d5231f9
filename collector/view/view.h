/* SPDX-License-Identifier: Apache-2.0 */
/* A call tree with names, whatever the source of its samples, and the results derived from it.
   Pure: no store, no files, no clock. */
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

/* A function by name and module. Frames without a name are "module+0xoffset", followed by the
   beginning of the build-id if the tree has several builds of the module. */
struct view_function {
  const char *name, *module; /* module: file name of the ELF, or "[kernel]" and the like */
  const char *file;          /* source file that declares it, or NULL */
  uint32_t line;             /* of the declaration; 0: unknown */
  const char *system_name;   /* as in the symbol table, mangled; NULL: as NAME. Outlives the tree */
  const char *quality;       /* of the source of the name, a static word; NULL: not given */
  const struct view_module *of; /* the build whose address is its name; NULL: it has a name */
  enum stack_end end; /* for a pseudo-function at the root of stacks: how these ended; UNTOLD: a
                         function */
  bool is_apart;      /* without a name, of one of several builds: its name in the others is
                         unknown */
};

/* A line of source, a place in code, or both, as requested. */
struct view_place {
  const char *file; /* or NULL */
  uint32_t line;    /* 0: unknown */
  uint32_t build;   /* index of the tree's builds; 0: unknown, or in no file */
  uint64_t address; /* in that file, as in its symbols; of a call: inside the instruction */
  uint64_t start;   /* of the symbol that contains it; 0: unknown */
};

struct view_node {
  uint32_t parent; /* index, or UINT32_MAX for the root, which is node 0, named "root" */
  uint32_t function;
  uint32_t place;  /* index: the place in it, in an inner node that of the call; 0: unknown or
                      not requested */
  bool is_inlined; /* in all samples added here it was compiled into its parent's code, so this
                      is no call */
  wide_sum self_weight, total_weight;
  uint64_t self_count, total_count;
};

/* Marks of a service that readers of an answer must see. */
struct view_mark {
  const char *service;
  uint32_t marks; /* enum batch_mark, of any window in the range */
};

/* A file that a service ran. */
struct view_program {
  const char *service, *exe; /* exe: its name, without the folder */
};

/* A merged, named call tree; parents come first (tree_builder.h makes one).

   Functions over a tree return -ETIMEDOUT past its cutoff. Between two checks they write
   CUTOFF_STEPS stacks or rows, and make at most some passes over VIEW_NODES_MAX nodes or sort
   that many. */
struct view_tree {
  const struct cutoff *cutoff; /* of the request, outlives the tree; NULL: none */
  wide_sum total_weight;
  uint64_t total_count;     /* samples; time of clocks is weight without samples */
  struct evidence evidence; /* of the samples; squares 0: not computed */
  struct groups groups;     /* of the nodes' self weights */
  struct groups boards;     /* the same by board, if GROUPS are of stretches of time of several
                               boards */
  /* The weight of samples that are stacks, by how these ended: without time of clocks and lone
     PCs. */
  wide_sum stacks_weight[STACK_END_COUNT];
  uint64_t loss[LOSS_REASON_COUNT];
  uint32_t node_count, function_count;
  struct view_node *nodes;
  struct view_function *functions;
  uint32_t place_count; /* 1 unless places were requested: then nodes differ by place, too */
  const struct view_place *places;
  uint32_t build_count; /* of PLACES; 0 is none */
  const struct view_build *builds;
  uint32_t module_count; /* of the builds in which something was named; 0 in a report */
  const struct view_module *const *modules;
  uint32_t mark_count;
  const struct view_mark *marks; /* one for each service that has marks; MARKS_SERVICES_MAX at
                                    most */
  bool has_rest;                 /* part of it is PSEUDO_REST, though no node may show that */
  uint32_t program_count;
  const struct view_program *programs; /* PROGRAMS_MAX at most; 0 if programs were not recorded */
};

struct view_share {
  double share, low, high; /* low..high: its 95 % interval (ratio.h) */
};

/* The source of an answer's intervals (ratio.h). */
struct view_basis {
  const char *unit; /* "boards", "board groups", "stretches of time" or "samples" */
  unsigned units;   /* number of units; 0 for samples */
};

struct view_top_row {
  uint32_t function; /* index into the tree's functions */
  wide_sum self_weight, total_weight;
  uint64_t self_count, total_count;
  struct view_share self, total;
  enum ratio_lack lack; /* of SELF; of TOTAL if the function has no time of its own */
};

/* The function table of TREE, by self weight, heaviest first; total counts each stack once even
   with recursion. Rows for how stacks ended are left out (stacks.h). RET is in ARENA. 0, -ENOMEM
   or -ETIMEDOUT. */
int view_top(const struct view_tree *tree, struct arena *arena, struct view_top_row **ret,
             uint32_t *ret_count);

/* The source of the intervals of TREE's shares. */
struct view_basis view_basis(const struct view_tree *tree);

/* Appends TREE as folded stacks, `outermost;...;leaf weight` lines.  Returns 0,
   -ENOMEM or -ETIMEDOUT. */
int view_folded(const struct view_tree *tree, struct arena *arena, struct buf *ret);

#endif
