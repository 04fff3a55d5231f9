/* SPDX-License-Identifier: Apache-2.0 */
/* A window, a few hundred rows, is sorted. The windows of an hour, a hundred thousand rows of a few
   thousand nodes, are instead summed in an array indexed by node: a tenth of the time. At the end
   only the nodes that occur are sorted; if they are many, scanning the whole array takes less time.

   If a board's rate changed, a node has rows of different weights. Each stands for a number of
   samples of one weight, and one sum of them would overstate the evidence (view/evidence). So these
   rows are collected in a list and merged by sorting. */
#include "row_sums.h"

#include "common/sums.h"
#include "row_sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
  FIRST_ROOM = 1024,
  SPARSE = 16, /* if fewer than one node of 16 has rows, sorting is faster than scanning */
};

void row_sums_fini(struct row_sums *sums) {
  free(sums->by_node);
  free(sums->nodes);
  free(sums->unlike);
  free(sums->taken);
  *sums = (struct row_sums){.node_room = 0};
}

/* Like batch_is_alike, but converts signed numbers to double, which takes one instruction; unsigned
   conversions took half of the time. Rows, or sums of rows, that do not fit a signed number stay
   separate. */
static bool is_alike(const struct store_row *a, const struct store_row *b) {
  if ((a->count | a->weight | b->count | b->weight) >> 63 == 0) {
    if (((a->count + b->count) | (a->weight + b->weight)) >> 63 != 0) return false;
    double left = (double)(int64_t)a->weight * (double)(int64_t)b->count;
    double right = (double)(int64_t)b->weight * (double)(int64_t)a->count;
    return left <= 2 * right && right <= 2 * left;
  }
  return false;
}

static int make_node(struct row_sums *sums, uint32_t node) {
  if (node < sums->node_room) return 0;
  uint32_t room = sums->node_room > 0 ? sums->node_room : FIRST_ROOM;
  while (room <= node) room = room < UINT32_MAX / 2 ? room * 2 : UINT32_MAX;
  struct store_row *more = reallocarray(sums->by_node, room, sizeof *more);
  if (more == NULL) return -ENOMEM;
  memset(more + sums->node_room, 0, (room - sums->node_room) * sizeof *more);
  sums->by_node = more;
  sums->node_room = room;
  return 0;
}

/* Makes room for one more entry of ENTRY_BYTES in *ARRAY. Returns 0 or -ENOMEM. */
static int make_room(void **array, size_t count, size_t *room, size_t entry_bytes) {
  if (count < *room) return 0;
  size_t wanted = *room > 0 ? *room * 2 : FIRST_ROOM;
  void *more = reallocarray(*array, wanted, entry_bytes);
  if (more == NULL) return -ENOMEM;
  *array = more;
  *room = wanted;
  return 0;
}

static int add_unlike(struct row_sums *sums, const struct store_row *row) {
  void *array = sums->unlike;
  int error = make_room(&array, sums->unlike_count, &sums->unlike_room, sizeof *row);
  sums->unlike = array;
  if (error == 0) sums->unlike[sums->unlike_count++] = *row;
  return error;
}

static int add_node(struct row_sums *sums, const struct store_row *row) {
  void *array = sums->nodes;
  int error = make_room(&array, sums->node_count, &sums->nodes_room, sizeof *sums->nodes);
  sums->nodes = array;
  if (error != 0) return error;
  sums->nodes[sums->node_count++] = row->node;
  if (row->node > sums->last_node) sums->last_node = row->node;
  sums->by_node[row->node] = *row;
  return 0;
}

int row_sums_add(struct row_sums *sums, const struct store_row *row) {
  if (row->count == 0 && row->weight == 0) return 0;
  int error = make_node(sums, row->node);
  if (error != 0) return error;
  struct store_row *sum = &sums->by_node[row->node];
  if (sum->count == 0 && sum->weight == 0) return add_node(sums, row);
  if (!is_alike(sum, row)) return add_unlike(sums, row);
  sum->count += row->count;
  sum->weight += row->weight;
  return 0;
}

int row_sums_add_all(struct row_sums *sums, const struct store_row *rows, size_t count) {
  int error = 0;
  for (size_t i = 0; i < count && error == 0; i++) {
    const struct store_row *row = &rows[i];
    struct store_row *sum = row->node < sums->node_room ? &sums->by_node[row->node] : NULL;
    if (sum == NULL || (sum->count == 0 && sum->weight == 0) || !is_alike(sum, row)) {
      error = row_sums_add(sums, row); /* the rare cases */
      continue;
    }
    sum->count += row->count;
    sum->weight += row->weight;
  }
  return error;
}

static int by_number(const void *left, const void *right) {
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return a < b ? -1 : a > b;
}

