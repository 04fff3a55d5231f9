/* SPDX-License-Identifier: Apache-2.0 */
/* What boards are asked for: the half of the debug store that answers each batch. */
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

/* One module of a board, and what comes of it. */
struct debug_wish {
  struct span id;
  const char *path;
  bool is_wanted;
  uint64_t offset; /* of the file, where to go on from */
};

/* Notes that BOARD's samples use the modules of WISHES, at most DEBUG_WISHES_MAX, and says of each
   whether its file should be asked from that board.  With NEEDS_CODE, where samples are pairs of PC
   and link register, a file is wanted, too, while none has the module's code and BOARD has sent
   none, however well it is named.  Answers the same again until pieces come: who asks remembers
   what it has asked for on its connection.  Any thread. */
void debug_wishes_ask(struct debug_store *store, const char *board, bool needs_code,
                      struct debug_wish *wishes, uint32_t count);

/* Asks for modules of BOARD's earlier batches that still have no names, the last used first: for a
   board of which no batch may come.  IS_NEW: the board has just connected; else this looks at most
   every few seconds.  Writes at most DEBUG_WISHES_MAX wanted ones, their strings in ARENA, to
   WISHES.  Returns their number.  Does not count as a use of a module.  Any thread. */
uint32_t debug_wishes_ask_again(struct debug_store *store, const char *board, bool is_new,
                                struct arena *arena, struct debug_wish wishes[DEBUG_WISHES_MAX]);

/* The debug store's own: what was answered, and under which lock. */
struct debug_wishes {
  pthread_mutex_t lock; /* nobody waits for it while a file is taken */
  struct wish_notes *named, *coded;
  struct ask_turns *turns; /* with the store's turn */
  /* How often a board had no file for a module; a pair shares its counter with others by hash. */
  uint8_t refusals[DEBUG_REFUSAL_COUNTERS];
};

int debug_wishes_init(struct debug_wishes *wishes);
void debug_wishes_fini(struct debug_wishes *wishes);

/* What was answered to BOARD about module ID holds no longer.  With the store's turn. */
void debug_wishes_forget(struct debug_wishes *wishes, const char *board, struct span id);

/* BOARD has no file for module ID.  Counts that, and returns how long it is not asked again. */
int64_t debug_wishes_pause_s(struct debug_wishes *wishes, const char *board, struct span id);

#endif
