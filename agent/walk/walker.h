/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the callers' addresses from a sample's registers and its copy of the stack. */
#ifndef WALK_WALKER_H
#define WALK_WALKER_H

#include "process_code.h"

#include "perf/perf_record.h"

struct walker {
  struct process_codes codes;
  uint64_t foreign; /* samples of programs of another word size, without callers */
};

/* STORE is borrowed, and must outlive WALKER. */
void walker_init(struct walker *walker, struct modules *modules, struct table_store *store);
void walker_fini(struct walker *walker);

/* The kernel's chain of the same stack along frame pointers, leaf first. */
struct walker_chain {
  const uint64_t *pcs;
  unsigned depth;
};

/* Extends PATH, a walk in CODE. If the walk ended early, callers that only CHAIN has are appended
   after the last common caller. The end is then complete if the last of them begins a thread or
   program by its table, and unchanged otherwise. */
void walker_continue(const struct unwind_code *code, const struct walker_chain *chain,
                     struct unwind_path *path);

/* Fills PATH with the callers of COPY, a sample of PROCESS; at least with its PC. Then extends PATH
   by CHAIN. */
void walker_walk(struct walker *walker, struct process *process, const struct perf_copy *copy,
                 const struct walker_chain *chain, struct unwind_path *path);

/* True if a table that this walk would use is being made. */
bool walker_should_wait(struct walker *walker, struct process *process,
                        const struct perf_copy *copy);

#endif
