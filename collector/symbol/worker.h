/* SPDX-License-Identifier: Apache-2.0 */
/* The process that reads one file and is gone. */
#ifndef SYMBOL_WORKER_H
#define SYMBOL_WORKER_H

#include "common/span.h"
#include "index_depth.h"
#include "proto/limits.h"

#include <stdint.h>

enum {
  WORKER_MAGIC = 0x66706b36,
  WORKER_SUPPLEMENTS_MAX = 768, /* a process has 1024 descriptors as a rule */
};

/* What it writes to its reply pipe, once.  Its reader trusts none of it. */
struct worker_reply {
  uint32_t magic;
  int32_t
      status; /* 0; -EBADMSG, -EOVERFLOW, -ENOMEM: the file is refused; else it could not work */
  uint32_t has_symtab, has_dwarf, is_map;
  uint32_t is_supplement; /* with -EBADMSG: it names nothing by itself (elf_image.h) */
  uint32_t is_from_dwarf; /* functions, files and lines come from its debug information */
  uint32_t has_names;     /* else bounds only */
  uint32_t symbol_count;
  uint32_t build_id_len; /* 0: none */
  uint8_t build_id[LIMIT_MODULE_ID_BYTES];
  uint32_t missing_units;    /* are in .dwo files that are not among the supplements */
  uint32_t alternate_id_len; /* of the supplement that it refers to; 0: none */
  uint8_t alternate_id[LIMIT_MODULE_ID_BYTES];
  char reason[LIMIT_VALUE_BYTES]; /* with status 0: what of its debug information is missing */
};

struct worker_job {
  int elf, index; /* read; written from its start */
  enum index_depth depth;
  const int *supplements; /* files that ELF's debug information refers to, for INDEX_ALL */
  uint32_t supplement_count;
  const int *missing; /* takes names of .dwo files that are not among them (dwarf_reader.h); NULL */
  struct span key;    /* by which the nursery knows the file again, 32 bytes; or none */
};

/* Enters the sandbox, makes the index of JOB->elf, replies on REPLY, a pipe, ends the process. Call
   in a process forked for it. */
_Noreturn void worker_run(const struct worker_job *job, int reply);

#endif
