/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for boards' files: the part of the debug store that answers each batch. */
#ifndef NAMES_DEBUG_WISHES_H
#define NAMES_DEBUG_WISHES_H

#include "common/span.h"

#include <pthread.h>

struct arena;
struct ask_turns;
struct debug_store;
struct wish_notes;

enum {
  DEBUG_WISHES_MAX = 64, /* at once: they are one transaction */
  DEBUG_REFUSAL_COUNTERS = 1 << 16,
};

/* One module of a board, and the answer. */
struct debug_wish {
  struct span id;
  const char *path;
  bool is_wanted;
  uint64_t offset; /* where to continue the file */
};

/* Records that BOARD's samples use the modules of WISHES, at most DEBUG_WISHES_MAX, and sets for
   each whether to request its file from that board. NEEDS_CODE: samples are pairs of PC and link
   register. Then a file is also wanted while no file has the module's code and BOARD has sent none,
   however good the names. The answer repeats until pieces arrive: the caller must remember the
   requests of its connection. Any thread. */
void debug_wishes_ask(struct debug_store *store, const char *board, bool needs_code,
                      struct debug_wish *wishes, uint32_t count);

/* Finds modules of BOARD's earlier batches that still have no names, the last used first: for a
   board that may send no further batch. IS_NEW: the board has just connected; else the check runs
   at most every few seconds. Writes at most DEBUG_WISHES_MAX wanted ones, their strings in ARENA,
   to WISHES. Returns their number. Does not count as a use of a module. Any thread. */
uint32_t debug_wishes_ask_again(struct debug_store *store, const char *board, bool is_new,
                                struct arena *arena, struct debug_wish wishes[DEBUG_WISHES_MAX]);

/* State owned by the debug store: cached answers and their lock. */
struct debug_wishes {
  pthread_mutex_t lock; /* never held while a file is received */
  struct wish_notes *named, *coded;
  struct ask_turns *turns; /* with the store locked */
  /* How often a board had no file for a module. Board and module are hashed to a shared counter. */
  uint8_t refusals[DEBUG_REFUSAL_COUNTERS];
};

int debug_wishes_init(struct debug_wishes *wishes);
void debug_wishes_fini(struct debug_wishes *wishes);

/* Invalidates the cached answer to BOARD about module ID. With the store locked. */
void debug_wishes_forget(struct debug_wishes *wishes, const char *board, struct span id);

/* Counts that BOARD has no file for module ID, and returns the pause before the next request. */
int64_t debug_wishes_pause_s(struct debug_wishes *wishes, const char *board, struct span id);

#endif
