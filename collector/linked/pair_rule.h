/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether the link register of a sample holds the return address of the PC's function.
   Pure. */
#ifndef LINKED_PAIR_RULE_H
#define LINKED_PAIR_RULE_H

#include <stdbool.h>

/* State of the link register at a PC. */
enum pair_place {
  PAIR_PLACE_UNKNOWN = 0, /* the code was not analysed */
  PAIR_PLACE_ROW,         /* it holds the return address, by call frame information */
  PAIR_PLACE_SCAN,    /* it holds the return address: no path through the instructions overwrites it
                         before */
  PAIR_PLACE_LOST,    /* it may not: a call may have been before */
  PAIR_PLACE_TANGLED, /* likewise: the function's control flow was not followed */
};

/* The instruction before the place that the register points to. */
enum pair_call {
  PAIR_CALL_UNKNOWN = 0, /* the code was not analysed */
  PAIR_CALL_NONE,        /* no call: nothing returns there */
  PAIR_CALL_ANYWHERE,    /* a call to an unknown place: by a register, or to another module */
  PAIR_CALL_HERE,        /* a call to the function of the PC */
  PAIR_CALL_ELSEWHERE,   /* a call to another place of the module */
};

/* How a CPU's functions return, which determines the link register after a call. */
enum pair_cpu {
  PAIR_CPU_JUMPS = 0, /* through the register: after a call it points behind that call */
  PAIR_CPU_POPS,      /* also by loading the PC: after a call it points anywhere (ARM) */
  PAIR_CPU_STACK,     /* no link register: the link is the word at the stack pointer */
};

struct pair_facts {
  enum pair_cpu cpu;
  enum pair_place place;
  enum pair_call call;
  bool has_link;   /* the link points to code */
  bool has_bounds; /* of the PC's function */
  bool is_inside;  /* it points into that function, or another part of it */
};

/* The steps, the first that holds. */
enum pair_rung {
  PAIR_UNRESOLVED = 0, /* the caller is unknown */
  PAIR_BY_ROW,
  PAIR_BY_SCAN,
  PAIR_BY_SIDE,   /* it points out of the function, and no earlier call explains that */
  PAIR_BY_INLINE, /* the function is inlined, so the code itself gives the caller */
  PAIR_RUNGS,
};

/* Never returns PAIR_BY_INLINE. */
enum pair_rung pair_rule_judge(const struct pair_facts *facts);

/* Whether FACTS' link points out of the function: all that is known without the code. */
bool pair_rule_is_outside(const struct pair_facts *facts);

/* Whether the code of FACTS' function was not analysed, so that steps 1 and 2 do not apply. */
bool pair_rule_is_unseen(const struct pair_facts *facts);

/* Whether FACTS give no caller, and the function's control flow was not followed. */
bool pair_rule_is_tangled(const struct pair_facts *facts);

/* Whether that link cannot be the caller's: no call stands before the place, or one that leads
   elsewhere, and the register may have been overwritten. */
bool pair_rule_is_refuted(const struct pair_facts *facts);

#endif
