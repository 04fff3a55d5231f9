/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the link register of a sample holds the return address of the function that the PC is
   in.  Pure. */
#ifndef LINKED_PAIR_RULE_H
#define LINKED_PAIR_RULE_H

#include <stdbool.h>

/* What is known of the link register at a PC. */
enum pair_place {
  PAIR_PLACE_UNKNOWN = 0, /* nobody has looked at the code */
  PAIR_PLACE_ROW,         /* it holds the return address: call frame information says so */
  PAIR_PLACE_SCAN,        /* it does: no way through the instructions overwrites it before */
  PAIR_PLACE_LOST,        /* it need not: a call may have been before */
  PAIR_PLACE_TANGLED,     /* so, as far as anybody can tell: the function was not followed */
};

/* What stands before the place that it points to. */
enum pair_call {
  PAIR_CALL_UNKNOWN = 0, /* nobody has looked at the code */
  PAIR_CALL_NONE,        /* no call: nothing returns there */
  PAIR_CALL_ANYWHERE,    /* a call to who knows where: by a register, or to another module */
  PAIR_CALL_HERE,        /* a call to the function of the PC */
  PAIR_CALL_ELSEWHERE,   /* a call to another place of the module */
};

/* How a CPU's functions return, which decides what a call leaves in the link register. */
enum pair_cpu {
  PAIR_CPU_JUMPS = 0, /* to the register: behind a call it points behind that call */
  PAIR_CPU_POPS,      /* by loading the PC, too: behind a call it points anywhere (ARM) */
  PAIR_CPU_STACK,     /* there is none: what is shipped is the word at the stack pointer */
};

struct pair_facts {
  enum pair_cpu cpu;
  enum pair_place place;
  enum pair_call call;
  bool has_link;   /* there was something in it that is code */
  bool has_bounds; /* of the PC's function */
  bool is_inside;  /* it points into that function, or another part of it */
};

/* The rungs of the ladder, the first that holds. */
enum pair_rung {
  PAIR_UNRESOLVED = 0, /* the caller is not known */
  PAIR_BY_ROW,
  PAIR_BY_SCAN,
  PAIR_BY_SIDE,   /* it points out of the function, which no call that was before explains */
  PAIR_BY_INLINE, /* the function is inlined, so the code itself says who called */
  PAIR_RUNGS,
};

/* Never PAIR_BY_INLINE. */
enum pair_rung pair_rule_judge(const struct pair_facts *facts);

/* Whether FACTS' link points out of the function: all that can be told without the code. */
bool pair_rule_is_outside(const struct pair_facts *facts);

/* Whether nobody has looked at the code of FACTS' function, so that the two upper rungs are silent.
 */
bool pair_rule_is_unseen(const struct pair_facts *facts);

/* Whether FACTS tell no caller, and the ways through the function could not be followed. */
bool pair_rule_is_tangled(const struct pair_facts *facts);

/* Whether that link is seen not to be the caller's: no call stands before the place, or one that
   leads elsewhere, where a call may have overwritten the register. */
bool pair_rule_is_refuted(const struct pair_facts *facts);

#endif