static void take_sparse(struct row_sums *sums) {
  if (sums->node_count > 1) qsort(sums->nodes, sums->node_count, sizeof *sums->nodes, by_number);
  for (size_t i = 0; i < sums->node_count; i++) {
    sums->taken[i] = sums->by_node[sums->nodes[i]];
    sums->by_node[sums->nodes[i]] = (struct store_row){.node = 0};
  }
}

static void take_dense(struct row_sums *sums) {
  size_t taken = 0;
  for (uint32_t i = 0; i <= sums->last_node && sums->node_count > 0; i++) {
    struct store_row *row = &sums->by_node[i];
    if (row->count == 0 && row->weight == 0) continue;
    sums->taken[taken++] = *row;
    *row = (struct store_row){.node = 0};
  }
}

int row_sums_take(struct row_sums *sums, struct store_row **ret, size_t *ret_count) {
  size_t count = sums->node_count + sums->unlike_count;
  size_t room = sums->unlike_count > 0 ? 2 * count : count; /* the second half is for sorting */
  if (room > sums->taken_room) {
    struct store_row *more = reallocarray(sums->taken, room, sizeof *more);
    if (more == NULL) return -ENOMEM;
    sums->taken = more;
    sums->taken_room = room;
  }
  if (sums->last_node / SPARSE < sums->node_count)
    take_dense(sums);
  else
    take_sparse(sums);
  if (sums->unlike_count > 0) {
    memcpy(sums->taken + sums->node_count, sums->unlike, sums->unlike_count * sizeof *sums->taken);
    count = row_sums_merge(sums->taken, sums->taken + count, count);
  }
  sums->node_count = sums->unlike_count = 0;
  sums->last_node = 0;
  *ret = sums->taken;
  *ret_count = count;
  return 0;
}

/* Returns the weight of the KEPT-th heaviest of ROWS. Sets RET_SAME to the number of rows of that
   weight among the KEPT. Selects byte by byte from the highest, in linear time for any order of
   rows. */
static uint64_t find_least(const struct store_row *rows, size_t count, size_t kept,
                           size_t *ret_same) {
  uint64_t least = 0, known = 0; /* mask of the bits of LEAST found so far */
  for (unsigned shift = 64; shift > 0;) {
    size_t counts[256] = {0};
    unsigned byte = 255;
    shift -= 8;
    for (size_t i = 0; i < count; i++)
      if (rows[i].count > 0 && (rows[i].weight & known) == least)
        counts[rows[i].weight >> shift & 255]++;
    for (; byte > 0 && kept > counts[byte]; byte--) kept -= counts[byte];
    least |= (uint64_t)byte << shift;
    known |= (uint64_t)255 << shift;
  }
  *ret_same = kept;
  return least;
}

size_t row_rest_add(struct row_rest *rest, const struct store_row *row, struct store_row *rows,
                    size_t count) {
  uint64_t each = row->weight / row->count; /* one bucket: weights within a factor of two */
  struct store_row *sum = &rest->sums[each > 0 ? 64 - __builtin_clzll(each) : 0];
  if (sum->count > 0 && sum_fits(sum->count, row->count) && sum_fits(sum->weight, row->weight)) {
    sum->count += row->count;
    sum->weight += row->weight;
    return count;
  }
  if (sum->count > 0) rows[count++] = *sum;
  *sum = (struct store_row){rest->node, row->count, row->weight};
  return count;
}

size_t row_rest_take(const struct row_rest *rest, struct store_row *rows, size_t count) {
  for (unsigned i = 0; i < ROW_SUMS_RESTS; i++)
    if (rest->sums[i].count > 0) rows[count++] = rest->sums[i];
  return count;
}

size_t row_sums_cut(struct store_row *rows, size_t count, size_t kept, uint32_t node) {
  struct row_rest rest = {.node = node};
  size_t left = 0, same = 0;
  uint64_t least = kept > 0 ? find_least(rows, count, kept, &same) : UINT64_MAX;
  for (size_t i = 0; i < count; i++) {
    struct store_row *row = &rows[i];
    bool is_same = row->weight == least && same > 0;
    if (row->count == 0 || row->weight > least || is_same) {
      if (row->count > 0 && is_same) same--;
      rows[left++] = *row;
      continue;
    }
    const struct store_row light = *row;
    left = row_rest_add(&rest, &light, rows, left);
  }
  return row_rest_take(&rest, rows, left);
}

size_t row_sums_merge(struct store_row *rows, struct store_row *spare, size_t count) {
  size_t kept = 0;
  row_sort(rows, spare, count);
  for (size_t i = 0; i < count; i++) {
    struct store_row *last = kept > 0 ? &rows[kept - 1] : NULL;
    if (last != NULL && last->node == rows[i].node && is_alike(last, &rows[i])) {
      last->count += rows[i].count;
      last->weight += rows[i].weight;
    } else {
      rows[kept++] = rows[i];
    }
  }
  return kept;
}
