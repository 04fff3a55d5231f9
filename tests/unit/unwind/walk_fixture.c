/* SPDX-License-Identifier: Apache-2.0 */
/* The module's own addresses differ from its load address, and its table is not the first, so code
   that forgets to translate finds nothing. */
#include "walk_fixture.h"

#include "table_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MODULE_ADDRESS = 0x30000, PAGES = 2, TABLES_BEFORE = 64 };
enum { FUNCTIONS_MAX = PAGES * UNWIND_PAGE_BYTES / WALK_FUNCTION_BYTES };

void walk_fixture_init(struct walk_fixture *f, const struct unwind_rule *rules, unsigned count) {
  struct table_row rows[FUNCTIONS_MAX];
  if (count > FUNCTIONS_MAX) abort();
  for (unsigned i = 0; i < count; i++)
    rows[i] = (struct table_row){MODULE_ADDRESS + i * WALK_FUNCTION_BYTES, (uint16_t)i};
  memset(f, 0, sizeof *f);
  f->table = table_fixture_make(&(struct table_fixture){.base = MODULE_ADDRESS,
                                                        .page_count = PAGES,
                                                        .rows = rows,
                                                        .row_count = count,
                                                        .rules = rules,
                                                        .rule_count = count});
  f->table->machine = unwind_arch.machine;
  f->words = calloc(WALK_WORDS, sizeof *f->words);
  if (f->words == NULL) abort();
  f->stack = (struct unwind_memory){.bytes = (const uint8_t *)f->words,
                                    .low = WALK_LOW,
                                    .high = WALK_LOW + WALK_WORDS * sizeof *f->words};
  f->regions[0] = (struct unwind_region){.start = WALK_CODE,
                                         .end = WALK_CODE + count * WALK_FUNCTION_BYTES,
                                         .address = MODULE_ADDRESS,
                                         .table = TABLES_BEFORE};
  f->regions[1] = (struct unwind_region){
      .start = WALK_JIT, .end = WALK_JIT + WALK_JIT_BYTES, .table = UNWIND_NO_TABLE};
  f->code = (struct unwind_code){.regions = f->regions,
                                 .count = 2,
                                 .tables = (uintptr_t)f->table - TABLES_BEFORE,
                                 .tables_bytes = TABLES_BEFORE + f->table->total_bytes};
  f->path = (struct unwind_path){.pcs = f->pcs, .room = WALK_ROOM};
}

void walk_fixture_fini(struct walk_fixture *f) {
  free(f->table);
  free(f->words);
}

uintptr_t walk_in(unsigned n) {
  return WALK_CODE + n * WALK_FUNCTION_BYTES + 16;
}

uintptr_t walk_word(unsigned n) {
  return WALK_LOW + n * sizeof(uintptr_t);
}

unsigned walk_fixture_from(struct walk_fixture *f, unsigned n, unsigned word) {
  f->at.pc = walk_in(n);
  f->at.sp = walk_word(word);
  return walk_fixture_walk(f);
}

unsigned walk_fixture_walk(struct walk_fixture *f) {
  unwind_walk(&f->at, &f->stack, &f->code, &f->path);
  return f->path.depth;
}

void walk_fixture_expect(const struct walk_fixture *f, enum unwind_end end, unsigned depth,
                         const uint64_t *pcs) {
  assert_int_equal(f->path.depth, depth);
  for (unsigned i = 0; i < depth; i++) assert_int_equal(f->pcs[i], pcs[i]);
  assert_int_equal(f->path.end, end);
}
