/* SPDX-License-Identifier: Apache-2.0 */
/* Sums checked pairs, with one entry for each function and caller. */
#ifndef LINKED_PAIR_LINKS_H
#define LINKED_PAIR_LINKS_H

#include "pair_rule.h"

#include "common/table.h"
#include "view/evidence.h"
#include "view/groups.h"

enum { PAIR_NO_CALLER = UINT32_MAX, PAIR_LINKS_MAX = 2000000 };

/* One call of a pair: the call of the PC's function, or, if functions are inlined at the PC, the
   call of one of them by the function around it. */
struct pair_call_key {
  uint32_t callee, caller; /* of one function table; PAIR_NO_CALLER: unknown */
  bool is_inlined;         /* the callee is inlined into the caller */
  bool is_leaf;            /* the callee's own code was running */
  bool is_last;            /* the caller makes no later call of this pair */
};

struct pair_link {
  struct pair_call_key key;
  uint64_t count;
  wide_sum weight;
  wide_sum outside_weight; /* of pairs that point out of the function */
  wide_sum unseen_weight;  /* of pairs in code that was not analysed */
  wide_sum tangled_weight; /* of unresolved pairs in functions too complex to follow */
  wide_sum refuted_weight; /* of pairs with a link that cannot return from the function */
  wide_sum rung_weight[PAIR_RUNGS];
  struct evidence evidence;
};

/* All-zero is empty. */
struct pair_links {
  struct pair_link *links;
  uint32_t count, room;
  struct table by_pair;
  struct groups units; /* the links' weights by sampling unit; the key is the link's index */
};

struct pair_sample {
  struct pair_call_key key; /* caller: PAIR_NO_CALLER if RUNG is PAIR_UNRESOLVED */
  enum pair_rung rung;
  bool is_outside, is_refuted, is_unseen, is_tangled; /* pair_rule.h */
  uint64_t count, weight;                             /* of equal samples */
};

/* Starts the samples of BOARD's window START_MS..END_MS. Without this call there are no units. */
void pair_links_turn(struct pair_links *links, const char *board, uint64_t start_ms,
                     uint64_t end_ms);

/* Returns 0, -EOVERFLOW over PAIR_LINKS_MAX, or -ENOMEM. */
int pair_links_add(struct pair_links *links, const struct pair_sample *sample);
void pair_links_fini(struct pair_links *links);

#endif
