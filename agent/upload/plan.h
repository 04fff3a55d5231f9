/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the files to send.  Pure. */
#ifndef UPLOAD_PLAN_H
#define UPLOAD_PLAN_H

#include "found.h"

/* A file at the collector. */
struct known_file {
  uint8_t id[LIMIT_MODULE_ID_BYTES];
  uint32_t id_len;
  uint8_t sha256[32];
  bool has_symbols;
  bool is_seen; /* a board has used its module, or the collector does not report that */
};

enum verdict {
  VERDICT_SEND,
  VERDICT_KNOWN,   /* the collector has it, byte for byte */
  VERDICT_COVERED, /* another file of the same module has all its content */
  VERDICT_USELESS, /* a debug file without build-id: its module is unknown */
};

struct plan {
  enum verdict *verdicts; /* by index of the found file */
  uint32_t counts[VERDICT_USELESS + 1];
  uint64_t send_bytes;
  /* Files that boards run and that have no names, in the order they were found. */
  struct nameless *nameless;
  uint32_t nameless_count;
};

struct nameless {
  uint32_t file;
  bool has_symbols; /* the local files have symbols, but the collector has not got names for all
                       functions from them */
  bool has_dwarf;   /* as has_symbols; the collector may not have read them yet */
};

/* Plans for FOUND.  The collector has the COUNT files KNOWN, which are reordered.  Returns 0, with
   RET to be ended by plan_fini, or -ENOMEM. */
int plan_make(const struct found *found, struct known_file *known, size_t count, struct plan *ret);
/* Recomputes which files lack names, using the collector's list KNOWN (COUNT files) instead of
   local files.  Returns 0 or -ENOMEM. */
int plan_judge(const struct found *found, struct known_file *known, size_t count,
               struct plan *plan);
/* Whether a board has used the module of any file of FOUND.  The collector has the COUNT files
   KNOWN, which are reordered.  The files of a module are all seen, or none is. */
bool plan_is_any_seen(const struct found *found, struct known_file *known, size_t count);
void plan_fini(struct plan *plan);

#endif
