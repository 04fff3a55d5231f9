/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of tables: entries stay, whichever process dies, and never exceed the limit. */
#include "targets/table_share.h"

#include "unwind/unwind_arch.h"
#include "unwind/unwind_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { TABLE_BYTES = 64 + 8 + 4 + 4 + 16 }; /* header, one page, one row, padding, one rule */

static struct table_memory memory;
static struct table_share share;

static int setup(void **state) {
  (void)state;
  if (table_memory_open(&memory) != 0) return -1;
  table_share_open(&share, &memory);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  table_share_close(&share);
  table_memory_close(&memory);
  return 0;
}

/* A table of BYTES at least, which the caller frees. */
static struct unwind_table *make(uint32_t bytes) {
  uint32_t rows = bytes > TABLE_BYTES ? (bytes - TABLE_BYTES) / 4 + 1 : 1;
  uint32_t rules_at = 64 + 8 + rows * 4;
  struct unwind_table *table = calloc(1, rules_at + 16);
  *table = (struct unwind_table){.magic = UNWIND_TABLE_MAGIC,
                                 .version = UNWIND_TABLE_VERSION,
                                 .machine = unwind_arch.machine,
                                 .page_count = 1,
                                 .row_count = rows,
                                 .rule_count = 1,
                                 .rules_at = rules_at,
                                 .total_bytes = rules_at + 16};
  assert_int_equal(unwind_table_check(table, table->total_bytes, unwind_arch.machine), 0);
  return table;
}

static uint64_t place_as(bool is_needed, uint32_t uid, const char *id, uint32_t bytes) {
  struct unwind_table *table = make(bytes);
  struct table_share_request request = {span_of_string(id), uid, is_needed};
  uint64_t at = table_share_place(&share, &request, table);
  if (at != UNWIND_NO_TABLE) assert_memory_equal(memory.base + at, table, table->total_bytes);
  free(table);
  return at;
}

static uint64_t place_of(uint32_t uid, const char *id, uint32_t bytes) {
  return place_as(true, uid, id, bytes);
}

static uint64_t place(const char *id, uint32_t bytes) {
  return place_of(0, id, bytes);
}

static void a_module_has_one_place(void **state) {
  (void)state;
  uint64_t first = place("libc", TABLE_BYTES), other = place("libm", TABLE_BYTES);
  assert_int_not_equal(first, UNWIND_NO_TABLE);
  assert_int_not_equal(first, other);
  assert_int_equal(first % 64, 0);
  assert_int_equal(place("libc", TABLE_BYTES), first);
  assert_int_equal(share.count, 2);
}

static void a_full_memory_leaves_the_others_where_they_are(void **state) {
  (void)state;
  uint64_t first = place("libc", TABLE_BYTES);
  assert_int_equal(place("giant", (uint32_t)memory.bytes), UNWIND_NO_TABLE);
  assert_int_equal(place("giant", (uint32_t)memory.bytes), UNWIND_NO_TABLE);
  assert_int_equal(share.left_out, 1);
  assert_int_not_equal(place("libm", TABLE_BYTES), UNWIND_NO_TABLE);
  assert_int_equal(place("libc", TABLE_BYTES), first);
}

static void a_part_is_for_modules_that_walks_need(void **state) {
  (void)state;
  uint32_t tenth = (uint32_t)memory.bytes / 10;
  char name[] = "0";
  for (unsigned i = 0; i < 6; i++, name[0]++)
    assert_int_not_equal(place_as(false, 0, name, tenth), UNWIND_NO_TABLE);
  assert_int_equal(place_as(false, 0, "libc", 2 * tenth), UNWIND_NO_TABLE);
  assert_int_equal(share.left_out, 0); /* no walk misses it */
  assert_int_not_equal(place_as(true, 0, "libc", 2 * tenth), UNWIND_NO_TABLE);
  assert_int_not_equal(place_as(false, 0, "libc", 2 * tenth), UNWIND_NO_TABLE); /* it exists */
  assert_int_equal(place_as(false, 0, "libm", tenth), UNWIND_NO_TABLE);
  assert_int_not_equal(place_as(true, 0, "libm", tenth), UNWIND_NO_TABLE);
}

