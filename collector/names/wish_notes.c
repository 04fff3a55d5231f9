/* SPDX-License-Identifier: Apache-2.0 */
/* Every batch of every board lists its modules. For nearly all of them the answer is that of ten
   seconds ago: named well enough, rejected, or requested and not arrived yet. All three are cached
   here, so that the database is queried for a pair once, and then after a change.

   An entry takes 40 bytes. It stores two 64-bit hashes of the pair, with secret seeds, not its
   text, since a large fleet has a quarter of a million pairs. (Two pairs with the same hashes could
   suppress the request for a file for an hour.)

   Entries are in sets of eight. A full set doubles the table, which divides every set in two, until
   there is room for WISH_NOTES_MAX entries. Then the entry of the set that expires first is
   evicted. */
#include "wish_notes.h"

#include "common/table.h"

#include <stdlib.h>
#include <sys/random.h>

enum { WAYS = 8, SETS_FIRST = 128, SETS_MAX = WISH_NOTES_MAX / WAYS };

struct key {
  uint64_t words[2]; /* never both 0 */
};

struct cell {
  struct key key;
  struct wish_note note;
};

struct wish_notes {
  uint64_t seeds[2];
  uint32_t sets; /* power of two */
  struct cell *cells;
};

struct wish_notes *wish_notes_new(void) {
  struct wish_notes *notes = calloc(1, sizeof *notes);
  if (notes == NULL) return NULL;
  notes->sets = SETS_FIRST;
  notes->cells = calloc((size_t)notes->sets * WAYS, sizeof *notes->cells);
  if (notes->cells != NULL &&
      getrandom(notes->seeds, sizeof notes->seeds, 0) == sizeof notes->seeds)
    return notes;
  wish_notes_free(notes);
  return NULL;
}

void wish_notes_free(struct wish_notes *notes) {
  if (notes == NULL) return;
  free(notes->cells);
  free(notes);
}

static struct key key_of(const struct wish_notes *notes, const char *board, struct span id) {
  struct key key;
  size_t len = strlen(board);
  for (int i = 0; i < 2; i++)
    key.words[i] = table_hash(id.data, id.len, table_hash(board, len, notes->seeds[i]));
  if (key.words[0] == 0 && key.words[1] == 0) key.words[0] = 1;
  return key;
}

static bool is_equal(const struct key *a, const struct key *b) {
  return a->words[0] == b->words[0] && a->words[1] == b->words[1];
}

static bool is_empty(const struct cell *cell) {
  return cell->key.words[0] == 0 && cell->key.words[1] == 0;
}

static struct cell *set_of(const struct wish_notes *notes, const struct key *key) {
  return &notes->cells[(key->words[0] & (notes->sets - 1)) * WAYS];
}

static struct cell *find(const struct wish_notes *notes, const struct key *key) {
  struct cell *set = set_of(notes, key);
  for (unsigned i = 0; i < WAYS; i++)
    if (is_equal(&set[i].key, key)) return &set[i];
  return NULL;
}

/* Returns an empty or, at NOW_NS, expired cell of KEY's set, or NULL. */
static struct cell *find_room(const struct wish_notes *notes, const struct key *key,
                              uint64_t now_ns) {
  struct cell *set = set_of(notes, key);
  for (unsigned i = 0; i < WAYS; i++)
    if (is_empty(&set[i]) || set[i].note.until_ns <= now_ns) return &set[i];
  return NULL;
}

static struct cell *first_over(const struct wish_notes *notes, const struct key *key) {
  struct cell *set = set_of(notes, key), *first = set;
  for (unsigned i = 1; i < WAYS; i++)
    if (set[i].note.until_ns < first->note.until_ns) first = &set[i];
  return first;
}

/* Doubles the number of sets: one more bit of the key chooses between two halves of a set, so all
   entries fit. Returns false at the maximum, or without memory. */
static bool grow(struct wish_notes *notes) {
  if (notes->sets >= SETS_MAX) return false;
  struct wish_notes larger = {.sets = 2 * notes->sets};
  larger.cells = calloc((size_t)larger.sets * WAYS, sizeof *larger.cells);
  if (larger.cells == NULL) return false;
  for (size_t i = 0; i < (size_t)notes->sets * WAYS; i++) {
    const struct cell *cell = &notes->cells[i];
    if (!is_empty(cell)) *find_room(&larger, &cell->key, 0) = *cell;
  }
  free(notes->cells);
  notes->cells = larger.cells;
  notes->sets = larger.sets;
  return true;
}

const struct wish_note *wish_notes_find(const struct wish_notes *notes, const char *board,
                                        struct span id) {
  const struct key key = key_of(notes, board, id);
  const struct cell *cell = find(notes, &key);
  return cell != NULL ? &cell->note : NULL;
}

void wish_notes_add(struct wish_notes *notes, const char *board, struct span id,
                    const struct wish_note *note, uint64_t now_ns) {
  const struct key key = key_of(notes, board, id);
  struct cell *cell = find(notes, &key);
  while (cell == NULL && (cell = find_room(notes, &key, now_ns)) == NULL)
    if (!grow(notes)) cell = first_over(notes, &key);
  *cell = (struct cell){key, *note};
}

void wish_notes_remove(struct wish_notes *notes, const char *board, struct span id) {
  const struct key key = key_of(notes, board, id);
  struct cell *cell = find(notes, &key);
  if (cell != NULL) *cell = (struct cell){0};
}
