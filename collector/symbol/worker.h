/* SPDX-License-Identifier: Apache-2.0 */
/* The process that reads one file and is gone. */
#ifndef SYMBOL_WORKER_H
#define SYMBOL_WORKER_H

#include "index_depth.h"
#include "proto/limits.h"

#include <stdint.h>

enum { WORKER_MAGIC = 0x66706b34 };

/* What it writes to its reply pipe, once.  Its reader trusts none of it. */
struct worker_reply {
  uint32_t magic;
  int32_t
      status; /* 0; -EBADMSG, -EOVERFLOW, -ENOMEM: the file is refused; else it could not work */
  uint32_t has_symtab, has_dwarf, is_map;
  uint32_t is_from_dwarf; /* functions, files and lines come from its debug information */
  uint32_t has_names;     /* else bounds only */
  uint32_t symbol_count;
  uint32_t build_id_len; /* 0: none */
  uint8_t build_id[LIMIT_MODULE_ID_BYTES];
  char reason[LIMIT_VALUE_BYTES]; /* with status 0: what of its debug information is missing */
};

struct worker_files {
  int elf, index; /* read; written from its start */
  int reply;      /* a pipe */
  enum index_depth depth;
};

/* Enters the sandbox, makes the index of FILES->elf, replies, ends the process.  Call in a process
   forked for it. */
_Noreturn void worker_run(const struct worker_files *files);

#endif
