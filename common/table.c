/* SPDX-License-Identifier: Apache-2.0 */
/* Linear probing over 16-byte cells. The table stores only 64-bit keys and the caller's 32-bit
   indices. The entries themselves stay in the caller's array, so one table serves stacks, modules
   and threads without callbacks or copies.

   Keys are mixed before use, so that plain numbers (thread ids, addresses) spread as well as
   hashes. Equal keys are in one probe run: table_find yields the first, table_next the others, and
   the caller compares the entries. Entries are never removed one by one; a window that closes
   clears its table. The hash is not keyed: do not add keys that an untrusted peer can choose to
   collide. */
#include "table.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_FIRST_CELLS = 64 };

/* The largest power of two below TABLE_NONE: a cursor must never reach it. */
#define TABLE_LARGEST_CELLS (UINT32_C(1) << 31)

struct table_cell {
  uint64_t key;
  uint32_t index;
  uint32_t is_used;
};

/* A finalizer: every input bit reaches every output bit (two rounds of shift and odd multiply). */
static uint64_t mix(uint64_t bits) {
  bits = (bits ^ (bits >> 32)) * UINT64_C(0xd6e8feb86659fd93);
  bits = (bits ^ (bits >> 32)) * UINT64_C(0xd6e8feb86659fd93);
  return bits ^ (bits >> 32);
}

static uint32_t first_cell(const struct table *table, uint64_t key) {
  return (uint32_t)mix(key) & (table->cap - 1);
}

/* The load stays below 3/4, so a probe always ends at an unused cell. */
static uint32_t probe(const struct table *table, uint64_t key, uint32_t at, uint32_t *ret_cursor) {
  while (table->cells[at].is_used) {
    if (table->cells[at].key == key) {
      *ret_cursor = at;
      return table->cells[at].index;
    }
    at = (at + 1) & (table->cap - 1);
  }
  return TABLE_NONE;
}

static void put(struct table *table, uint64_t key, uint32_t index) {
  uint32_t at = first_cell(table, key);
  while (table->cells[at].is_used) at = (at + 1) & (table->cap - 1);
  table->cells[at] = (struct table_cell){.key = key, .index = index, .is_used = 1};
}

static int grow(struct table *table) {
  if (table->cap >= TABLE_LARGEST_CELLS) return -ENOMEM;
  struct table larger = {.cap = table->cap ? table->cap * 2 : TABLE_FIRST_CELLS};
  larger.cells = calloc(larger.cap, sizeof *larger.cells);
  if (larger.cells == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < table->cap; i++)
    if (table->cells[i].is_used) put(&larger, table->cells[i].key, table->cells[i].index);
  larger.count = table->count;
  free(table->cells);
  *table = larger;
  return 0;
}

void table_fini(struct table *table) {
  free(table->cells);
  *table = (struct table){0};
}

void table_clear(struct table *table) {
  if (table->count > 0) memset(table->cells, 0, table->cap * sizeof *table->cells);
  table->count = 0;
}

uint32_t table_find(const struct table *table, uint64_t key, uint32_t *cursor) {
  *cursor = 0;
  if (table->count == 0) return TABLE_NONE;
  return probe(table, key, first_cell(table, key), cursor);
}

uint32_t table_next(const struct table *table, uint64_t key, uint32_t *cursor) {
  if (table->count == 0) return TABLE_NONE;
  return probe(table, key, (*cursor + 1) & (table->cap - 1), cursor);
}

int table_add(struct table *table, uint64_t key, uint32_t index) {
  if ((uint64_t)table->count + 1 > (uint64_t)table->cap / 4 * 3) {
    int error = grow(table);
    if (error != 0) return error;
  }
  put(table, key, index);
  table->count++;
  return 0;
}

/* Words are little-endian, so that the hash is the same on every CPU. */
static uint64_t load_word(const uint8_t *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return le64toh(word);
}

static uint64_t load_rest(const uint8_t *bytes, size_t len) {
  uint64_t word = 0;
  for (size_t i = 0; i < len; i++) word |= (uint64_t)bytes[i] << (8 * i);
  return word;
}

uint64_t table_hash(const void *data, size_t len, uint64_t seed) {
  const uint8_t *bytes = data;
  uint64_t hash = mix(seed ^ len);
  for (; len >= 8; bytes += 8, len -= 8) hash = mix(hash ^ load_word(bytes));
  if (len > 0) hash = mix(hash ^ load_rest(bytes, len) ^ ((uint64_t)len << 56));
  return hash;
}
