/* SPDX-License-Identifier: Apache-2.0 */
/* What a process has mapped, as a walk wants it: regions with their tables. */
#ifndef WALK_PROCESS_CODE_H
#define WALK_PROCESS_CODE_H

#include "table_store.h"

#include "targets/process_entry.h"
#include "unwind/unwind_walk.h"

#include <stdbool.h>

enum { PROCESS_CODES_MAX = 16 /* processes that are kept together; the others are made anew */ };

struct process_code {
  struct unwind_code code; /* what it points to belongs to this */
  bool *is_waiting;        /* of each region: its table is being made */
  bool has_waiting;        /* any of them */
  bool is_partial;         /* there was no time to look at some file */
  pid_t pid;               /* 0: free */
  uint32_t user; /* answers for files whose owner is unsure; MODULE_OWNER_UNSURE until needed */
  uint64_t maps_serial, tables_serial, used;
};

struct process_codes {
  struct modules *modules;
  struct table_store *store;
  uint64_t clock;
  struct process_code rows[PROCESS_CODES_MAX];
};

void process_codes_init(struct process_codes *codes, struct modules *modules,
                        struct table_store *store);
void process_codes_fini(struct process_codes *codes);

/* Writes the key of the table of the module INDEX in ROW's process.  Returns its bytes, 0: none. */
uint32_t process_code_key(const struct process_code *row, const struct modules *modules,
                          uint32_t index, uint8_t ret[LIMIT_MODULE_ID_BYTES]);

/* The regions of PROCESS; modules that are new are identified and their tables asked for.  Good
   until the next call, and the store's next step.  NULL without memory, or without a store. */
const struct process_code *process_codes_get(struct process_codes *codes, struct process *process);

#endif
