/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions of a function -> where its frame is at each of them. */
#ifndef TABLES_PROLOGUE_H
#define TABLES_PROLOGUE_H

#include "prologue_state.h"

struct prologue_function {
  const struct instruction_cpu *cpu;
  bool is_big_endian; /* its data, as tables of places to jump to */
  struct span code;   /* what there is from its first byte on */
  uint64_t start;     /* address of code.data, a multiple of the CPU's step */
  uint64_t bytes;     /* of code, at most */
  bool is_open;       /* it may end sooner: where nothing leads on */
  /* What is known of its middle, for code that nothing seems to lead to; NULL: nothing. */
  const struct prologue_state *body;
};

struct prologue_scan;

/* NULL without memory.  One scan is for any number of functions, in turn. */
struct prologue_scan *prologue_scan_new(void);
void prologue_scan_free(struct prologue_scan *scan);

/* Follows FUNCTION, which stays the scan's until the next one.  Returns its bytes; what is beyond
   the first 2^20 steps of a function is not followed. */
uint64_t prologue_scan_function(struct prologue_scan *scan,
                                const struct prologue_function *function);

/* Called for each instruction, by rising ADDRESS; but for those that are done before the branch
   in front of them. */
typedef void prologue_each(void *context, uint64_t address, const struct prologue_state *state);

/* Tells what is known of each instruction of the function. */
void prologue_scan_tell(struct prologue_scan *scan, prologue_each *each, void *context);

enum prologue_start {
  PROLOGUE_NO_START = 0,
  PROLOGUE_FRAME_START, /* it makes a frame, or returns, before it does anything else */
  PROLOGUE_SURE_START,  /* it makes a frame and saves the return address there, or is aligned */
};

/* Whether code at the start of FUNCTION looks like that of a function. */
enum prologue_start prologue_start_at(const struct prologue_function *function);

#endif
