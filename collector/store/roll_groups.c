/* SPDX-License-Identifier: Apache-2.0 */
/* The hours of a thousand boards arrive one after the other, and each would read, extend and
   rewrite its group's block. So rows are buffered in order of arrival, up to ROWS_MAX.

   Hash and number of groups are the same as for the intervals of answers (view/groups), which use
   these groups as sampling units. */
#include "roll_groups.h"

#include "common/array.h"
#include "label_text.h"
#include "tier_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
  ROWS_MAX = 1 << 20,    /* 24 MiB */
  DAY_PERCENT_LEFT = 75, /* share of the series that merging may leave */
  HOUR_PERCENT_LEFT = 35,
};

/* Buffered rows for one block. */
struct roll_sum {
  struct tier_slot slot; /* its labels are owned here */
  char *labels;
  struct store_row *rows;
  size_t count, room;
};

int roll_group_of(const char *text, struct roll_group *ret) {
  struct label labels[STORE_LABELS_MAX];
  uint32_t count = 0, kept = 0;
  const char *board = "";
  char *copy = strdup(text);
  if (copy == NULL) return -ENOMEM;
  buf_clear(&ret->labels);
  int error = label_text_decode(copy, labels, STORE_LABELS_MAX, &count);
  for (uint32_t i = 0; i < count && error == 0; i++) {
    if (strcmp(labels[i].name, "board") == 0)
      board = labels[i].value;
    else
      labels[kept++] = labels[i];
  }
  label_text_encode(labels, error == 0 ? kept : 0, &ret->labels);
  ret->group = (uint32_t)(table_hash(board, strlen(board), 0) % STORE_GROUPS) + 1;
  if (buf_text(&ret->labels) == NULL && error == 0) error = -ENOMEM;
  free(copy);
  return error == -EBADMSG ? -EUCLEAN : error;
}

static uint64_t hash_of(const struct tier_slot *slot) {
  const uint64_t numbers[] = {slot->type, slot->group, slot->marks, slot->tier, slot->start_ms};
  return table_hash(slot->labels, strlen(slot->labels), table_hash(numbers, sizeof numbers, 0));
}

static bool is_same(const struct tier_slot *a, const struct tier_slot *b) {
  return a->type == b->type && a->group == b->group && a->marks == b->marks && a->tier == b->tier &&
         a->start_ms == b->start_ms && strcmp(a->labels, b->labels) == 0;
}

static int add_sum(struct roll_groups *groups, const struct tier_slot *slot, uint64_t hash) {
  struct roll_sum *more = array_grow(groups->sums, groups->count, &groups->room, 64, sizeof *more);
  if (more == NULL) return -ENOMEM;
  groups->sums = more;
  struct roll_sum sum = {.slot = *slot, .labels = strdup(slot->labels)};
  if (sum.labels == NULL) return -ENOMEM;
  sum.slot.labels = sum.labels;
  groups->sums[groups->count] = sum;
  return table_add(&groups->by_slot, hash, groups->count++);
}

static int append(struct roll_sum *sum, const struct store_row *rows, size_t count) {
  if (sum->count + count > sum->room) {
    size_t room = sum->room > 0 ? sum->room : 256;
    while (room < sum->count + count) room *= 2;
    struct store_row *more = reallocarray(sum->rows, room, sizeof *more);
    if (more == NULL) return -ENOMEM;
    sum->rows = more;
    sum->room = room;
  }
  memcpy(sum->rows + sum->count, rows, count * sizeof *rows);
  sum->count += count;
  return 0;
}

int roll_groups_add(struct roll_groups *groups, struct tier_file *file,
                    const struct tier_slot *slot, const struct store_row *rows, size_t count) {
  uint64_t hash = hash_of(slot);
  uint32_t cursor, at = table_find(&groups->by_slot, hash, &cursor);
  int error = 0;
  while (at != TABLE_NONE && !is_same(&groups->sums[at].slot, slot))
    at = table_next(&groups->by_slot, hash, &cursor);
  if (at == TABLE_NONE) {
    error = add_sum(groups, slot, hash);
    at = groups->count - 1;
  }
  if (error == 0 && count > 0) error = append(&groups->sums[at], rows, count);
  groups->row_count += count;
  if (error == 0 && groups->row_count >= ROWS_MAX) error = roll_groups_write(groups, file);
  return error;
}

static void clear(struct roll_groups *groups) {
  for (uint32_t i = 0; i < groups->count; i++) {
    free(groups->sums[i].labels);
    free(groups->sums[i].rows);
  }
  groups->count = 0;
  groups->row_count = 0;
  table_clear(&groups->by_slot);
}

int roll_groups_write(struct roll_groups *groups, struct tier_file *file) {
  int error = 0;
  for (uint32_t i = 0; i < groups->count && error == 0; i++) {
    const struct roll_sum *sum = &groups->sums[i];
    struct store_row *rows = NULL;
    size_t count = 0;
    for (size_t j = 0; j < sum->count && error == 0; j++)
      error = row_sums_add(&groups->merged, &sum->rows[j]);
    if (error == 0) error = row_sums_take(&groups->merged, &rows, &count);
    if (error == 0) error = tier_file_add(file, &sum->slot, rows, count);
  }
  clear(groups);
  return error;
}

void roll_groups_fini(struct roll_groups *groups) {
  clear(groups);
  free(groups->sums);
  table_fini(&groups->by_slot);
  row_sums_fini(&groups->merged);
  *groups = (struct roll_groups){.count = 0};
}

/* Counts a hash once. Hashes stand for their values: a collision makes the count too low by one. */
static int count_once(struct table *table, uint64_t hash, uint32_t *count) {
  uint32_t cursor;
  if (table_find(table, hash, &cursor) != TABLE_NONE) return 0;
  ++*count;
  return table_add(table, hash, 0);
}

/* Returns the hash of the board's line in the label text, or 0 if it has none. */
static uint64_t hash_of_board(const char *text) {
  const char *line = strncmp(text, "board=", 6) == 0 ? text : strstr(text, "\nboard=");
  if (line == NULL) return 0;
  if (*line == '\n') line++;
  return table_hash(line, strcspn(line, "\n"), 0);
}

int roll_census_add(struct roll_census *census, const char *text, struct roll_group *room) {
  int error = roll_group_of(text, room);
  if (error != 0) return error;
  census->series_count++;
  error = count_once(&census->boards, hash_of_board(text), &census->board_count);
  uint64_t hash = table_hash(room->labels.data, room->labels.len, room->group);
  return error != 0 ? error : count_once(&census->merged, hash, &census->merged_count);
}

bool roll_census_is_worth_it(const struct roll_census *census, enum tier tier) {
  uint64_t percent = tier == TIER_DAY ? DAY_PERCENT_LEFT : HOUR_PERCENT_LEFT;
  return census->board_count > STORE_BOARDS_APART &&
         (uint64_t)census->merged_count * 100 <= census->series_count * percent;
}

void roll_census_fini(struct roll_census *census) {
  table_fini(&census->boards);
  table_fini(&census->merged);
}
