/* SPDX-License-Identifier: Apache-2.0 */
/* Computes a function's frame at each of its instructions. */
#ifndef TABLES_PROLOGUE_H
#define TABLES_PROLOGUE_H

#include "prologue_state.h"

struct prologue_function {
  const struct instruction_cpu *cpu;
  bool is_big_endian; /* of its data, such as jump tables */
  struct span code;   /* the bytes from its first byte on */
  uint64_t start;     /* address of code.data, a multiple of the CPU's step */
  uint64_t bytes;     /* maximum size of the code */
  bool is_open;       /* it may end sooner, where the flow ends */
  /* The state in its middle, for code that seems unreached; NULL: unknown. */
  const struct prologue_state *body;
};

struct prologue_scan;

/* NULL if memory is short. A scan is for any number of functions, one after the other. */
struct prologue_scan *prologue_scan_new(void);
void prologue_scan_free(struct prologue_scan *scan);

/* Follows FUNCTION, which the scan uses until the next call. Returns its size in bytes; code beyond
   the first 2^20 steps of a function is not followed. */
uint64_t prologue_scan_function(struct prologue_scan *scan,
                                const struct prologue_function *function);

/* Called for each instruction, by rising ADDRESS, except for delay slots. */
typedef void prologue_each(void *context, uint64_t address, const struct prologue_state *state);

/* Reports the state at each instruction of the function. */
void prologue_scan_tell(struct prologue_scan *scan, prologue_each *each, void *context);

enum prologue_start {
  PROLOGUE_NO_START = 0,
  PROLOGUE_FRAME_START, /* it makes a frame, or returns, before anything else */
  PROLOGUE_SURE_START,  /* it makes a frame and saves the return address there, or is aligned */
};

/* Classifies the code at the start of FUNCTION as a function's start or not. */
enum prologue_start prologue_start_at(const struct prologue_function *function);

#endif
