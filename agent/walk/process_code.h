/* SPDX-License-Identifier: Apache-2.0 */
/* The mapped code of a process in the form that a walk uses: regions with their tables. */
#ifndef WALK_PROCESS_CODE_H
#define WALK_PROCESS_CODE_H

#include "table_store.h"

#include "targets/process_entry.h"
#include "unwind/unwind_walk.h"

#include <stdbool.h>

enum { PROCESS_CODES_MAX = 16 /* processes cached at once; others are rebuilt */ };

struct process_code {
  struct unwind_code code; /* owns the memory that it points to */
  bool *is_waiting;        /* for each region: its table is being made */
  bool has_waiting;        /* true for any of them */
  bool is_partial;         /* some file could not be read for lack of time */
  pid_t pid;               /* 0: free */
  uint32_t user; /* uid for files with an unsure owner; MODULE_OWNER_UNSURE until needed */
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

/* Writes the table key of the module INDEX in ROW's process. Returns its size in bytes, 0: none. */
uint32_t process_code_key(const struct process_code *row, const struct modules *modules,
                          uint32_t index, uint8_t ret[LIMIT_MODULE_ID_BYTES]);

/* The regions of PROCESS. New modules are identified and their tables requested. Valid until the
   next call, and the store's next step. NULL if memory is short, or without a store. */
const struct process_code *process_codes_get(struct process_codes *codes, struct process *process);

#endif
