/* SPDX-License-Identifier: Apache-2.0 */
/* For each (board, module) pair what was last answered when its debug file might have been asked
   for.  Bounded; may forget.  One thread at a time. */
#ifndef NAMES_WISH_NOTES_H
#define NAMES_WISH_NOTES_H

#include "common/span.h"

struct wish_notes;

enum { WISH_NOTES_MAX = 1 << 19 }; /* 20 MiB; half full with 10 000 boards of 25 modules each */

struct wish_note {
  uint64_t until_ns;   /* what the note says holds until then... */
  uint64_t generation; /* ...and while this is the module's */
  bool is_wanted;      /* all of it: of an upload that has begun there is no note */
};

struct wish_notes *wish_notes_new(void); /* or NULL */
void wish_notes_free(struct wish_notes *notes);

/* Returns the note of the pair, valid until the next change, or NULL. */
const struct wish_note *wish_notes_find(const struct wish_notes *notes, const char *board,
                                        struct span id);

/* Adds or replaces a note; NOW_NS tells which others are over.  Where there is no room, the one of
   its neighbours that would be over first is forgotten. */
void wish_notes_add(struct wish_notes *notes, const char *board, struct span id,
                    const struct wish_note *note, uint64_t now_ns);

void wish_notes_remove(struct wish_notes *notes, const char *board, struct span id);

#endif
