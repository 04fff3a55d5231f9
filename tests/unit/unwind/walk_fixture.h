/* SPDX-License-Identifier: Apache-2.0 */
/* A module whose Nth function follows the Nth rule, a region without a table, and a stack. */
#ifndef TESTS_UNWIND_WALK_FIXTURE_H
#define TESTS_UNWIND_WALK_FIXTURE_H

#include "unwind/unwind_walk.h"

enum {
  WALK_FUNCTION_BYTES = 0x100,
  WALK_WORDS = 64,
  WALK_ROOM = 16,
  WALK_CODE = 0x400000, /* where the module is */
  WALK_JIT = 0x800000,  /* code without a table */
  WALK_JIT_BYTES = 0x1000,
  WALK_LOW = 0x7ff00000, /* of the stack, which is elsewhere in truth: a copy */
};

/* For a fictitious CPU: its properties differ from test to test, not from machine to machine. Each
   test defines unwind_arch. */
struct walk_fixture {
  struct unwind_registers at;
  struct unwind_memory stack; /* not whole */
  struct unwind_region regions[2];
  struct unwind_code code;
  struct unwind_table *table;
  uintptr_t *words; /* the stack's, on the heap, so a sanitizer detects overruns */
  uint64_t pcs[WALK_ROOM];
  struct unwind_path path;
};

void walk_fixture_init(struct walk_fixture *f, const struct unwind_rule *rules, unsigned count);
void walk_fixture_fini(struct walk_fixture *f);

/* An address within function N, behind a call. */
uintptr_t walk_in(unsigned n);

/* The address of the stack's word N. */
uintptr_t walk_word(unsigned n);

/* Walks from function N with the stack pointer at WORD; returns the depth. */
unsigned walk_fixture_from(struct walk_fixture *f, unsigned n, unsigned word);

/* Walks from f->at; returns the depth. */
unsigned walk_fixture_walk(struct walk_fixture *f);

/* Asserts that the last walk ended by END, with these DEPTH addresses. */
void walk_fixture_expect(const struct walk_fixture *f, enum unwind_end end, unsigned depth,
                         const uint64_t *pcs);

/* The same of the test's own fixture f. */
#define EXPECT(end, ...)                                                             \
  walk_fixture_expect(&f, end, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), \
                      (uint64_t[]){__VA_ARGS__})

#endif
