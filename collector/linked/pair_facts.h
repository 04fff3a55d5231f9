/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of a pair, from the files of its two ends: the same code serves the collector and
   reports. */
#ifndef LINKED_PAIR_FACTS_H
#define LINKED_PAIR_FACTS_H

#include "pair_rule.h"

#include "symbol/lr_tables.h"

enum pair_end { PAIR_PC, PAIR_LINK };

/* The function that contains one end, not one that was inlined there. */
struct pair_function {
  const char *name;
  uint64_t start, size;
};

/* Callbacks to the files; each is called at most once for each end. */
struct pair_files {
  void *context;
  /* Returns false if there is no file, or no function there. */
  bool (*find_function)(void *context, enum pair_end end, struct pair_function *ret);
  enum lr_place (*place)(void *context); /* at the PC */
  /* Returns the kind of call before the link, and whether it calls FUNCTION of the same module. */
  enum lr_call (*call)(void *context, uint64_t function);
};

struct pair_ends {
  uint64_t link; /* its address */
  bool has_link; /* it lies in a module that is a file */
  bool is_same_module;
  uint32_t machine; /* e_machine of the PC's module; 0: unknown */
  const char *arch; /* the board's name for its CPU, or NULL */
};

/* Pure, if FILES is. */
struct pair_facts pair_facts_find(const struct pair_ends *ends, const struct pair_files *files);

#endif
