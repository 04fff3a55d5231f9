/* SPDX-License-Identifier: Apache-2.0 */
/* The ladder.

     1  the row of call frame information at the PC says that the return address is in the link
        register (on a CPU without one: that it is the word at the stack pointer).  True under
        recursion, where the register points into the function itself;
     2  no way through the function's instructions from its start to the PC overwrites the
        register: the return address may have been saved already, it is still there, too;
     3  the register points out of the function.

   In each case a call must stand before the place that it points to, where the code is known.

   The third is a rule about what a call leaves behind.  Where functions return through the
   register it holds, after a call, a place behind that call, inside the function: what points out
   was there before.  ARM's return by loading the PC and leave in it whatever the last function that
   saved it had called last: a place in a stranger.  There the call before it must be seen to lead
   to this function.  A CPU without the register has a stack at that place, where any word may lie
   that ever was a return address: there is no third rung unless nothing is known of the code, and
   then a call must be known to stand before it, which is the same as never.

   Code that jumps, a tail call, a stub of the linkage table or a veneer, leaves the register as it
   is: the caller of a function is who comes next when it returns.  So is a stack's. */
#include "pair_rule.h"

bool pair_rule_is_outside(const struct pair_facts *facts) {
  return facts->has_link && facts->has_bounds && !facts->is_inside;
}

static bool leads_here(enum pair_call call) {
  return call == PAIR_CALL_HERE;
}

static enum pair_rung judge_side(const struct pair_facts *facts) {
  bool is_lost = facts->place == PAIR_PLACE_LOST || facts->place == PAIR_PLACE_TANGLED;
  if (!pair_rule_is_outside(facts)) return PAIR_UNRESOLVED;
  switch (facts->cpu) {
  case PAIR_CPU_JUMPS:
    return PAIR_BY_SIDE;
  case PAIR_CPU_POPS:
    return !is_lost || leads_here(facts->call) ? PAIR_BY_SIDE : PAIR_UNRESOLVED;
  default:
    return !is_lost && leads_here(facts->call) ? PAIR_BY_SIDE : PAIR_UNRESOLVED;
  }
}

enum pair_rung pair_rule_judge(const struct pair_facts *facts) {
  if (!facts->has_link || facts->call == PAIR_CALL_NONE) return PAIR_UNRESOLVED;
  if (facts->place == PAIR_PLACE_ROW) return PAIR_BY_ROW;
  if (facts->place == PAIR_PLACE_SCAN) return PAIR_BY_SCAN;
  return judge_side(facts);
}

bool pair_rule_is_unseen(const struct pair_facts *facts) {
  return facts->place == PAIR_PLACE_UNKNOWN;
}

bool pair_rule_is_tangled(const struct pair_facts *facts) {
  return facts->place == PAIR_PLACE_TANGLED && pair_rule_judge(facts) == PAIR_UNRESOLVED;
}

bool pair_rule_is_refuted(const struct pair_facts *facts) {
  bool leads_elsewhere = facts->call == PAIR_CALL_NONE || facts->call == PAIR_CALL_ELSEWHERE;
  return pair_rule_is_outside(facts) && leads_elsewhere &&
         pair_rule_judge(facts) == PAIR_UNRESOLVED;
}
