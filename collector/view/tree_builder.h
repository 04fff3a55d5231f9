/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a call tree from a stream of (parent, function) steps and weights. */
#ifndef VIEW_TREE_BUILDER_H
#define VIEW_TREE_BUILDER_H

#include "common/sums.h"
#include "evidence.h"
#include "function_table.h"
#include "place_table.h"

enum { VIEW_NODES_MAX = 2000000 };

/* One function of a stack. An address has several if functions were inlined. */
struct tree_step {
  uint32_t function; /* index of the function table */
  uint32_t place;    /* index of the place table; 0: places are not distinguished */
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
  struct groups boards; /* the same by board, if groups are times of several boards */
  int error;            /* from adding weights; the tree cannot be finished */
};

/* Copies names to ARENA. Returns 0 or -errno; call fini in either case. */
int tree_builder_init(struct tree_builder *builder, struct arena *arena);
void tree_builder_fini(struct tree_builder *builder);

/* Finds or adds the child STEP of PARENT (0: the root). Returns 0, -EOVERFLOW over VIEW_NODES_MAX,
   or -ENOMEM. */
int tree_builder_step(struct tree_builder *builder, uint32_t parent, const struct tree_step *step,
                      uint32_t *ret);

/* The same for FUNCTION, not inlined, without a place. */
int tree_builder_child(struct tree_builder *builder, uint32_t parent, uint32_t function,
                       uint32_t *ret);

/* Assigns the following weights to BOARD's window START_MS..END_MS. Without turns a tree has no
   groups, and its intervals use samples only. */
void tree_builder_turn(struct tree_builder *builder, const char *board, uint64_t start_ms,
                       uint64_t end_ms);

/* The same for pre-merged boards of GROUP (groups_turn_merged). */
void tree_builder_turn_merged(struct tree_builder *builder, unsigned group, uint64_t start_ms,
                              uint64_t end_ms);

/* Adds COUNT samples with a total of WEIGHT, assumed equal, to the leaf NODE. COUNT 0: time
   measured by clocks. */
void tree_builder_add(struct tree_builder *builder, uint32_t node, uint64_t count, uint64_t weight);

/* Records that WEIGHT of NODE is samples with stacks. If no frame at the root gives their end, they
   are complete if ARE_TOLD (ends are reported), otherwise unknown. */
void tree_builder_note_end(struct tree_builder *builder, uint32_t node, bool are_told,
                           uint64_t weight);

/* Computes totals and copies the tree to ARENA (the caller's loss stays zero). Call once. Returns 0
   or -ENOMEM. */
int tree_builder_finish(struct tree_builder *builder, struct arena *arena, struct view_tree *ret);

#endif
