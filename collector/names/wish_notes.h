/* SPDX-License-Identifier: Apache-2.0 */
/* Caches the last answer for each (board, module) pair about its debug file. Bounded; may evict.
   One thread at a time. */
#ifndef NAMES_WISH_NOTES_H
#define NAMES_WISH_NOTES_H

#include "common/span.h"

struct wish_notes;

enum { WISH_NOTES_MAX = 1 << 19 }; /* 20 MiB; half full with 10 000 boards of 25 modules each */

struct wish_note {
  uint64_t until_ns;   /* valid until then... */
  uint64_t generation; /* ...and while the module has this generation */
  bool is_wanted;      /* the whole file: a partial upload has no entry */
};

struct wish_notes *wish_notes_new(void); /* or NULL */
void wish_notes_free(struct wish_notes *notes);

/* Returns the entry of the pair, valid until the next change, or NULL. */
const struct wish_note *wish_notes_find(const struct wish_notes *notes, const char *board,
                                        struct span id);

/* Adds or replaces an entry. Entries expired at NOW_NS are reused; without room, the entry of the
   set that expires first is evicted. */
void wish_notes_add(struct wish_notes *notes, const char *board, struct span id,
                    const struct wish_note *note, uint64_t now_ns);

void wish_notes_remove(struct wish_notes *notes, const char *board, struct span id);

#endif
