/* SPDX-License-Identifier: Apache-2.0 */
/* Each series of each window is sorted once: some hundred rows by a 32-bit key. A radix sort takes
   eleven bits a pass, lowest first. It skips a pass if all rows have the same digit; node numbers
   of one program seldom differ in the highest. (The calls of qsort took a tenth of the settling
   time.)

   Rows of one node, rare and few, are then ordered among themselves. */
#include "row_sort.h"

#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, PASSES = 3, FEW = 24 };

static double weight_of_one(const struct store_row *row) {
  return row->count > 0 ? (double)row->weight / (double)row->count : 0;
}

static bool is_before(const struct store_row *a, const struct store_row *b) {
  if (a->node != b->node) return a->node < b->node;
  return weight_of_one(a) < weight_of_one(b);
}

/* Insertion sort, for few rows or rows nearly in order. */
static void insert_each(struct store_row *rows, size_t count) {
  for (size_t i = 1; i < count; i++) {
    struct store_row row = rows[i];
    size_t at = i;
    for (; at > 0 && is_before(&row, &rows[at - 1]); at--) rows[at] = rows[at - 1];
    rows[at] = row;
  }
}

static unsigned digit_of(const struct store_row *row, unsigned pass) {
  return row->node >> (pass * DIGIT_BITS) & (DIGITS - 1);
}

/* Copies FROM to TO in the order of digit PASS. COUNTS holds the frequency of each digit. */
static void sort_pass(const struct store_row *from, struct store_row *to, size_t count,
                      unsigned pass, uint32_t counts[DIGITS]) {
  uint32_t before = 0;
  for (unsigned digit = 0; digit < DIGITS; digit++) {
    uint32_t here = counts[digit];
    counts[digit] = before;
    before += here;
  }
  for (size_t i = 0; i < count; i++) to[counts[digit_of(&from[i], pass)]++] = from[i];
}

static int by_weight(const void *left, const void *right) {
  double a = weight_of_one(left), b = weight_of_one(right);
  return a < b ? -1 : a > b;
}

static void order_equals(struct store_row *rows, size_t count) {
  for (size_t i = 0, end; i < count; i = end) {
    for (end = i + 1; end < count && rows[end].node == rows[i].node;) end++;
    if (end - i > FEW) /* a board that sends so many must not cause quadratic time */
      qsort(&rows[i], end - i, sizeof *rows, by_weight);
    else
      insert_each(&rows[i], end - i);
  }
}

void row_sort(struct store_row *rows, struct store_row *spare, size_t count) {
  uint32_t counts[PASSES][DIGITS];
  struct store_row *from = rows, *to = spare;
  if (count <= FEW) {
    insert_each(rows, count);
    return;
  }
  memset(counts, 0, sizeof counts);
  for (size_t i = 0; i < count; i++)
    for (unsigned pass = 0; pass < PASSES; pass++) counts[pass][digit_of(&rows[i], pass)]++;
  for (unsigned pass = 0; pass < PASSES; pass++) {
    if (counts[pass][digit_of(&rows[0], pass)] == count) continue;
    sort_pass(from, to, count, pass, counts[pass]);
    struct store_row *sorted = to;
    to = from;
    from = sorted;
  }
  if (from != rows) memcpy(rows, from, count * sizeof *rows);
  order_equals(rows, count);
}
