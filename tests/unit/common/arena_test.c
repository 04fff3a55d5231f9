/* SPDX-License-Identifier: Apache-2.0 */
#include "common/arena.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void every_piece_is_zeroed_aligned_and_its_own(void **state) {
  (void)state;
  struct arena arena;
  arena_init(&arena, 1 << 20);
  uint8_t *pieces[200];
  for (unsigned i = 0; i < 200; i++) {
    size_t len = i * 7 % 300;
    pieces[i] = arena_alloc(&arena, len);
    assert_non_null(pieces[i]);
    assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
    for (size_t j = 0; j < len; j++) assert_int_equal(pieces[i][j], 0);
    memset(pieces[i], (int)i, len);
  }
  for (unsigned i = 0; i < 200; i++)
    for (size_t j = 0; j < i * 7 % 300; j++) assert_int_equal(pieces[i][j], i);
  arena_fini(&arena);
}

static void the_limit_is_never_exceeded(void **state) {
  (void)state;
  const size_t limits[] = {0, 1, 31, 64, 100, 4096, 5000, 100000};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    struct arena arena;
    arena_init(&arena, limits[i]);
    size_t given = 0;
    while (arena_alloc(&arena, 48) != NULL) given += 48;
    assert_true(given <= limits[i]);
    assert_true(arena.used_bytes <= limits[i]);
    assert_true(arena_is_over(&arena, 48));
    if (limits[i] >= 4096) assert_true(given >= limits[i] / 2);
    arena_fini(&arena);
    assert_int_equal(arena.used_bytes, 0);
  }
}

static void a_large_piece_leaves_the_open_block_in_use(void **state) {
  (void)state;
  struct arena arena;
  arena_init(&arena, 1 << 20);
  uint8_t *first = arena_alloc(&arena, 16);
  assert_non_null(arena_alloc(&arena, 100000));
  uint8_t *second = arena_alloc(&arena, 16);
  assert_ptr_equal(second, first + 16);
  arena_fini(&arena);
}

static void sizes_that_overflow_are_refused(void **state) {
  (void)state;
  struct arena arena;
  arena_init(&arena, SIZE_MAX);
  assert_null(arena_alloc(&arena, SIZE_MAX));
  assert_null(arena_alloc(&arena, SIZE_MAX - 8));
  assert_null(arena_array(&arena, SIZE_MAX / 2, 3));
  assert_null(arena_string(&arena, "x", SIZE_MAX));
  assert_true(arena_is_over(&arena, SIZE_MAX));
  assert_false(arena_is_over(&arena, 1000));
  assert_non_null(arena_array(&arena, 0, 0));
  assert_non_null(arena_array(&arena, 10, 10));
  arena_fini(&arena);
}

static void a_string_is_copied_with_its_end(void **state) {
  (void)state;
  struct arena arena;
  arena_init(&arena, 1 << 10);
  const char text[] = {'a', 'b', 'c', 'd'};
  assert_string_equal(arena_string(&arena, text, 3), "abc");
  assert_string_equal(arena_string(&arena, NULL, 0), "");
  arena_fini(&arena);
}

static void an_arena_can_be_used_again_after_its_end(void **state) {
  (void)state;
  struct arena arena;
  arena_init(&arena, 256);
  while (arena_alloc(&arena, 16) != NULL) continue;
  arena_fini(&arena);
  assert_non_null(arena_alloc(&arena, 16));
  arena_fini(&arena);
}

static void what_is_cleared_is_zeroed_within_the_limit_and_not_made_again(void **state) {
  (void)state;
  struct arena arena;
  arena_init(&arena, 200000);
  arena_clear(&arena);
  assert_int_equal(arena.used_bytes, 0);
  for (unsigned round = 0; round < 50; round++) {
    size_t kept_bytes = arena.used_bytes;
    for (unsigned i = 0; i < 90; i++) {
      uint8_t *piece = arena_alloc(&arena, 1000);
      assert_non_null(piece);
      for (size_t j = 0; j < 1000; j++) assert_int_equal(piece[j], 0);
      memset(piece, 0xff, 1000);
    }
    assert_true(arena.used_bytes > kept_bytes && arena.used_bytes <= 200000);
    arena_clear(&arena);
    assert_true(arena.used_bytes > 32000 && arena.used_bytes < 90000);
  }
  arena_fini(&arena);
  arena_init(&arena, 1 << 20);
  assert_non_null(arena_alloc(&arena, 500000));
  arena_clear(&arena); /* a very large block is freed */
  assert_int_equal(arena.used_bytes, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_piece_is_zeroed_aligned_and_its_own),
      cmocka_unit_test(the_limit_is_never_exceeded),
      cmocka_unit_test(a_large_piece_leaves_the_open_block_in_use),
      cmocka_unit_test(sizes_that_overflow_are_refused),
      cmocka_unit_test(a_string_is_copied_with_its_end),
      cmocka_unit_test(what_is_cleared_is_zeroed_within_the_limit_and_not_made_again),
      cmocka_unit_test(an_arena_can_be_used_again_after_its_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