static void one_user_leaves_room_for_others(void **state) {
  (void)state;
  uint32_t tenth = (uint32_t)memory.bytes / 10;
  char name[] = "0";
  for (unsigned i = 0; i < 7; i++, name[0]++)
    assert_int_not_equal(place_of(1000, name, tenth), UNWIND_NO_TABLE);
  assert_int_equal(place_of(1000, "more", tenth), UNWIND_NO_TABLE);
  table_share_close(&share);
  table_share_open(&share, &memory); /* the next worker gets the owner of each */
  assert_int_equal(place_of(1000, "more", tenth), UNWIND_NO_TABLE);
  assert_int_equal(share.left_out, 1);
  assert_int_not_equal(place_of(1001, "more", tenth), UNWIND_NO_TABLE);
  assert_int_equal(share.left_out, 0);
  assert_int_not_equal(place_of(1000, "more", tenth), UNWIND_NO_TABLE); /* it exists */
  assert_int_not_equal(place_of(0, "root", tenth), UNWIND_NO_TABLE);
  assert_int_equal(share.count, 9);
}

static void one_user_leaves_modules_for_others(void **state) {
  (void)state;
  char name[16];
  for (unsigned i = 0; i < TABLE_SHARE_MODULES_MAX; i++) {
    snprintf(name, sizeof name, "%u", i);
    bool is_placed = place_of(1000, name, TABLE_BYTES) != UNWIND_NO_TABLE;
    assert_true(is_placed || i >= TABLE_SHARE_MODULES_MAX / 2);
  }
  assert_true(share.count < TABLE_SHARE_MODULES_MAX);
  assert_int_not_equal(place_of(1001, "libc", TABLE_BYTES), UNWIND_NO_TABLE);
}

static void the_next_worker_finds_all_of_it(void **state) {
  (void)state;
  uint64_t first = place("libc", TABLE_BYTES), second = place("libm", 5000);
  uint64_t used = share.used;
  table_share_close(&share);
  table_share_open(&share, &memory);
  assert_int_equal(share.used, used);
  assert_int_equal(place("libm", 5000), second);
  assert_int_equal(place("libc", TABLE_BYTES), first);
  assert_int_equal(share.used, used);
  assert_true(place("libz", TABLE_BYTES) > second);
}

static void what_was_begun_and_not_finished_is_written_over(void **state) {
  (void)state;
  place("libc", TABLE_BYTES);
  uint64_t used = share.used;
  memset(memory.base + used, 0xff, 4096);
  table_share_close(&share);
  table_share_open(&share, &memory);
  assert_int_equal(share.used, used);
  assert_int_equal(share.count, 1);
  assert_int_not_equal(place("libm", TABLE_BYTES), UNWIND_NO_TABLE);
}

static void a_spoilt_entry_is_left_alone(void **state) {
  (void)state;
  uint64_t first = place("libc", TABLE_BYTES), second = place("libm", TABLE_BYTES);
  memory.base[first] ^= 1;
  uint64_t used = share.used;
  table_share_close(&share);
  table_share_open(&share, &memory);
  assert_int_equal(share.used, used); /* a handler may be walking through it */
  assert_true(place("libm", TABLE_BYTES) > second);
}

static void without_a_memory_there_is_no_place(void **state) {
  (void)state;
  struct table_memory none = {.fd = -1, .reader = -1};
  struct table_share nobody;
  struct unwind_table *table = make(TABLE_BYTES);
  table_share_open(&nobody, &none);
  struct table_share_request request = {span_of_string("libc"), 0, true};
  assert_int_equal(table_share_place(&nobody, &request, table), UNWIND_NO_TABLE);
  table_share_close(&nobody);
  free(table);
}

static void its_size_is_bounded_and_its_readers_cannot_write(void **state) {
  (void)state;
  assert_in_range(memory.bytes, TABLE_MEMORY_BYTES_MIN, UNWIND_TABLES_BYTES_MAX);
  assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory.reader, 0),
                   MAP_FAILED);
  void *seen = mmap(NULL, memory.bytes, PROT_READ, MAP_SHARED, memory.reader, 0);
  assert_ptr_not_equal(seen, MAP_FAILED);
  assert_int_equal(mprotect(seen, 4096, PROT_READ | PROT_WRITE), -1);
  assert_int_equal(ftruncate(memory.fd, 0), -1);
  munmap(seen, memory.bytes);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(a_module_has_one_place),
      CLAIM(a_full_memory_leaves_the_others_where_they_are),
      CLAIM(a_part_is_for_modules_that_walks_need),
      CLAIM(one_user_leaves_room_for_others),
      CLAIM(one_user_leaves_modules_for_others),
      CLAIM(the_next_worker_finds_all_of_it),
      CLAIM(what_was_begun_and_not_finished_is_written_over),
      CLAIM(a_spoilt_entry_is_left_alone),
      CLAIM(without_a_memory_there_is_no_place),
      CLAIM(its_size_is_bounded_and_its_readers_cannot_write),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
