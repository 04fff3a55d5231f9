/* SPDX-License-Identifier: Apache-2.0 */
/* A cache of the catalogue's rows of recent boards, so that a batch without news of its board
   needs no query. Boards that are missing here are in the file. */
#ifndef STORE_KNOWN_BOARDS_H
#define STORE_KNOWN_BOARDS_H

#include <stdint.h>

enum {
  KNOWN_BOARDS_MAX = 1 << 15,
  KNOWN_BOARD_BYTES_MAX = 1024, /* of texts: boards with more are not cached; 32 MiB in all */
  KNOWN_BOARD_TEXTS = 6,
  KNOWN_ASKED_NOT = UINT32_MAX
};

/* Its texts, as known_board_text counts them. */
enum known_text { KNOWN_NAME, KNOWN_ARCH, KNOWN_KERNEL, KNOWN_LABELS, KNOWN_SAMPLER, KNOWN_CLOCK };

/* As written to board_cpus; all zero: not looked up. */
struct known_cpus {
  uint32_t last, most;
  uint64_t changed_ms; /* when another number was written that is not the most; 0: never */
};

struct known_board {
  uint64_t id, last_seen_ms;
  struct known_cpus cpus;
  uint32_t achieved_mhz;
  uint32_t asked_mhz; /* KNOWN_ASKED_NOT: not looked up */
  const char *texts[KNOWN_BOARD_TEXTS];
};

/* All-zero is empty. */
struct known_boards {
  struct known_board **boards; /* by a hash of the name, one board each */
};

void known_boards_fini(struct known_boards *known);

/* Returns the board NAME, valid until known_boards_keep for it or known_boards_forget; or NULL. */
struct known_board *known_boards_find(const struct known_boards *known, const char *name);

/* Caches a copy of BOARD and evicts the board in its place. Without memory, or if its texts are
   too long, the place stays empty. */
void known_boards_keep(struct known_boards *known, const struct known_board *board);

/* Empties the cache, because writes of these rows may have been rolled back. */
void known_boards_forget(struct known_boards *known);

#endif
