/* SPDX-License-Identifier: Apache-2.0 */
/* Each hash value has one entry, and the last board takes it. Two boards with the same entry read
   the file in turn, as all boards would without the cache. The entries of a small fleet take few
   pages of memory. */
#include "known_boards.h"

#include "common/table.h"

#include <stdlib.h>
#include <string.h>

static size_t place_of(const char *name) {
  return table_hash(name, strlen(name), 0) % KNOWN_BOARDS_MAX;
}

void known_boards_forget(struct known_boards *known) {
  for (size_t i = 0; known->boards != NULL && i < KNOWN_BOARDS_MAX; i++) free(known->boards[i]);
  free(known->boards);
  known->boards = NULL;
}

void known_boards_fini(struct known_boards *known) {
  known_boards_forget(known);
}

struct known_board *known_boards_find(const struct known_boards *known, const char *name) {
  struct known_board *board = known->boards != NULL ? known->boards[place_of(name)] : NULL;
  return board != NULL && strcmp(board->texts[KNOWN_NAME], name) == 0 ? board : NULL;
}

static struct known_board *copy_of(const struct known_board *board) {
  size_t len = 0;
  for (int i = 0; i < KNOWN_BOARD_TEXTS; i++) len += strlen(board->texts[i]) + 1;
  struct known_board *copy = len <= KNOWN_BOARD_BYTES_MAX ? malloc(sizeof *copy + len) : NULL;
  if (copy == NULL) return NULL;
  *copy = *board;
  char *room = (char *)(copy + 1);
  for (int i = 0; i < KNOWN_BOARD_TEXTS; i++) {
    size_t bytes = strlen(board->texts[i]) + 1;
    copy->texts[i] = memcpy(room, board->texts[i], bytes);
    room += bytes;
  }
  return copy;
}

void known_boards_keep(struct known_boards *known, const struct known_board *board) {
  if (known->boards == NULL) known->boards = calloc(KNOWN_BOARDS_MAX, sizeof *known->boards);
  if (known->boards == NULL) return;
  struct known_board **place = &known->boards[place_of(board->texts[KNOWN_NAME])];
  struct known_board *copy = copy_of(board); /* first: BOARD may be the old entry */
  free(*place);
  *place = copy;
}
