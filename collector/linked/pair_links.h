/* SPDX-License-Identifier: Apache-2.0 */
/* The sum of many judged pairs: each function and caller once. */
#ifndef LINKED_PAIR_LINKS_H
#define LINKED_PAIR_LINKS_H

#include "pair_rule.h"

#include "common/table.h"
#include "view/evidence.h"
#include "view/groups.h"

enum { PAIR_NO_CALLER = UINT32_MAX, PAIR_LINKS_MAX = 2000000 };

/* One call on the way that a pair tells: who called the function of the PC, and where that has
   inlined functions at the PC, each of them was called by the one around it. */
struct pair_call_key {
  uint32_t callee, caller; /* of one function table; PAIR_NO_CALLER: not known */
  bool is_inlined;         /* the callee is, into the caller */
  bool is_leaf;            /* the callee's own code was running */
  bool is_last;            /* the caller makes no later call on the way */
};

struct pair_link {
  struct pair_call_key key;
  uint64_t count;
  wide_sum weight;
  wide_sum outside_weight; /* of those that point out of the function */
  wide_sum unseen_weight;  /* of those in code that nobody has looked at */
  wide_sum
      tangled_weight; /* of those that no rung tells, in functions that could not be followed */
  wide_sum refuted_weight; /* of these the code says that nothing of the function returns there */
  wide_sum rung_weight[PAIR_RUNGS];
  struct evidence evidence;
};

/* All-zero is empty. */
struct pair_links {
  struct pair_link *links;
  uint32_t count, room;
  struct table by_pair;
  struct groups units; /* the links' weights by sampling unit; the key is the link's place */
};

struct pair_sample {
  struct pair_call_key key; /* caller: PAIR_NO_CALLER where RUNG is PAIR_UNRESOLVED */
  enum pair_rung rung;
  bool is_outside, is_refuted, is_unseen, is_tangled; /* pair_rule.h */
  uint64_t count, weight;                             /* of samples taken for equal */
};

/* What is added next is from BOARD's window START_MS..END_MS.  Without a turn there are no units.
 */
void pair_links_turn(struct pair_links *links, const char *board, uint64_t start_ms,
                     uint64_t end_ms);

/* Returns 0, -EOVERFLOW over PAIR_LINKS_MAX, or -ENOMEM. */
int pair_links_add(struct pair_links *links, const struct pair_sample *sample);
void pair_links_fini(struct pair_links *links);

#endif
