/* SPDX-License-Identifier: Apache-2.0 */
/* An open-addressing hash from a 64-bit key to a 32-bit index into the caller's array. Keys may be
   hashes: the caller compares the entries and requests the next candidate on a collision. */
#ifndef COMMON_TABLE_H
#define COMMON_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum { TABLE_NONE = UINT32_MAX };

struct table_cell;

/* All-zero is a valid empty table. */
struct table {
  struct table_cell *cells;
  uint32_t count;
  uint32_t cap; /* power of two, or 0 */
};

void table_fini(struct table *table);
void table_clear(struct table *table);

/* Returns the index of the first entry with KEY, or TABLE_NONE. *CURSOR (any value at first call is
   overwritten) lets table_next continue from there. */
uint32_t table_find(const struct table *table, uint64_t key, uint32_t *cursor);
uint32_t table_next(const struct table *table, uint64_t key, uint32_t *cursor);

/* Adds KEY -> INDEX; equal keys may already exist. Returns 0 or -ENOMEM. */
int table_add(struct table *table, uint64_t key, uint32_t index);

/* Mixes LEN bytes into a 64-bit hash (not for untrusted keys that may be chosen to collide: those
   need a keyed hash). */
uint64_t table_hash(const void *data, size_t len, uint64_t seed);

#endif
