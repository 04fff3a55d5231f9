/* SPDX-License-Identifier: Apache-2.0 */
/* From what was found to what is sent.  Pure. */
#ifndef UPLOAD_PLAN_H
#define UPLOAD_PLAN_H

#include "found.h"

/* One file that the collector has. */
struct known_file {
  uint8_t id[LIMIT_MODULE_ID_BYTES];
  uint32_t id_len;
  uint8_t sha256[32];
  bool has_symbols;
  bool is_seen; /* a board has used what it names, or the collector does not say */
};

enum verdict {
  VERDICT_SEND,
  VERDICT_KNOWN,   /* the collector has it, byte for byte */
  VERDICT_COVERED, /* another file of the same module has all that it has */
  VERDICT_USELESS, /* a debug file without build-id: nobody can say whose it is */
};

struct plan {
  enum verdict *verdicts; /* of each file that was found */
  uint32_t counts[VERDICT_USELESS + 1];
  uint64_t send_bytes;
  /* Files that boards run and that nothing names, in the order they were found. */
  struct nameless *nameless;
  uint32_t nameless_count;
};

struct nameless {
  uint32_t file;
  bool has_symbols; /* here, but the collector made no names of all functions of them */
  bool has_dwarf;   /* the same; it may not have read them yet */
};

/* Plans for FOUND, where the collector has the COUNT files KNOWN, which are put in another order.
   Returns 0, with RET to be ended by plan_fini, or -ENOMEM. */
int plan_make(const struct found *found, struct known_file *known, size_t count, struct plan *ret);
/* Finds out anew what is nameless, now by what the collector, which has the COUNT files KNOWN, says
   of them, and no more by what there seems to be here.  Returns 0 or -ENOMEM. */
int plan_judge(const struct found *found, struct known_file *known, size_t count,
               struct plan *plan);
/* Whether a board has used the module of any file of FOUND, where the collector has the COUNT files
   KNOWN, which are put in another order.  Those of one module are all seen, or none. */
bool plan_is_any_seen(const struct found *found, struct known_file *known, size_t count);
void plan_fini(struct plan *plan);

#endif
