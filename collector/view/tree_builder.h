/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a call tree out of a stream of (parent, function) steps and weights. */
#ifndef VIEW_TREE_BUILDER_H
#define VIEW_TREE_BUILDER_H

#include "common/sums.h"
#include "evidence.h"
#include "function_table.h"
#include "place_table.h"

enum { VIEW_NODES_MAX = 2000000 };

/* One function of a stack.  An address has several where functions were inlined. */
struct tree_step {
  uint32_t function; /* index of the function table */
  uint32_t place;    /* index of the place table; 0: places are not told apart */
  bool is_inlined;   /* into the step before */
};

struct tree_builder {
  struct function_table functions;
  struct place_table places;
  struct view_node *nodes; /* node 0 is the root */
  uint32_t node_count, node_room;
  uint8_t *ends;          /* of each node, enum stack_end: how the stacks through it ended */
  struct table by_parent; /* (parent, function, place) -> node */
  wide_sum stacks_weight[STACK_END_COUNT];
  struct evidence evidence;
  struct groups groups; /* of self weights, by node; in the arena */
  struct groups boards; /* the same by board, where those are of several boards' times */
  int error;            /* of adding to them: the tree cannot be finished */
};

/* Names are kept in ARENA.  Returns 0 or -errno; fini in either case. */
int tree_builder_init(struct tree_builder *builder, struct arena *arena);
void tree_builder_fini(struct tree_builder *builder);

/* Finds or adds the child of PARENT (0: the root) that is STEP.  Returns 0, -EOVERFLOW over
   VIEW_NODES_MAX, or -ENOMEM. */
int tree_builder_step(struct tree_builder *builder, uint32_t parent, const struct tree_step *step,
                      uint32_t *ret);

/* The same for FUNCTION, called, at no known line. */
int tree_builder_child(struct tree_builder *builder, uint32_t parent, uint32_t function,
                       uint32_t *ret);

/* What is added next is from BOARD's window START_MS..END_MS.  Without it a tree knows of no
   groups, and its intervals are of samples alone. */
void tree_builder_turn(struct tree_builder *builder, const char *board, uint64_t start_ms,
                       uint64_t end_ms);

/* The same of boards that are merged already, into GROUP (groups_turn_merged). */
void tree_builder_turn_merged(struct tree_builder *builder, unsigned group, uint64_t start_ms,
                              uint64_t end_ms);

/* Adds COUNT samples of WEIGHT together, taken for equal, to the leaf NODE; none: what clocks told.
 */
void tree_builder_add(struct tree_builder *builder, uint32_t node, uint64_t count, uint64_t weight);

/* WEIGHT of what was added to NODE is samples of stacks: where nothing at the root says how they
   ended, they are complete if such stacks would tell (ARE_TOLD), and else nobody knows. */
void tree_builder_note_end(struct tree_builder *builder, uint32_t node, bool are_told,
                           uint64_t weight);

/* Sums up and copies the tree into ARENA (the caller's loss stays zero).  Call once.  Returns 0 or
   -ENOMEM. */
int tree_builder_finish(struct tree_builder *builder, struct arena *arena, struct view_tree *ret);

#endif
