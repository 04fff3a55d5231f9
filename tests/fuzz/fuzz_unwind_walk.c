/* SPDX-License-Identifier: Apache-2.0 */
/* A walk with untrusted registers, stack, table and regions: it ends within its limit. Every load
   lies inside the stack or the table, each of which is an exact heap allocation.

     5 registers (8 bytes each) | low (8) | flags, regions, table bytes (2 each), 0 (2) |
     regions: start, size, address (8 each); the table where bit 0 of size is set, and one at
     `address` where bit 1 is, whatever there is | table | stack */
#include "unwind/unwind_walk.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { REGIONS_MAX = 16, REGION_BYTES = 24, ROOM = 64, IS_WHOLE = 1 };

struct head {
  uint64_t pc, sp, lr, tracked[2], low;
  uint16_t flags, regions, table_bytes, zero;
};

struct rest {
  const uint8_t *data;
  size_t len;
};

static bool take(struct rest *from, void *to, size_t size) {
  if (from->len < size) return false;
  memcpy(to, from->data, size);
  from->data += size;
  from->len -= size;
  return true;
}

/* In order and disjoint, as the walk may expect of them. */
static uint32_t take_regions(struct rest *from, unsigned count, struct unwind_region *ret) {
  uint64_t raw[3], last = 0;
  uint32_t taken = 0;
  for (unsigned i = 0; i < count && taken < REGIONS_MAX && take(from, raw, sizeof raw); i++) {
    if (raw[0] < last || raw[1] == 0 || raw[0] + raw[1] < raw[0]) continue;
    last = raw[0] + raw[1];
    ret[taken++] = (struct unwind_region){.start = raw[0],
                                          .end = last,
                                          .address = raw[2],
                                          .table = raw[1] & 1   ? 0
                                                   : raw[1] & 2 ? raw[2]
                                                                : UNWIND_NO_TABLE};
  }
  return taken;
}

static void *copy(const uint8_t *data, size_t len) {
  void *made = malloc(len > 0 ? len : 1);
  if (made == NULL) abort();
  if (len > 0) memcpy(made, data, len);
  return made;
}

/* One walk over STACK, of BYTES bytes. */
static void walk(const struct head *head, const struct unwind_code *code, const uint8_t *stack,
                 size_t bytes) {
  uint64_t pcs[ROOM];
  uintptr_t low = (uintptr_t)head->low;
  if (low > UINTPTR_MAX - bytes) low = 0;
  struct unwind_memory memory = {
      .bytes = stack, .low = low, .high = low + bytes, .is_whole = head->flags & IS_WHOLE};
  struct unwind_registers at = {
      .pc = (uintptr_t)head->pc,
      .sp = (uintptr_t)head->sp,
      .lr = (uintptr_t)head->lr,
      .tracked = {(uintptr_t)head->tracked[0], (uintptr_t)head->tracked[1]}};
  struct unwind_path path = {.pcs = pcs, .room = ROOM};
  unwind_walk(&at, &memory, code, &path);
  if (path.depth < 1 || path.depth > ROOM || path.end >= UNWIND_ENDS) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct rest rest = {data, len};
  struct head head;
  if (!take(&rest, &head, sizeof head)) return 0;
  unsigned count = head.regions % REGIONS_MAX;
  size_t before = count * REGION_BYTES + (size_t)head.table_bytes;
  if (rest.len < before) return 0;
  struct unwind_table *table = copy(rest.data + count * REGION_BYTES, head.table_bytes);
  uint8_t *stack = copy(rest.data + before, rest.len - before);
  struct unwind_region regions[REGIONS_MAX];
  if (head.table_bytes >= sizeof *table) table->machine = unwind_arch.machine;
  struct unwind_code code = {
      .regions = regions, .tables = (uintptr_t)table, .tables_bytes = head.table_bytes};
  size_t stack_bytes = rest.len - before;
  code.count = take_regions(&rest, count, regions);
  walk(&head, &code, stack, stack_bytes);
  free(table);
  free(stack);
  return 0;
}
