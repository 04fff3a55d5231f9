/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger of one run, for deduplication: a high-water mark and its gaps, stored as the ranges
   between the gaps.

     seqs seen     1 2 3 4 5 . . 8 9
     ranges        1-5, 8-9
     bytes         1 4  2 1            first, length - 1, then gap, length - 1, ...

   A board sends in order, and a run normally is one range, so the blob takes two bytes. A spool
   that overflows leaves one gap each time. A board that invents gaps harms only its own data. Above
   the limit the oldest gap is closed, and batches that would fill it are rejected as duplicates
   (counted, and shown as pending in that board's books). */
#include "ledger.h"

#include "common/buf.h"
#include "proto/varint.h"

#include <errno.h>

/* Returns the index of the first range that ends at or after SEQ, or count. */
static uint32_t lower_bound(const struct ledger *ledger, uint64_t seq) {
  uint32_t low = 0, high = ledger->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (ledger->ranges[middle].last < seq)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

bool ledger_has(const struct ledger *ledger, uint64_t seq) {
  uint32_t at = lower_bound(ledger, seq);
  return at < ledger->count && ledger->ranges[at].first <= seq;
}

static void remove_at(struct ledger *ledger, uint32_t at) {
  memmove(&ledger->ranges[at], &ledger->ranges[at + 1],
          (ledger->count - at - 1) * sizeof ledger->ranges[0]);
  ledger->count--;
}

static void close_oldest_gap(struct ledger *ledger) {
  ledger->ranges[0].last = ledger->ranges[1].last;
  remove_at(ledger, 1);
}

static void insert_at(struct ledger *ledger, uint32_t at, uint64_t seq) {
  memmove(&ledger->ranges[at + 1], &ledger->ranges[at],
          (ledger->count - at) * sizeof ledger->ranges[0]);
  ledger->ranges[at] = (struct ledger_range){seq, seq};
  ledger->count++;
}

bool ledger_add(struct ledger *ledger, uint64_t seq) {
  bool is_whole = true;
  if (ledger_has(ledger, seq)) return true;
  uint32_t at = lower_bound(ledger, seq);
  bool joins_left = at > 0 && ledger->ranges[at - 1].last + 1 == seq;
  bool joins_right = at < ledger->count && ledger->ranges[at].first - 1 == seq;
  if (joins_left && joins_right) {
    ledger->ranges[at - 1].last = ledger->ranges[at].last;
    remove_at(ledger, at);
  } else if (joins_left) {
    ledger->ranges[at - 1].last = seq;
  } else if (joins_right) {
    ledger->ranges[at].first = seq;
  } else {
    if (ledger->count == LEDGER_RANGES_MAX) {
      close_oldest_gap(ledger);
      is_whole = false;
      if (ledger_has(ledger, seq)) return false;
      at = lower_bound(ledger, seq);
    }
    insert_at(ledger, at, seq);
  }
  return is_whole;
}

/* Appends RANGE to RET. Its first must not be below the first of RET's last range. */
static void append(struct ledger *ret, const struct ledger_range *range) {
  struct ledger_range *last = ret->count > 0 ? &ret->ranges[ret->count - 1] : NULL;
  if (last != NULL && (range->first <= last->last || range->first - 1 == last->last)) {
    if (range->last > last->last) last->last = range->last;
    return;
  }
  if (ret->count == LEDGER_RANGES_MAX) close_oldest_gap(ret);
  ret->ranges[ret->count++] = *range;
}

void ledger_merge(struct ledger *ledger, const struct ledger *more) {
  struct ledger merged = {0};
  for (uint32_t a = 0, b = 0; a < ledger->count || b < more->count;) {
    bool is_ours =
        b == more->count || (a < ledger->count && ledger->ranges[a].first <= more->ranges[b].first);
    append(&merged, is_ours ? &ledger->ranges[a++] : &more->ranges[b++]);
  }
  *ledger = merged;
}

uint64_t ledger_size(const struct ledger *ledger) {
  uint64_t size = 0;
  for (uint32_t i = 0; i < ledger->count; i++)
    size += ledger->ranges[i].last - ledger->ranges[i].first + 1;
  return size;
}

void ledger_encode(const struct ledger *ledger, struct buf *ret) {
  uint64_t next = 0;
  for (uint32_t i = 0; i < ledger->count; i++) {
    const struct ledger_range *range = &ledger->ranges[i];
    varint_encode(ret, range->first - next);
    varint_encode(ret, range->last - range->first);
    next = range->last + 1;
  }
}

int ledger_decode(struct span bytes, struct ledger *ret) {
  struct ledger ledger = {0};
  uint64_t next = 0;
  while (bytes.len > 0) {
    uint64_t gap = 0, more = 0;
    if (ledger.count == LEDGER_RANGES_MAX) return -EBADMSG;
    if (varint_decode(&bytes, &gap) != 0 || varint_decode(&bytes, &more) != 0) return -EBADMSG;
    uint64_t first = next + gap, last = first + more;
    bool is_ordered = ledger.count == 0 || (gap > 0 && next > 0);
    if (!is_ordered || first < next || last < first) return -EBADMSG;
    ledger.ranges[ledger.count++] = (struct ledger_range){first, last};
    next = last + 1;
  }
  *ret = ledger;
  return 0;
}
