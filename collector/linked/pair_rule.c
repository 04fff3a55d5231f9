/* SPDX-License-Identifier: Apache-2.0 */
/* The fallback steps that resolve the caller.

     1  the row of call frame information at the PC puts the return address in the link register
        (on a CPU without one: in the word at the stack pointer). True even for recursion,
        where the register points into the function itself;
     2  no path through the function's instructions from its start to the PC overwrites the
        register: the return address may have been saved already, but is still in it;
     3  the register points out of the function.

   In each case a call must stand before the place that it points to, if the code is known.

   Step 3 depends on the state after a call. Where functions return through the register, it holds
   after a call the place behind that call, inside the function. So a value that points out was
   there before. ARM functions return by loading the PC, and leave in the register the last call of
   the last function that saved it: an unrelated place. There the call before it must lead to this
   function. On a CPU without the register, the word on the stack may be any old return address.
   There step 3 applies only if the code is unknown and a call to this function stands before the
   place, which is practically never.

   Code that jumps (a tail call, a stub of the linkage table, a veneer) leaves the register
   unchanged. The caller of a function is the function that it returns to, as in stacks. */
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
