/* SPDX-License-Identifier: Apache-2.0 */
/* The process that reads one file and exits. */
#ifndef SYMBOL_WORKER_H
#define SYMBOL_WORKER_H

#include "common/span.h"
#include "index_depth.h"
#include "proto/limits.h"

#include <stdint.h>

enum {
  WORKER_MAGIC = 0x66706b36,
  WORKER_SUPPLEMENTS_MAX = 768, /* a process usually may have 1024 descriptors */
};

/* The worker writes it once to its reply pipe. The reader must not trust it. */
struct worker_reply {
  uint32_t magic;
  int32_t
      status; /* 0; -EBADMSG, -EOVERFLOW, -ENOMEM: the file is rejected; else it could not work */
  uint32_t has_symtab, has_dwarf, is_map;
  uint32_t is_supplement; /* with -EBADMSG: it has no names by itself (elf_image.h) */
  uint32_t is_from_dwarf; /* functions, files and lines come from its debug information */
  uint32_t has_names;     /* else bounds only */
  uint32_t symbol_count;
  uint32_t build_id_len; /* 0: none */
  uint8_t build_id[LIMIT_MODULE_ID_BYTES];
  uint32_t missing_units;    /* in .dwo files that are missing from the supplements */
  uint32_t alternate_id_len; /* of the supplement that it refers to; 0: none */
  uint8_t alternate_id[LIMIT_MODULE_ID_BYTES];
  char reason[LIMIT_VALUE_BYTES]; /* with status 0: its missing debug information */
};

struct worker_job {
  int elf, index; /* read; written from its start */
  enum index_depth depth;
  const int *supplements; /* files that ELF's debug information refers to, for INDEX_ALL */
  uint32_t supplement_count;
  const int *missing; /* receives names of missing .dwo files (dwarf_reader.h); or NULL */
  struct span key;    /* identifies the file in the nursery, 32 bytes; or empty */
};

/* Enters the sandbox, makes the index of JOB->elf, writes the reply to the pipe REPLY, and exits.
   Call it in a process forked for it. */
_Noreturn void worker_run(const struct worker_job *job, int reply);

#endif
